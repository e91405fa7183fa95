"""The files as ``appletaste replay`` meets them: unprepared, in its own encoding, the same for every player."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from appletaste import Costs, Key
from appletaste.features.defaults import default_encoder
from appletaste.history.labelled import LabelledTable, encode, read_labelled
from appletaste.problems import Table

from ..peers.play import attempt
from ..peers.players import Configuration

SEED = 11
#: Policies of ours that sample, or that get slower with every label, play where an order takes about so many seconds.
LONGEST = 1.5


@dataclass(frozen=True)
class FileStream:
    """A file, what its outcomes cost, and how often it is played: by fast players, and by slow ones."""

    name: str
    file: str
    rows: int
    features: int  #: after the encoding, roughly
    costs: Costs
    often: int
    seldom: int
    shuffled: bool = True

    def seconds(self, player: Configuration) -> float:
        """Return roughly how long a player takes for one order."""
        return player.seconds(self.rows, self.features)

    def replications(self, player: Configuration) -> int:
        """Return how many orders a player meets, always the first ones; none if a policy of ours is too slow here."""
        heavy = player.grows or player.microseconds[1] >= 1000.0
        if player.ours and heavy and self.seconds(player) > LONGEST:
            return 0
        return self.seldom if player.microseconds[0] >= 150.0 or player.grows else self.often


GERMAN = Costs(miss=5.0, false_alarm=1.0, hit=0.0)
BANK = Costs(miss=0.0, false_alarm=1.0, hit=-8.0)
STREAMS = {
    stream.name: stream
    for stream in (
        FileStream("german_credit", "german_credit.csv.gz", 1000, 75, GERMAN, 20, 20),
        FileStream("spambase", "spambase.csv.gz", 4601, 58, Costs(miss=1.0, false_alarm=9.0, hit=0.0), 20, 6),
        FileStream("mushroom", "mushroom.csv.gz", 8124, 135, Costs(miss=0.0, false_alarm=15.0, hit=-5.0), 20, 6),
        FileStream("phishing", "phishing.csv.gz", 11_055, 31, Costs(miss=1.0, false_alarm=3.0, hit=0.0), 20, 6),
        FileStream("bank, shuffled", "bank_marketing.csv.gz", 41_188, 73, BANK, 6, 3),
        FileStream("bank, in order of time", "bank_marketing.csv.gz", 41_188, 100, BANK, 1, 1, shuffled=False),
    )
}


@lru_cache(maxsize=1)
def read(path: Path) -> LabelledTable:
    """Return a file as a stream."""
    return read_labelled(path, "label")


@lru_cache(maxsize=2)  # players of one order usually come one after the other
def table_of(name: str, number: int, folder: Path) -> Table:
    """Return the vectors and labels of one order."""
    chosen = STREAMS[name]
    stream = read(folder / chosen.file)
    records, labels = stream.records, stream.labels
    if chosen.shuffled:
        order = Key(SEED).at("bench-files", name, number).generator().permutation(len(stream))
        records, labels = records[order], labels[order]
    items, _, _ = encode(default_encoder(records, chosen.shuffled), records)
    return Table(name, items, labels.astype(float), labels, chosen.costs)


@dataclass(frozen=True)
class Run:
    """A player, a stream (called environment, as everywhere in the bench) and the number of an order."""

    environment: str
    player: str
    replication: int
    data: Path

    def play(self) -> dict[str, Any]:
        """Return one line of the results; a player that raises is recorded with what it said, not left out.

        ``regret`` is the cost of 1,000 items above the oracle of hindsight.
        """
        table = table_of(self.environment, self.replication, self.data)
        line: dict[str, Any] = {name: getattr(self, name) for name in ("environment", "player", "replication")}
        word = int(Key(SEED).at("bench-files", self.environment, self.replication, "player", self.player).word())
        found = attempt(self.player, table, 1 + word % (2**31 - 2))
        if isinstance(found, str):
            return line | {"error": found}
        acts, seconds = found
        above = 1000.0 * float(np.mean(table.regret_of(acts)))
        return line | {"regret": above, "acts": int(acts.sum()), "seconds": seconds, "features": table.n_features}
