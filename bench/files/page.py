"""Two tables of real files: the best of ours beside every peer, on the orders that both have played."""

from __future__ import annotations

from collections.abc import Collection

from ..figures.parts import Grid, table
from ..peers.summary import Summary, mean_and_error, paired_difference
from ..peers.tables import with_error


def ranked(summary: Summary, stream: str, names: Collection[str]) -> list[str]:
    """Return players by their mean cost beside the reference's, the lowest first; whoever failed is left out."""
    cells = summary.cells[stream]
    there = [name for name in names if name in cells and cells[name].count]
    return sorted(there, key=lambda name: cells[name].difference)


def duels(summary: Summary, references: Collection[str]) -> Grid:
    """Return one row for each stream: the best of ours, and the peers that come nearest, paired with it."""
    ours = [name for name, player in summary.players.items() if player.ours and name not in references]
    rows = []
    for stream in summary.cells:
        best = ranked(summary, stream, ours)[0]
        peers = ranked(summary, stream, summary.peers)
        regrets = summary.regrets[stream]
        row = [stream, f"`{best}` {with_error(*mean_and_error(regrets[best].values()))}"]
        for peer in peers[:2]:
            difference = with_error(*paired_difference(regrets[best], regrets[peer]))
            row.append(f"`{peer}` {difference} ({len(regrets[best].keys() & regrets[peer].keys())})")
        lower = sum(paired_difference(regrets[best], regrets[peer])[0] <= 0 for peer in peers)
        rows.append((*row, f"{lower} of {len(peers)}"))
    return table(("stream", "best of ours", "less the best peer", "less the next", "at or below"), rows)


def everyone(summary: Summary) -> Grid:
    """Return the cost of every player on every stream."""
    streams = list(summary.cells)
    rows = []
    for name in summary.players:
        cells = [summary.cells[stream].get(name) for stream in streams]
        shown = (f"{with_error(c.mean, c.se)} ({c.count})" if c and c.count else "-" for c in cells)
        rows.append((f"`{name}`", *shown))
    return table(("player", *streams), rows)
