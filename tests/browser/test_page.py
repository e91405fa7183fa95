"""The page as it is served: small, packed, and with a policy that lets nothing else in."""

import re

import numpy as np

import appletaste as at

from .conftest import sign_in
from .looking import settled

POLICY = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "connect-src": "'self'",
    "form-action": "'self'",
    "base-uri": "'none'",
    "frame-ancestors": "'none'",
    "require-trusted-types-for": "'script'",
}
#: Bytes of all that the page loads, packed as it is sent: script, style and the page itself.
MOST_PACKED = 250_000


def test_the_policy_is_strict(desk):
    told = desk.ask("GET", "/")
    policy = dict(part.strip().split(" ", 1) for part in told.headers["content-security-policy"].split(";") if part)
    assert POLICY.items() <= policy.items()
    assert told.headers["x-content-type-options"] == "nosniff"
    assert told.headers["referrer-policy"] in ("no-referrer", "same-origin")
    assert not re.search(rb"<script(?![^>]*\ssrc=)|\son\w+=|\sstyle=|https?://(?!www\.w3\.org)", told.body)


def test_dark_by_choice_is_dark_by_the_system(desk):
    style = re.search(rb'href="([^"]+page\.css)"', desk.ask("GET", "/").body)[1]
    sheet = desk.ask("GET", "/" + style.decode().lstrip("/")).body.decode()
    chosen = re.search(r':root\[data-theme="dark"\] \{(.*?)\}', sheet, re.S)[1]
    by_system = re.search(r':root:not\(\[data-theme="light"\]\) \{(.*?)\}', sheet, re.S)[1]
    colours = [re.findall(r"--[\w-]+: [^;]+", block) for block in (chosen, by_system)]
    assert len(colours[0]) > 20
    assert colours[0] == colours[1]


def test_the_page_is_small(desk, opened):
    page = opened(desk)
    sign_in(page, desk.secret)
    for view in ("queue", "stream", "model", "what-if", "health", "report", "second-looks", "layout"):
        page.goto(f"/#/stream/orders/{view}")
        settled(page)
    for view in ("first-use", "keys"):
        page.goto(f"/#/{view}")
        settled(page)
    sizes = dict(
        page.evaluate(
            "[...performance.getEntriesByType('resource'), ...performance.getEntriesByType('navigation')]"
            ".map((one) => [one.name, one.encodedBodySize])"
        )
    )
    files = {name: size for name, size in sizes.items() if "/v1/" not in name and not name.startswith("data:")}
    assert len([name for name in files if name.endswith(".js")]) >= 25
    assert len([name for name in files if name.endswith(".css")]) >= 3
    assert 0 < sum(files.values()) <= MOST_PACKED, files


def test_the_tables_of_a_report_fit_a_page(browser, tmp_path):
    """Twelve months in tens of millions, and the truth beside each answer: nothing has to be scrolled at 1,200 px."""
    rng = np.random.default_rng(2)
    n = 6000
    act, truth = rng.random(n) < 0.3, (rng.random(n) < 0.4).astype(int)
    known = act & (np.arange(n) < 0.9 * n)
    log = at.DecisionLog.from_columns(
        {"id": np.arange(n), "act": act, "probability": np.full(n, 0.3), "chance": np.full(n, 0.4), "truth": truth}
        | {"label": [int(y) if k else None for y, k in zip(truth, known, strict=True)]}
        | {"miss": np.full(n, 95e3), "false_alarm": np.full(n, 6e3), "hit": np.full(n, 4e3)}
        | {"time": [f"2024-{1 + 12 * k // n:02d}-{1 + k % 28:02d}T12:00:00" for k in range(n)]}
        | {"stratum": [("prepaid invoice", "bank")[k % 2] for k in range(n)]}
    )
    at.write_report(log, tmp_path, currency="EUR")
    page = browser.new_page(viewport={"width": 1200, "height": 900})
    page.goto((tmp_path / "index.html").as_uri())
    sizes = page.evaluate("[...document.querySelectorAll('.wide')].map((one) => [one.scrollWidth, one.clientWidth])")
    page.close()
    assert len(sizes) >= 5
    assert all(needed <= there for needed, there in sizes), sizes
