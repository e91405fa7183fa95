"""The formulas that a page displays: indented lines behind an empty line, outside code and tables."""

import re
from pathlib import Path

DOCS = Path(__file__).parent.parent.parent / "docs"


def displayed(page):
    """Return each displayed formula of a page as one line of single spaces."""
    text = re.sub(r"^```.*?^```$", "", (DOCS / page).read_text(), flags=re.S | re.M)
    blocks = re.split(r"\n\s*\n", text)
    formulas = [block for block in blocks if all(line.startswith("    ") for line in block.splitlines() if line)]
    return [" ".join(block.split()) for block in formulas if block.strip()]


def unproved(page, proofs):
    """Return the displayed formulas without a test, and the tests whose formula is not displayed any more."""
    there = displayed(page)
    return [one for one in there if one not in proofs], [one for one in proofs if one not in there]
