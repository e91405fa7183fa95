"""``make bench ARGS=peers``: play everybody everywhere, measure time and memory, write the report."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from appletaste._files import write_aside
from appletaste.engines import engine

from ..figures.pages import page_of
from ..figures.stored import keep_run
from .budget import plan
from .environments import Environment
from .latency import measure_alone
from .play import Run, all_environments
from .players import RECOMMENDED, Configuration, all_players, reference_of, why_absent
from .promises import promises
from .report import Report, figures, write
from .store import Line, Store
from .summary import summarise

LATENCY_ROUNDS = 2000
QUICK_ENVIRONMENTS = ("i", "iii", "costly")
QUICK_LATENCY_ROUNDS = 100


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def chosen(kind: str, names: list[str] | None, known: list[str]) -> list[str]:
    """Return the names asked for, or all; an unknown one ends the program."""
    for name in names or ():
        if name not in known:
            raise SystemExit(f"there is no {kind} {name!r}; there are {', '.join(known)}")
    return [name for name in known if not names or name in names]


@contextmanager
def bar(title: str, total: float) -> Iterator[Progress]:
    """Show one bar for work of so many seconds, by the plan's estimate."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:.0f} %"),
        TimeRemainingColumn(),
    )
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        progress.add_task(title, total=total)
        yield progress


def measure_latencies(players: list[str], store: Store, rounds: int, together: int) -> dict[str, Line]:
    """Return the latency of every player, measured one after the other (a smoke run: a few at once)."""
    missing = [name for name in players if store.latency(name, rounds) is None]
    with bar("latency", len(missing)) as progress, ThreadPoolExecutor(together) as pool:
        for line in pool.map(lambda name: measure_alone(name, rounds=rounds), missing):
            progress.update(progress.task_ids[0], advance=1, description=f"latency: {line['player']}")
            store.add_latency(line, rounds)
            if "error" in line:
                say(f"{line['player']}: no latency: {line['error']}")
    return {name: line for name in players if (line := store.latency(name, rounds))}


def play_all(
    runs: list[Run], store: Store, environments: dict[str, Environment], players: dict[str, Configuration], jobs: int
) -> None:
    """Play what is missing; each result is kept as it comes."""
    missing = store.missing(runs)

    def seconds(run: Run) -> float:
        environment = environments[run.environment]
        return players[run.player].seconds(environment.rounds, environment.features)

    total = sum(map(seconds, missing))
    say(f"{len(runs)} runs, {len(runs) - len(missing)} of them finished; about {total / 60 / jobs:.0f} minutes to go")
    failed: set[tuple[str, str]] = set()
    begun: set[str] = set()
    with bar("playing", total) as progress, engine("local", jobs=jobs) as workers:
        for index, line in workers.run(Run.play, missing):
            run = missing[index]
            progress.update(progress.task_ids[0], advance=seconds(run), description=f"{run.environment}: {run.player}")
            store.add(line)
            if not sys.stderr.isatty() and run.environment not in begun:  # a log has no bar
                say(f"playing {run.environment}, {len(begun)} of {len({r.environment for r in missing})} before it")
            begun.add(run.environment)
            if "error" in line and (run.environment, run.player) not in failed:
                failed.add((run.environment, run.player))
                say(f"{run.player} failed in {run.environment}: {line['error']}")


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench peers", description=__doc__)
    parser.add_argument(
        "--quick", action="store_true", help="a smoke run of less than a minute, in a folder of its own"
    )
    parser.add_argument("--only", nargs="+", metavar="ENVIRONMENT", help="these environments")
    parser.add_argument("--players", nargs="+", metavar="PLAYER", help="these players")
    parser.add_argument("--replications", type=int, help="at most so many of each")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="where the real files are")
    parser.add_argument("--out", type=Path, help="where results go (default out/bench-peers)")
    parser.add_argument("--json", type=Path, help="write all results to this file, too")
    parser.add_argument("--jobs", type=int, default=2, help="processes (default 2)")
    return parser.parse_args()


def main() -> None:
    args = parse_arguments()
    known, environments = all_players(), all_environments(args.data)
    only = list(QUICK_ENVIRONMENTS) if args.quick and not args.only else args.only
    names = chosen("player", args.players, list(known))
    places = chosen("environment", only, list(environments))
    skipped = {name: why for name in names if (why := why_absent(known[name]))}
    players = {name: known[name] for name in names if name not in skipped}
    for name, why in skipped.items():
        say(f"{name} is skipped: {why}")
    for name in places:
        if environments[name].skip:
            say(f"{name} is skipped: {environments[name].skip}")
    reference = reference_of(list(players))
    if reference != RECOMMENDED:
        say(f"{RECOMMENDED} does not play: {reference} takes its place in comparisons")

    folder = args.out or Path("out/bench-peers-quick" if args.quick else "out/bench-peers")
    store = Store(folder, players)
    rounds = QUICK_LATENCY_ROUNDS if args.quick else LATENCY_ROUNDS
    timed = list({player.library: name for name, player in reversed(players.items())}.values())  # one of each library
    latencies = measure_latencies(timed if args.quick else list(players), store, rounds, args.jobs if args.quick else 1)
    here = [environments[name] for name in places if not environments[name].skip]
    runs = plan(here, players.values(), args.data, 1 if args.quick else args.replications)
    play_all(runs, store, environments, players, args.jobs)

    lines = store.lines(runs)
    summary = summarise(lines, players, reference)
    report = Report(summary, latencies, {name: environments[name] for name in places}, players, skipped, lines)
    write(report, folder)
    if args.json:
        args.json.write_text((folder / "results.json").read_text())
    whole = not (args.quick or args.only or args.players or args.replications)
    for promise in promises(summary):
        print(
            f"{'kept' if promise.kept else 'NOT KEPT'}: {promise.promise.replace('`', '')}\n    found: {promise.found}"
        )
    print(f"{folder / 'index.html'}, report.md, results.json")
    if whole and summary.peers:  # without a peer there is nothing to tell
        picture = page_of("peers.tables").with_name("bench.svg")
        write_aside(picture, report.picture().encode())
        keep_run("peers", figures(report), [picture])


if __name__ == "__main__":
    main()
