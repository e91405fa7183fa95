"""Events as arrays, for a saved file: numbers as columns, texts as JSON (docs/save-format.md)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..costs import OUTCOMES, Costs
from ..decision import Decision
from .events import KINDS, Decided, Event

#: The numbers of a decision that are columns of their own.
NUMBERS = ("probability", "chance", "worth", "price")
FLAGS = ("act", "audit", "spent")


def pack_events(events: Sequence[Event]) -> dict[str, NDArray[Any]]:
    """Return events as arrays; ``unpack_events`` gives them back, bit for bit."""
    names = {kind: name for name, kind in KINDS.items()}
    made = [event for event in events if isinstance(event, Decided)]
    decisions = [event.decision for event in made]
    width = decisions[0].x.size if decisions else 0
    after = [[names[type(event)], *event] for event in events if not isinstance(event, Decided)]
    return {
        "order": np.array([isinstance(event, Decided) for event in events], dtype=bool),
        "after": _text(after),
        "ids": _text([event.id for event in made]),
        "times": _text([event.time for event in made]),
        "strata": _text([event.stratum for event in made]),
        "whys": _text([decision.why for decision in decisions]),
        "items": np.array([decision.x for decision in decisions], dtype=np.float64).reshape(len(decisions), width),
        "rounds": np.array([decision.round for decision in decisions], dtype=np.int64),
        "moments": np.array([np.nan if d.time is None else d.time for d in decisions], dtype=np.float64),
        "costs": np.array([list(d.costs.outcomes().values()) for d in decisions], dtype=np.float64).reshape(-1, 4),
        **{name: np.array([getattr(d, name) for d in decisions], dtype=np.float64) for name in NUMBERS},
        **{name: np.array([getattr(d, name) for d in decisions], dtype=bool) for name in FLAGS},
    }


def unpack_events(arrays: Mapping[str, NDArray[Any]], usual: Costs) -> list[Event]:
    """Return the events of ``pack_events``; ``usual`` are the costs that most of them have, shared to save memory."""
    texts = {name: json.loads(arrays[name].tobytes()) for name in ("after", "ids", "times", "strata", "whys")}
    columns = [arrays[name].tolist() for name in (*FLAGS, *NUMBERS, "rounds", "moments", "costs")]
    made: list[Event] = []
    known = {tuple(usual.outcomes().values()): usual}
    for k, row in enumerate(zip(*columns, strict=True)):
        act, audit, spent, probability, chance, worth, price, round_, moment, sheet = row
        costs = known.setdefault(tuple(sheet), Costs.of_item(**dict(zip(OUTCOMES, sheet, strict=True))))
        time = None if moment != moment else moment
        x, why = arrays["items"][k], texts["whys"][k]
        decision = Decision(act, probability, x, costs, round_, why, audit, time, chance, worth, price, spent)
        made.append(Decided(texts["ids"][k], decision, texts["times"][k], texts["strata"][k]))
    later = [KINDS[kind](*fields) for kind, *fields in texts["after"]]
    decided, others = iter(made), iter(later)
    return [next(decided) if is_decision else next(others) for is_decision in arrays["order"].tolist()]


def _text(value: Any) -> NDArray[np.uint8]:
    """Return JSON as bytes: ids, times and reasons as they are, of any length."""
    return np.frombuffer(json.dumps(value).encode(), dtype=np.uint8)
