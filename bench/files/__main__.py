"""Our policies and those of other libraries on real files: ``make bench ARGS=files``.

Every file is read and encoded as ``appletaste replay`` does it, and every player meets the same vectors in the same
orders; slow ones the first few, and the two peers that come nearest all of them. Runs are kept in out/bench-files;
the tables of all of them are stored and put into the pages.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from appletaste.engines import engine
from appletaste.paper.sources import Sources

from ..figures.parts import text
from ..figures.stored import keep_run
from ..peers.__main__ import chosen, say
from ..peers.players import RECOMMENDED, REFERENCES, Configuration, all_players, why_absent
from ..peers.store import Store
from ..peers.summary import summarise
from .page import duels, everyone, ranked
from .streams import STREAMS, Run

HERE = Path(__file__).parent
#: What makes the vectors that everybody meets.
DECISIVE = (HERE / "streams.py", *sorted(Sources().files("appletaste.features", "appletaste.history.labelled")))
#: How many of the slow peers, those that came nearest on a stream, play all its orders.
CLOSEST = 2


def main() -> None:
    """Play what is missing, keep it, write the page."""
    parser = argparse.ArgumentParser(prog="python -m bench files", description=__doc__)
    parser.add_argument("--only", nargs="+", metavar="STREAM", help="these streams")
    parser.add_argument("--players", nargs="+", metavar="PLAYER", help="these players")
    parser.add_argument("--replications", type=int, help="at most so many orders of each")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="where the files are")
    parser.add_argument("--out", type=Path, default=Path("out/bench-files"), help="where results are kept")
    parser.add_argument("--jobs", type=int, default=2, help="processes (default 2)")
    args = parser.parse_args()
    known = {name: player for name, player in all_players().items() if name != "vw-graph"}  # 1.5 ms a round: too slow
    names = chosen("player", args.players, list(known))
    players = {name: known[name] for name in names if not why_absent(known[name])}
    for name in names:
        if name not in players:
            say(f"{name} is skipped: {why_absent(known[name])}")
    store = Store(args.out, players, DECISIVE)
    runs = []
    for name in chosen("stream", args.only, list(STREAMS)):
        stream = STREAMS[name]
        if not (args.data / stream.file).exists():
            say(f"{name} is skipped: there is no {stream.file} in {args.data}")
            continue
        counts = {player: stream.replications(players[player]) for player in players}
        if args.replications:
            counts = {player: min(count, args.replications) for player, count in counts.items()}
        for number in range(max(counts.values(), default=0)):
            runs += [Run(name, player, number, args.data) for player, count in counts.items() if number < count]
    play(runs, store, players, args.jobs)
    summary = summarise(store.lines(runs), players, RECOMMENDED)
    if not args.replications and RECOMMENDED in players:
        closest = [
            Run(name, peer, number, args.data)
            for name in summary.cells
            for peer in ranked(summary, name, summary.peers)[:CLOSEST]
            for number in range(STREAMS[name].often)
        ]
        play(closest, store, players, args.jobs)
        summary = summarise(store.lines([*runs, *closest]), players, RECOMMENDED)
    tables = [duels(summary, REFERENCES), everyone(summary)]
    print(text(tables[:1]))
    if not (args.only or args.players or args.replications):
        keep_run("files", {"tables": tables})


def play(runs: list[Run], store: Store, players: dict[str, Configuration], jobs: int) -> None:
    """Play what is missing; each result is kept as it comes."""
    missing = store.missing(runs)
    minutes = sum(STREAMS[run.environment].seconds(players[run.player]) for run in missing) / 60 / jobs
    say(f"{len(runs)} runs, {len(runs) - len(missing)} of them finished; about {minutes:.0f} minutes to go")
    with engine("local", jobs=jobs) as workers:
        for done, (_, line) in enumerate(workers.run(Run.play, missing), 1):
            store.add(line)
            said = line.get("error") or f"{line['regret']:.1f} above the oracle, {line['seconds']:.1f} s"
            say(f"{done}/{len(missing)} {line['environment']} {line['replication']}, {line['player']}: {said}")


if __name__ == "__main__":
    sys.exit(main())
