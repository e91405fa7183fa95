"""What a saved ledger holds: a saved policy, what its desk has spent, and every decision (docs/save-format.md)."""

from __future__ import annotations

import json
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._files import open_archive, write_archive
from ..costs import OUTCOMES, Costs
from ..decision import Decision
from ..policies.loading import rebuild
from ..policies.saving import FORMAT as POLICY_FORMAT
from ..policies.saving import header_of, state_of
from ..times import instant
from .desk import Desk
from .ledger import PENDING, STATES, Entry, Ledger

FORMAT = 1
UNKNOWN = -1  # a label that has not come


def text(value: Any) -> NDArray[np.uint8]:
    """Return JSON as bytes: ids, times and reasons as they are, of any length."""
    return np.frombuffer(json.dumps(value).encode(), dtype=np.uint8)


def save_ledger(ledger: Ledger, path: str | PathLike[str]) -> None:
    """Write a ledger to a file, aside first and then renamed."""
    policy, entries = ledger.policy, list(ledger._entries.values())
    decisions = [entry.decision for entry in entries]
    header = {
        "format": FORMAT,
        "expire_after": ledger.expire_after,
        "policy": header_of(policy),
        "desk": ledger.desk.header(),
        "waiting": ledger.pending,
    }
    state: dict[str, Any] = {f"policy.{name}": array for name, array in state_of(policy).items()}
    state |= {f"desk.{name}": array for name, array in ledger.desk.arrays().items()}
    state |= {
        "items": np.array([d.x for d in decisions], dtype=np.float64).reshape(len(decisions), policy.n_features),
        "acts": np.array([d.act for d in decisions], dtype=bool),
        "audits": np.array([d.audit for d in decisions], dtype=bool),
        "probabilities": np.array([d.probability for d in decisions], dtype=np.float64),
        "rounds": np.array([d.round for d in decisions], dtype=np.int64),
        "costs": np.array([list(d.costs.outcomes().values()) for d in decisions], dtype=np.float64).reshape(-1, 4),
        "clocks": np.array([entry.clock for entry in entries], dtype=np.float64),
        "labels": np.array([UNKNOWN if entry.label is None else entry.label for entry in entries], dtype=np.int8),
        "states": np.array([STATES.index(entry.state) for entry in entries], dtype=np.int8),
        "ids": text(list(ledger)),
        "times": text([[entry.time, entry.label_time] for entry in entries]),
        "strata": text([entry.stratum for entry in entries]),
        "whys": text([d.why for d in decisions]),
    }
    write_archive(path, header, state)


def load_ledger(path: str | PathLike[str]) -> Ledger:
    """Read a saved ledger; it continues exactly where it was saved."""
    with open_archive(path, "ledger", FORMAT) as (header, state):
        if header["policy"]["format"] != POLICY_FORMAT:
            raise ValueError(f"its policy has format {header['policy']['format']}, this version reads {POLICY_FORMAT}")
        parts: dict[str, dict[str, Any]] = {"policy": {}, "desk": {}}
        for name, array in state.items():
            place, _, rest = name.partition(".")
            if rest:
                parts[place][rest] = array
        policy = rebuild(header["policy"], parts["policy"])
        ledger = Ledger(Desk.rebuild(policy, header["desk"], parts["desk"]), header["expire_after"])
        read = {name: json.loads(state[name].tobytes()) for name in ("ids", "times", "strata", "whys")}
        for k, id_ in enumerate(read["ids"]):
            costs = Costs.of_item(**dict(zip(OUTCOMES, state["costs"][k].tolist(), strict=True)))
            decision = Decision(
                bool(state["acts"][k]),
                float(state["probabilities"][k]),
                state["items"][k],
                policy.costs if costs == policy.costs else costs,
                int(state["rounds"][k]),
                read["whys"][k],
                bool(state["audits"][k]),
                instant(read["times"][k][0]) if policy.timed else None,
            )
            label, (time, label_time) = int(state["labels"][k]), read["times"][k]
            ledger._entries[id_] = Entry(
                decision,
                time,
                float(state["clocks"][k]),
                read["strata"][k],
                STATES[int(state["states"][k])],
                None if label == UNKNOWN else label,
                label_time,
            )
        ledger._waiting = dict.fromkeys(header["waiting"])
        if any(ledger[id_].state != PENDING for id_ in ledger._waiting):
            raise ValueError("it waits for labels that have come")
        return ledger
