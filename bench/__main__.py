"""Every bench by its name: ``make bench ARGS='NAME [options]'``, which is ``python -m bench NAME [options]``."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import NamedTuple

USUAL = "speed"
ONE_THREAD = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"), "1")


class Bench(NamedTuple):
    """Where a bench is, what it measures, how long that takes on two cores, and which page has its figures."""

    module: str
    measures: str
    takes: str
    page: str
    one_thread: bool = True


BENCHES = {
    USUAL: Bench(
        "speed", "draws and rounds, as ratios to others in one run", "a minute", "docs/decisions/measured/scale.md"
    ),
    "start": Bench(
        "start",
        "the first minute: compilation, first commands, later starts, each beside its bar",
        "a minute; --clone adds make demo",
        "docs/decisions/0017-the-first-minute.md",
        one_thread=False,
    ),
    "scale": Bench(
        "scale.__main__", "cost and memory to a million labels", "ten minutes", "docs/decisions/measured/scale.md"
    ),
    "logs": Bench(
        "logs.__main__",
        "missed, what-if, drift and report on ten million decisions",
        "ten minutes",
        "docs/decisions/measured/decision-log.md",
        one_thread=False,
    ),
    "service": Bench(
        "service.__main__",
        "streams in a file and over HTTP: decisions a second, opening and verifying a million",
        "five minutes; --part http is one part of three",
        "docs/decisions/measured/service.md",
    ),
    "split": Bench(
        "split",
        "a hot stream as 2, 4 and 16 streams that learn apart: what that costs in regret",
        "five minutes",
        "docs/decisions/measured/scale.md",
    ),
    "machines": Bench(
        "service.machines",
        "many streams in PostgreSQL over several processes: decisions a second, memory, start, takeover",
        "five minutes; --streams 400 --processes 2 is a part",
        "docs/decisions/measured/service.md",
    ),
    "page": Bench(
        "service.review_page",
        "the review page in Chromium: first view, live updates, a hundred cases",
        "a quarter of an hour",
        "docs/decisions/measured/review-page.md",
        one_thread=False,
    ),
    "peers": Bench(
        "peers.__main__",
        "regret, time and memory beside five other libraries",
        "half an hour; --quick is a minute",
        "docs/decisions/measured/bench.md",
    ),
    "files": Bench(
        "files.__main__",
        "five real files as replay plays them, beside other libraries",
        "an hour",
        "docs/decisions/measured/replay.md",
    ),
    "trees": Bench(
        "trees",
        "what trees are worth beside a booster that is told every label, and what they take",
        "ten minutes; --part speed is two",
        "docs/decisions/measured/trees.md",
    ),
    "lines": Bench("lines", "what curves cost where nothing bends", "ten minutes", "docs/decisions/measured/curves.md"),
    "levels": Bench(
        "levels",
        "columns with thousands of levels, against those of the first rows",
        "five minutes",
        "docs/decisions/measured/curves.md",
    ),
    "item-costs": Bench(
        "item_costs",
        "what costs by item are worth, and whether the money missed is covered",
        "ten minutes",
        "docs/decisions/measured/replay.md",
    ),
    "adversary": Bench(
        "adversary",
        "somebody who reads the acts and sends positives where there will be none: rules, and audits",
        "two minutes",
        "docs/which-policy.md",
    ),
    "coverage": Bench(
        "intervals.__main__",
        "do intervals cover the truth? hard streams, public files, every policy",
        "an hour; --part hard is one part of six",
        "docs/decisions/measured/missed.md",
    ),
    "drift": Bench(
        "drift",
        "forgetting and alarms on streams with a known change",
        "two minutes",
        "docs/decisions/measured/drift.md",
    ),
    "time": Bench(
        "ordered.__main__",
        "streams in the order of time, beside the constants and models that are fitted every night",
        "an hour; --only 'hotel_inn' is one file, --only ruin one made-up stream",
        "docs/decisions/measured/drift.md",
    ),
    "desk": Bench(
        "desk.__main__",
        "few reviewers and late labels, beside one-sided logistic regression",
        "half an hour",
        "docs/decisions/0011-pacing.md",
    ),
    "blind": Bench(
        "blind.__main__",
        "rare segments that pay: does voi find them, and what does looking cost",
        "twenty minutes",
        "docs/decisions/measured/rules.md",
    ),
    "reports": Bench(
        "reports",
        "what a belief gains, and risks, if it learns from passes that are reported later, and from those that are not",
        "ten minutes",
        "docs/decisions/0032-learning-from-reports.md",
    ),
    "sensitivity": Bench(
        "sensitivity",
        "what the defaults of voi matter",
        "three minutes",
        "docs/decisions/measured/rules.md",
        one_thread=False,
    ),
    "exact": Bench(
        "exact",
        "exact Thompson sampling against PG-TS, paired",
        "a quarter of an hour",
        "docs/decisions/0010-exact-adaptation.md",
        one_thread=False,
    ),
    "figures": Bench(
        "figures.__main__",
        "the figures of all pages: of which code each is, and stale ones measured again",
        "seconds; --play 10 plays every stale run of ten minutes or less",
        "CONTRIBUTING.md",
    ),
}


def listed() -> str:
    """Return the help: every bench with what it measures, how long it takes, and where its figures are."""
    lines = [f"  {name:<13}{bench.measures}\n{'':15}{bench.takes}; {bench.page}" for name, bench in BENCHES.items()]
    return "\n".join(
        (
            "usage: make bench ARGS='NAME [options]'",
            "       python -m bench NAME [options], which installs nothing",
            "",
            f"Measure one thing; without a name, {USUAL}. Times are rough, of two cores with nothing else to do.",
            "",
            *lines,
            "",
            "make bench ARGS='NAME --help' has the options of one.",
        )
    )


def main(words: list[str]) -> None:
    """Run the bench that the first word names, with the other words as its options."""
    if words and words[0] in ("-h", "--help"):
        print(listed())
        return
    if not words or words[0].startswith("-"):
        print(f"this is {USUAL}, one bench of {len(BENCHES)}: make bench ARGS=--help lists them", file=sys.stderr)
        words = [USUAL, *words]
    name, *options = words
    if name not in BENCHES:
        sys.exit(f"there is no bench {name!r}; there are {', '.join(BENCHES)}")
    bench = BENCHES[name]
    if bench.one_thread:
        os.environ.update(ONE_THREAD)  # NumPy reads them when it is imported, which is below
    sys.argv = [f"python -m bench {name}", *options]
    import_module(f"bench.{bench.module}").main()


if __name__ == "__main__":
    main(sys.argv[1:])
