"""The command line: thin verbs over the library. Heavy imports wait until a verb needs them."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from .. import __version__
from ..errors import AppleTasteError
from .log_parser import add_log_verbs
from .replay_parser import add_replay

DESCRIPTION = """\
Decide which items to act on when the true label is seen only if you act.

Policies (what decides) play problems (what arrives); regret is the expected
cost above that of the best action for every item."""

EXAMPLES = """\
examples:
  appletaste policies                        what can decide, and its options
  appletaste problems                        what can arrive
  appletaste simulate --problem i --policy pg-ts --policy pg-ids
  appletaste replay loans.csv --label bad --costs miss=5,false_alarm=1,hit=0
  appletaste example orders.csv              a raw file to try things on (docs/guide.md)
  appletaste missed decisions.jsonl          how much is being missed?
  appletaste what-if decisions.jsonl --threshold 0.3
  appletaste report decisions.jsonl --out out/june
  appletaste demo                            the paper's problems beside its tables
  appletaste game game.json                  can learning pay in a game of yours?
  appletaste theory --quick                  the paper's theory beside measurements
"""

SIMULATE_EXAMPLES = """\
examples:
  appletaste simulate --problem i --policy pg-ts --policy pg-ids --replications 200 --seed 1
  appletaste simulate --problem iii --policy pg-ids --option pg-ids.weight=0.2 --json
  appletaste simulate --problem i --policy 'pg-ids[weight=0]' --policy 'pg-ids[weight=0.4]' --out out/weights
  appletaste simulate --problem synthetic --features 10 --rounds 2000 --intercept -3 \\
      --costs miss=5,false_alarm=1,hit=0.5 --policy pg-ts --policy never
"""

PAPER_EXAMPLES = """\
studies: figure-1 (with Tables 1-3), figure-2a, figure-2b, figure-3 (with Tables 4-6), readings, estimators

examples:
  appletaste paper                                   50 replications, as in the paper
  appletaste paper --quick                           a smoke test
  appletaste paper --replications 200 --out out/200  four times as many
  appletaste paper --only figure-2b --only readings  parts of it
"""

GAME_EXAMPLES = """\
A game is a JSON file; rows are actions, columns are outcomes. Apple tasting:

  {"actions":  ["pass", "act"],
   "outcomes": ["negative", "positive"],
   "loss":     [[0.0, 1.0], [0.4, 0.05]],
   "feedback": [["nothing", "nothing"], ["it was negative", "it was positive"]]}

Feedback may be texts or numbers; only which of them are equal counts. The class
says how regret must grow over T rounds, for the best policy on the worst case:

  trivial   1      one action is never worse than the others
  easy      T^1/2  what must be seen is shown by actions worth playing anyway
  hard      T^2/3  one must now and then pay just to look
  hopeless  T      nothing shows which action is better

examples:
  appletaste game game.json
  appletaste game game.json --json
