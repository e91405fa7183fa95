"""What every view is held against: what axe finds, whether it fits its screen, its picture for docs/review-page.md."""

from __future__ import annotations

import io
import os
from pathlib import Path

from axe_playwright_python.sync_playwright import Axe
from PIL import Image
from playwright.sync_api import expect

PICTURES = Path(__file__).parents[2] / "docs" / "pictures"
SIZES = {"desk": {"width": 1440, "height": 900}, "phone": {"width": 390, "height": 844}}
#: What must not be found, by how bad axe says a finding is.
GRAVE = ("serious", "critical")
AXE = Axe()


def settled(page):
    """Wait until the view is drawn, and nothing in it says that it is still being loaded."""
    expect(page.locator("main")).not_to_have_attribute("aria-busy", "true")
    expect(page.locator("main [aria-busy=true]")).to_have_count(0)


def findings(page):
    """Return what axe finds serious or critical: the rule, what is wrong, and the elements."""
    found = AXE.run(page).response["violations"]
    return [
        (one["id"], one["help"], [(node["html"][:160], node["failureSummary"][:200]) for node in one["nodes"][:4]])
        for one in found
        if one["impact"] in GRAVE
    ]


def overflow(page):
    """Return by how many pixels the page is wider than its screen, and what sticks out."""
    return page.evaluate(
        """() => {
          const wide = document.documentElement.clientWidth, more = document.documentElement.scrollWidth - wide;
          const out = more <= 0 ? [] : [...document.querySelectorAll("body *")]
            .filter((one) => one.getBoundingClientRect().right > wide + 1).slice(0, 5)
            .map((one) => `${one.tagName} ${one.className.baseVal ?? one.className} ${one.textContent.slice(0, 40)}`);
          return [more, out];
        }"""
    )


def picture(page, name):
    """Take the picture of a page; with APPLETASTE_PICTURES=1 docs/pictures is given the new one."""
    page.mouse.move(0, 0)
    taken = page.screenshot(animations="disabled", caret="hide")
    path = PICTURES / f"desk-{name}.png"
    if os.environ.get("APPLETASTE_PICTURES") == "1":
        PICTURES.mkdir(exist_ok=True)
        image = Image.open(io.BytesIO(taken)).convert("RGB")
        image.quantize(256, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).save(path, optimize=True)
    remedy = "APPLETASTE_PICTURES=1 make test-browser ARGS='-k test_views'"
    assert path.exists(), f"docs/pictures has no {path.name}: run {remedy}"
