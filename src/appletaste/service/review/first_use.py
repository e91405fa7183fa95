"""From a file to a running stream: a replay of the file in money, the stream, and the first lines of code."""

from __future__ import annotations

import json
import math
import shlex
import warnings
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec
import numpy as np

from ..._files import for_json
from ...costs import Costs
from ...costs_by_item import CostsByItem
from ...errors import InputError, worded
from ...evaluate.answers import brief
from ...records.stores import Store
from ...replays import ReplayResult, replay
from ...reports.model import share as per_cent
from ...streams import Stream
from ...streams.from_history import Prepared, from_history
from ...tables import read_records
from ...times import DAY
from .bodies import FileStream, Played
from .file_answers import MoneyPoint, ReplayRead, ReplayRow
from .file_look import in_words, words_of
from .files import latest_rows, unreadable

#: Rows that are played at most, the latest; and in how many orders a file without a time is played, if it is short.
PLAYED, ORDERS, SHORT = 20_000, 3, 5_000
POLICY = "voi"
#: Points of the picture.
POINTS = 100


def costs_of(asked: Played) -> Costs | CostsByItem:
    """Return what outcomes cost: numbers, or formulas."""
    return CostsByItem.of(msgspec.structs.asdict(asked.costs))


def roles_of(asked: Played) -> dict[str, Any]:
    """Return how a file is read, as ``replay`` and ``from_history`` both take it."""
    given = {"time": asked.time, "capacity": asked.capacity, "audit": asked.audit, "time_zone": asked.time_zone}
    return {**given, **({} if asked.positive is None else {"positive": asked.positive})}


def play(path: Path, asked: Played) -> ReplayRead:
    """Play a file as a stream, and say what it would have cost."""
    with TemporaryDirectory(dir=path.parent) as folder:  # of this replay alone: another may have other times
        shorter, rows = latest_rows(path, asked.time, PLAYED, Path(folder))
        name = "the file" if shorter == path else f"the file of the latest {PLAYED:,} rows"
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # what there is to say is among the notes
                result = replay(
                    shorter,
                    asked.label,
                    costs=costs_of(asked),
                    policies=(POLICY,),
                    shuffles=None if asked.time is not None else ORDERS if rows <= SHORT else 1,
                    drop=[*dict.fromkeys([*asked.drop, *([] if asked.id is None else [asked.id])])],
                    **roles_of(asked),
                )
        except (InputError, UnicodeError) as error:
            raise unreadable(words_of(shorter, error, name)) from None
    notes = [words_of(shorter, note, name) for note in result.notes]
    if rows > PLAYED:
        notes.insert(0, f"the latest {PLAYED:,} of {rows:,} rows were played; the stream learns from all of them")
    return ReplayRead(plain_title(result), _rows(result), _money(result), replay_words(result), notes)


def plain_title(result: ReplayResult) -> str:
    """Return one line on what was played, without the seed."""
    return result.title.split(", seed")[0]


def _rows(result: ReplayResult) -> list[ReplayRow]:
    found = []
    for label, one in result.as_dict().items():
        cost, saved = one["cost_per_1000"], one["saved_per_1000"]
        found.append(
            ReplayRow(
                label,
                one["policy"],
                cost["mean"],
                cost["se"],
                saved.get("never"),
                saved.get("always"),
                one["precision"],
                one["recall"],
                one["act_rate"],
                one["labels"],
            )
        )
    return found


def _money(result: ReplayResult) -> list[MoneyPoint]:
    """Return what each way to decide had cost after so many items, on average over orders."""
    curves = {label: one.curves.mean(axis=0) for label, one in result.policies.items()}
    places = np.unique(np.linspace(0, len(result.points) - 1, min(POINTS, len(result.points))).astype(int))
    found = [MoneyPoint(0, dict.fromkeys(curves, 0.0))]
    for place in places.tolist():
        costs = {label: float(curve[place]) for label, curve in curves.items()}
        found.append(MoneyPoint(int(result.points[place]), costs))
    return found


def replay_words(result: ReplayResult) -> list[str]:
    """Return what a replay says, in sentences."""
    mine = result[POLICY]
    never, always = (result.saved(POLICY, other).mean for other in ("never", "always"))
    said = [
        f"Every 1,000 items would have cost {brief(mine.cost_per_1000.mean)}: {brief(abs(never))} "
        f"{'less' if never >= 0 else 'more'} than never acting, and {brief(abs(always))} "
        f"{'less' if always >= 0 else 'more'} than always acting."
    ]
    right = "" if math.isnan(mine.precision) else f" {per_cent(mine.precision)} of the acts are right."
    found = "" if math.isnan(mine.recall) else f" {per_cent(mine.recall)} of the positives are found."
    said.append(f"It acts on {per_cent(mine.act_rate)} of the items.{right}{found}")
    best = result["oracle"].cost_per_1000.mean
    said.append(f"Nobody can do better than {brief(best)}: that is hindsight, which acts on the positives alone.")
    if result.verdict is not None:
        first = worded(result.verdict, in_words)
        said.insert(0, f"{first[0].upper()}{first[1:]}{'' if first.endswith('?') else '.'}")
    return said


def make(store: Store, path: Path, asked: FileStream) -> tuple[Stream, Prepared]:
    """Make a stream from a file; its labels are learnt unless somebody says otherwise."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what there is to say is among the notes
            prepared = from_history(
                path,
                asked.label,
                costs=costs_of(asked),
                id=asked.id,
                stratum=asked.stratum,
                drop=asked.drop,
                teach=asked.teach,
                **roles_of(asked),
            )
    except (InputError, UnicodeError) as error:
        raise unreadable(words_of(path, error)) from None
    waits = None if asked.expire_after_days is None else DAY * asked.expire_after_days
    return prepared.create(store, asked.name, mode=asked.mode, expire_after=waits), prepared


def last_row(path: Path) -> dict[str, Any]:
    """Return the last row of a file."""
    return {name: column[-1] for name, column in read_records(path).columns.items()}


def example_item(row: dict[str, Any], asked: FileStream, needed: Mapping[str, str], numeric: str) -> dict[str, Any]:
    """Return a row of a file as the stream takes it; ``needed`` has the columns and what each wants."""
    found: dict[str, Any] = {}
    for name, wants in needed.items():
        if name == asked.time:
            continue  # the time of the decision stands in for it
        value = row[name]
        if isinstance(value, float | np.floating):
            value = float(value)
            found[name] = value if wants == numeric or math.isnan(value) else f"{value:g}"
        else:
            found[name] = value
    plain: dict[str, Any] = for_json(found)
    return plain


def lines_of_code(address: str, key: str, asked: FileStream, item: dict[str, Any]) -> tuple[str, str]:
    """Return the lines that send a first decision, in Python and for a shell."""
    shadow = asked.mode == "shadow"
    own = ", baseline=False" if shadow else ""
    python = "\n".join(
        [
            "import appletaste as at",
            f"stream = at.connect({address!r}, key={key!r}).stream({asked.name!r})",
            f"print(stream.decide({item!r}, id='first-1'{own}).as_dict())",
        ]
    )
    body = {"id": "first-2", "item": item, **({"baseline": False} if shadow else {})}
    curl = (
        f"curl {address}/v1/streams/{asked.name}/decisions -H 'Authorization: Bearer {key}' "
        f"-H 'Content-Type: application/json' -d {shlex.quote(json.dumps(body))}"
    )
    return python, curl