"""


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of all verbs."""
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser("appletaste", description=DESCRIPTION, epilog=EXAMPLES, formatter_class=raw)
    parser.add_argument("--version", action="version", version=f"appletaste {__version__}")
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)

    simulate = verbs.add_parser(
        "simulate",
        help="play policies on a problem and compare their regret",
        description="Play policies on the same replications of a problem and compare them.",
        epilog=SIMULATE_EXAMPLES,
        formatter_class=raw,
    )
    simulate.add_argument("--problem", default="i", help="what arrives (see 'appletaste problems'; default i)")
    simulate.add_argument(
        "--policy",
        action="append",
        metavar="NAME",
        help="what decides; repeat to compare; NAME[option=value,...] sets options",
    )
    simulate.add_argument(
        "--option",
        action="append",
        default=[],
        metavar="NAME.OPTION=VALUE",
        help="set an option of a policy, e.g. pg-ids.weight=0.2",
    )
    simulate.add_argument("--replications", type=int, default=50, metavar="N", help="how many times (default 50)")
    simulate.add_argument("--reading", help="the paper's losses: as-run (default) or as-printed (see docs/paper.md)")
    simulate.add_argument("--costs", metavar="miss=1,false_alarm=0.4,hit=0.05", help="costs instead of the problem's")
    add_engine_options(simulate)
    simulate.add_argument("--out", type=Path, metavar="DIR", help="write results, a manifest and the regret plot")
    own = simulate.add_argument_group("the problem's own settings")
    own.add_argument("--features", type=int, metavar="D", help="number of features (dimension, synthetic)")
    own.add_argument("--rounds", type=int, metavar="T", help="number of items")
    own.add_argument("--scaling", help="dimension: items' variance d^-1/2 (printed) or d^-1 (constant)")
    own.add_argument("--context-variance", type=float, metavar="V", help="synthetic: variance of each feature")
    own.add_argument("--intercept", type=float, metavar="A", help="synthetic: add a constant feature with this weight")
    own.add_argument("--theta", help="synthetic: law of the true parameter, uniform or normal")
    own.add_argument("--theta-scale", type=float, metavar="S", help="synthetic: its half-width or standard deviation")
    simulate.set_defaults(run="run_simulate")

    add_replay(verbs, add_engine_options)
    add_log_verbs(verbs)

    paper = verbs.add_parser(
        "paper",
        help="rebuild every figure and table of the paper, and a report",
        description="Rebuild every figure and table of the paper and write a report: index.html (opens without a "
        "network), report.md, tables.json, figures as SVG and PNG. Finished work is kept: run it again after an "
        "interruption and it goes on where it stopped.",
        epilog=PAPER_EXAMPLES,
        formatter_class=raw,
    )
    paper.add_argument("--replications", type=int, default=50, metavar="N", help="default 50, as in the paper")
    paper.add_argument("--quick", action="store_true", help="4 replications: a smoke test; its z mean little")
    paper.add_argument("--only", action="append", default=[], metavar="STUDY", help="one study; repeat for more")
    paper.add_argument("--reading", default="as-run", help="the paper's losses: as-run (default) or as-printed")
    add_engine_options(paper)
    paper.add_argument("--out", type=Path, default=Path("out/paper"), metavar="DIR", help="default out/paper")
    paper.set_defaults(run="run_paper")

    for verb, text, run in (
        ("policies", "list the policies and their options", "run_policies"),
        ("problems", "list the problems and their settings", "run_problems"),
    ):
        lister = verbs.add_parser(verb, help=text, description=text.capitalize() + ".")
        lister.add_argument("--json", action="store_true", help="print JSON for machines")
        lister.set_defaults(run=run)

    demo = verbs.add_parser(
        "demo",
        help="the paper's policies on its three problems, beside its tables",
        description="Play the paper's six policies on its three problems; show precision and recall beside the "
        "published tables and save the regret picture.",
    )
    demo.add_argument("--replications", type=int, default=100, metavar="N", help="how many times (default 100)")
    add_engine_options(demo)
    demo.add_argument("--out", type=Path, default=Path("out/demo"), metavar="DIR", help="default out/demo")
    demo.set_defaults(run="run_demo")

    game = verbs.add_parser(
        "game",
        help="can learning pay in a game, and what must be looked at",
        description="Analyse a finite partial-monitoring game: which actions can be best, which of them are "
        "neighbours, what can be observed, and how fast one can learn.",
        epilog=GAME_EXAMPLES,
        formatter_class=raw,
    )
    game.add_argument("file", type=Path, metavar="FILE.json", help="the game: loss and feedback, as below")
    game.add_argument("--json", action="store_true", help="print JSON for machines")
    game.set_defaults(run="run_game")

    theory = verbs.add_parser(
        "theory",
        help="the paper's theory beside measurements: bound, growth, assumptions, convergence",
        description="Compute what the paper proves and measure it: the regret bound of Theorem 1 and how regret "
        "really grows with rounds and features; the assumptions on runs; the sampler against the exact posterior "
        "(Theorem 2) and regret per round (Theorem 3). How to read it: docs/theory.md.",
    )
    theory.add_argument("--quick", action="store_true", help="seconds instead of minutes, with coarser numbers")
    add_run_options(theory)
    theory.set_defaults(run="run_theory")
    return parser


def add_run_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of every verb that computes."""
    parser.add_argument("--seed", type=int, default=1, help="where all randomness comes from (default 1)")
    parser.add_argument(
        "--jobs", type=int, default=os.cpu_count() or 1, metavar="J", help="processes (default: all cores)"
    )
    parser.add_argument("--json", action="store_true", help="print JSON for machines")


def add_engine_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of every verb whose replications an engine plays."""
    add_run_options(parser)
    parser.add_argument(
        "--engine",
        default="local",
        metavar="NAME",
        help="who does the work: local (default), ray or dask (see docs/clusters.md); the numbers are the same",
    )
    parser.add_argument(
        "--address",
        metavar="HOST:PORT",
        help="of a Ray or Dask cluster (default: from the environment, or else a cluster of --jobs workers here)",
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; a mistake in the call ends with one sentence and exit code 2."""
    args = build_parser().parse_args(arguments)
    try:
        from . import verbs  # slow to import, so only once the call is understood

        getattr(verbs, args.run)(args)
    except BrokenPipeError:  # whoever read our output has had enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (AppleTasteError, OSError) as error:
        print(f"appletaste: {_in_words(error)}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("appletaste: stopped", file=sys.stderr)
        return 130
    return 0


def _in_words(error: Exception) -> str:
    """Return what went wrong; of what the machine refuses, with which file and what to look at."""
    if isinstance(error, AppleTasteError) or not isinstance(error, OSError) or error.filename is None:
        return str(error)
    return (
        f"cannot read or write {error.filename}: {error.strerror}. Is the path right, is there room, and may you write "
        "there?"
    )
