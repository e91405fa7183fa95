"""``make bench ARGS=page``: the review page in Chromium: how soon it can be used, what ten minutes of updates cost."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import tempfile
import time
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import appletaste as at

from .over_http import Started
from .review_demo import BEGIN, Shop, prepared

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

DECISIONS, DAYS = 10_000, 61
#: Notes when the first case can be worked on: rows in the list, and the button to begin with.
READY = """
new MutationObserver((_, observer) => {
  if (document.querySelector("[data-testid=queue-row]") && document.querySelector("[data-testid=start]")) {
    document.documentElement.dataset.usable = performance.now();
    observer.disconnect();
  }
}).observe(document, { childList: true, subtree: true });
"""
#: A trace of tasks alone, what a task is called in it, and for how many seconds there is room.
TASKS, RUN, TRACED = "toplevel", "ThreadControllerImpl::RunTask", 60
LONG = """
window.long = [];
new PerformanceObserver((list) => window.long.push(...list.getEntries().map((one) => one.duration)))
  .observe({ type: "longtask" });
"""


@contextmanager
def service(folder: Path, rows: int):
    """Serve a shop of so many orders; give its address, a key, and the shop."""
    store = str(folder / "shop.db")
    secret, ben = prepared(folder, store, rows)
    server = Started("appletaste", "serve", "--store", store, "--port", "PORT")
    try:
        address = f"http://127.0.0.1:{server.port}"
        yield address, secret, Shop(folder, at.connect(address, key=secret), at.connect(address, key=ben))
    finally:
        server.stop()


def signed_in(browser: Browser, address: str, secret: str) -> BrowserContext:
    context = browser.new_context(base_url=address, viewport={"width": 1440, "height": 900})
    page = context.new_page()
    page.goto("/")
    page.get_by_test_id("key").fill(secret)
    page.get_by_test_id("sign-in").click()
    page.get_by_test_id("sign-out").wait_for()
    page.close()
    return context


def first_views(browser: Browser, folder: Path, loads: int) -> None:
    """Print how long it takes until the first case can be worked on, with an empty cache each time."""
    with service(folder, DECISIONS) as (address, secret, shop):
        for day in range(1, DAYS + 1):
            shop.to(BEGIN + timedelta(days=day))
        state = signed_in(browser, address, secret).storage_state()
        waits, scripts = [], 0
        for _ in range(loads):
            context = browser.new_context(
                base_url=address, viewport={"width": 1440, "height": 900}, storage_state=state
            )
            context.add_init_script(READY)
            page = context.new_page()
            page.goto("/#/stream/orders/queue")
            usable = page.locator("html[data-usable]")
            usable.wait_for()
            waits.append(float(usable.get_attribute("data-usable")))
            sizes = page.evaluate(
                "performance.getEntriesByType('resource').map((one) => [one.name, one.decodedBodySize])"
            )
            scripts = sum(size for name, size in sizes if name.endswith(".js"))
            context.close()
    print(
        f"first usable view with {DECISIONS:,} decisions: {min(waits):.0f} ms at best, "
        f"{statistics.median(waits):.0f} in the middle, {max(waits):.0f} at worst, of {loads} (at most 1,500); "
        f"{scripts / 1000:.0f} KB of script",
        flush=True,
    )


def heap(page: Page) -> int:
    """Return the bytes that the page keeps, after garbage was collected."""
    session = page.context.new_cdp_session(page)
    session.send("HeapProfiler.collectGarbage")
    used: int = session.send("Runtime.getHeapUsage")["usedSize"]
    session.detach()
    return used


def longest(trace: bytes) -> float:
    """Return the milliseconds of processor time of the longest task on the main thread of any page."""
    events = json.loads(trace)["traceEvents"]
    main = {
        (one["pid"], one["tid"])
        for one in events
        if one["name"] == "thread_name" and one["args"]["name"] == "CrRendererMain"
    }
    tasks = [one for one in events if one["name"] == RUN and (one["pid"], one["tid"]) in main]
    assert tasks, "the trace has no task in it"
    return max(one.get("tdur", 0) for one in tasks) / 1000


def live_updates(browser: Browser, folder: Path, minutes: float, day: float) -> None:
    """Print what pages keep and how long their tasks are while orders and labels arrive: the queue and the charts."""
    with service(folder, 36_600) as (address, secret, shop):
        now = BEGIN + timedelta(days=15)
        shop.to(now)
        pages = {}
        for view in ("queue", "stream"):
            page = signed_in(browser, address, secret).new_page()
            page.goto(f"/#/stream/orders/{view}")
            page.get_by_test_id(f"view-{view}").wait_for()
            page.locator("main:not([aria-busy])").wait_for()
            pages[view] = page
        began = last = time.monotonic()
        settled, traced, before, sent = False, False, {}, 0  # what a page does when it is opened is no update
        while last - began < 60 * minutes:
            pages["queue"].wait_for_timeout(500)  # lets events of the pages through
            moment = time.monotonic()
            now += timedelta(days=(moment - last) / day)
            last = moment
            coming = len(shop.coming)
            shop.to(now)
            sent += coming - len(shop.coming)
            if not traced and moment - began > 60 * minutes - TRACED:
                traced = True
                browser.start_tracing(categories=[TASKS])
            if not settled and moment - began > 30:
                settled = True
                before = {view: heap(page) for view, page in pages.items()}
                for page in pages.values():
                    page.evaluate(LONG)
        busy = longest(browser.stop_tracing())
        for view, page in pages.items():
            long = page.evaluate("window.long")
            after = heap(page)
            print(
                f"{view}: {sent:,} orders in {minutes:g} minutes, the heap grew from {before[view] / 1e6:.1f} to "
                f"{after / 1e6:.1f} MB (at most 10 more), the longest task took {max(long, default=0):.0f} ms "
                f"(at most 100; {len(long)} over 50)",
                flush=True,
            )
        load = os.getloadavg()[1]
        print(
            f"in processor time the longest task of both took {busy:.0f} ms in the last {TRACED} seconds; "
            f"the load of the machine was {load:.1f}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench page", description=__doc__)
    parser.add_argument("--loads", type=int, default=10, help="how often the first view is loaded (default 10)")
    parser.add_argument("--minutes", type=float, default=10, help="of live updates (default 10)")
    parser.add_argument("--day", type=float, default=30, help="seconds that a day of 600 orders takes (default 30)")
    parser.add_argument("--part", choices=("first", "live"), help="one of the two alone")
    args = parser.parse_args()
    from playwright.sync_api import sync_playwright  # not everybody who asks for help has it

    path = os.environ.get("APPLETASTE_CHROMIUM") or shutil.which("chromium")
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as name:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        for part in ("first", "live"):
            folder = Path(name) / part
            folder.mkdir()
            if args.part not in (None, part):
                continue
            if part == "first":
                first_views(browser, folder, args.loads)
            else:
                live_updates(browser, folder, args.minutes, args.day)
        browser.close()


if __name__ == "__main__":
    main()
