"""``make review-demo`` as somebody meets it: an address and a key that signs in, life on the page, and nothing left."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

from playwright.sync_api import expect

from .conftest import sign_in

ROOT = Path(__file__).parents[2]


class Address:
    """Where a page is opened that another process serves."""

    def __init__(self, url):
        self.url, self.port = url, urlsplit(url).port


def test_the_demo_is_alive(opened, tmp_path):
    words = [sys.executable, "-m", "bench.service.review_demo", "--day", "5"]
    place = {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen(words, cwd=ROOT, env=place, stdout=subprocess.PIPE, text=True) as demo:
        try:
            told = ""
            while "at_" not in told:
                line = demo.stdout.readline()
                assert line, told
                told += line
            page = opened(Address(re.search(r"http://\S+?(?=/\s)", told)[0]))
            sign_in(page, re.search(r"at_\S+", told)[0])
            assert page.get_by_test_id("stream-choice").locator("option").all_inner_texts()[:2] == ["orders", "trial"]
            expect(page.get_by_test_id("queue-row").first).to_be_visible()
            expect(page.get_by_test_id("queue-news")).to_be_visible()  # orders arrive
            page.goto("/#/stream/orders/stream")
            expect(page.get_by_test_id("tile-acted")).to_be_visible()
            page.context.close()
        finally:
            demo.send_signal(signal.SIGINT)  # as Ctrl-C does
            code = demo.wait(60)
    assert code == 0
    assert list(tmp_path.iterdir()) == []
