"""A stream of a service, with the verbs of ``at.Stream``: going from a file to a service is one changed line."""

from __future__ import annotations

import math
import uuid
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from typing import Any
from urllib.parse import quote

import numpy as np

from ..costs import Costs, SomeCosts
from ..decision import Decision, check_label
from ..errors import FeedbackError, InputError, RecordError, UnknownDecisionError
from ..evaluate import Explanation, Missed, missed
from ..evaluate.explain import Contribution
from ..logs import DecisionLog
from ..logs.decision_log import table_of
from ..policies.reasons import Reason
from ..records.events import KINDS, Decided, Event
from ..records.states import Entries
from ..times import instant, written
from ..words import Words
from .client import Client, error_of, in_path

#: Items in one request of ``decide_many``.
BATCH = 500
_NO_NUMBER = ("chance", "worth", "price")


class RemoteAnswer:
    """A decision as the service gave it; ``as_dict`` has all of it."""

    __slots__ = ("_told", "again")

    def __init__(self, told: Mapping[str, Any], again: bool) -> None:
        self._told, self.again = dict(told), again

    def __getattr__(self, name: str) -> Any:
        try:
            found = self._told[name]
        except KeyError:
            raise AttributeError(f"an answer has no {name!r}; it has {', '.join(self._told)}") from None
        return math.nan if found is None and name == "chance" else found

    def __repr__(self) -> str:
        done = "act" if self.act else "pass"
        return f"<Answer {self.id!r}: {done}, probability {self.probability:.3g}, event {self.seq}, {self.mode}>"

    def as_dict(self) -> dict[str, Any]:
        """Return the answer as the service gave it."""
        return dict(self._told)


class RemoteStream:
    """One stream of a service; made by ``at.connect(address, key=...).stream(name)``."""

    def __init__(self, client: Client, name: str) -> None:
        self._client, self.name = client, name
        self._path = f"/v1/streams/{in_path(name)}"

    def __repr__(self) -> str:
        return f"<Stream {self.name!r} of {self._client.address}>"

    def __enter__(self) -> RemoteStream:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the socket; the stream goes on."""
        self._client.close()

    def _call(self, method: str, path: str, body: Any = None) -> Any:
        return self._client.call(method, self._path + path, body)[1]

    def _case(self, id: str) -> str:
        if not (isinstance(id, str) and id):
            raise InputError("an id is a text such as 'case-17'")
        return f"/decisions/{in_path(id)}"

    # ---- deciding

    def decide(
        self,
        item: Any,
        *,
        id: str | None = None,
        time: Any = None,
        stratum: str | None = None,
        costs: SomeCosts | None = None,
        baseline: bool | None = None,
    ) -> RemoteAnswer:
        """Decide on an item, a record or a vector; on the disk of the service when this returns."""
        status, told = self._client.call(
            "POST", self._path + "/decisions", _asked(item, id, time, stratum, costs, baseline)
        )
        return RemoteAnswer(told, status == 200)

    def decide_many(
        self,
        items: Sequence[Any],
        *,
        ids: Sequence[str | None] | None = None,
        times: Sequence[Any] | None = None,
        strata: Sequence[str | None] | None = None,
        costs: Sequence[SomeCosts | None] | None = None,
        baselines: Sequence[bool | None] | None = None,
    ) -> list[RemoteAnswer]:
        """Decide on many items in their order; the first that is refused is said, and those before it count."""
        n, columns = len(items), []
        named = {"ids": ids, "times": times, "strata": strata, "costs": costs, "baselines": baselines}
        for name, given in named.items():
            if given is not None and len(given) != n:
                raise InputError(f"{name} has {len(given)} values for {n} items; give one for each")
            columns.append([None] * n if given is None else list(given))
        asked = [_asked(*row) for row in zip(items, *columns, strict=True)]
        answers: list[RemoteAnswer] = []
        for start in range(0, n, BATCH):
            found = self._call("POST", "/decisions:batch", {"decisions": asked[start : start + BATCH]})["results"]
            for result in found:
                if result["status"] >= 400:
                    raise error_of(result["problem"])
                answers.append(RemoteAnswer(result["body"], result["status"] == 200))
        return answers

    # ---- what follows

    def label(self, id: str, value: int, *, time: Any = None, by: str = "") -> Any:
        """Send a label; applied once, however often it is sent. Left out, ``by`` is the name of the key."""
        said = _said({"value": check_label(value), "time": _moment(time), "source": by or None})
        return _receipt(self._call("PUT", self._case(id) + "/label", said))

    def correct(self, id: str, value: int, *, time: Any = None, by: str = "") -> Any:
        """Replace a label by another; left out, ``by`` is the name of the key."""
        said = _said({"value": check_label(value), "time": _moment(time), "by": by or None})
        return _receipt(self._call("POST", self._case(id) + "/label/corrections", said))

    def retract(self, id: str, *, by: str = "") -> Any:
        """Withdraw a label as if it had never arrived; left out, ``by`` is the name of the key."""
        who = f"?by={quote(by, safe='')}" if by else ""
        return _receipt(self._call("DELETE", self._case(id) + "/label" + who))

    def expire(self, now: Any = None, *, by: str = "") -> list[str]:
        """Give up waiting for labels that are too late; return the ids. Left out, ``by`` is the name of the key."""
        ids: list[str] = self._call("POST", "/expire", _said({"now": _moment(now), "by": by or None}))["ids"]
        return ids

    def enacted(self, id: str, act: bool, by: str, *, time: Any = None) -> dict[str, Any]:
        """Record what was done, whatever was decided; return the case."""
        said = _said({"act": act, "by": by, "time": _moment(time)})
        case: dict[str, Any] = self._call("PUT", self._case(id) + "/enacted", said)
        return case

    def note(self, id: str, text: str, *, by: str = "") -> int:
        """Write something down about a decision; return the number of the event."""
        seq: int = self._call("POST", self._case(id) + "/notes", _said({"text": text, "by": by or None}))["seq"]
        return seq

    def erase(self, id: str) -> dict[str, Any]:
        """Erase the features of a decision; return the case."""
        case: dict[str, Any] = self._call("DELETE", self._case(id) + "/item")
        return case

    def set_mode(self, mode: str, *, by: str = "", reason: str = "") -> int:
        """Let another mode hold; return the number of the event."""
        seq: int = self._call("POST", "/mode", _said({"mode": mode, "by": by or None, "reason": reason}))["seq"]
        return seq

    def set_costs(self, costs: SomeCosts, *, by: str = "") -> int:
        """Let other costs be the usual ones; return the number of the event."""
        sheet = dict(Costs.of(costs).outcomes())
        seq: int = self._call("POST", "/costs", _said({"costs": sheet, "by": by or None}))["seq"]
        return seq

    def set_words(self, words: str | Mapping[str, str] | Words, *, by: str = "") -> int:
        """Let page, report and exports speak in other words; return the number of the event."""
        said = {"words": Words.of(words).own} | _said({"by": by or None})
        seq: int = self._call("POST", "/words", said)["seq"]
        return seq

    def set_capacity(self, capacity: str | None, *, time_zone: str | None = None, by: str = "") -> int:
        """Let other reviewers be there, ``120/day`` or ``5%`` (None: any number); return the number of the event."""
        said = {"capacity": capacity} | _said({"by": by or None, "time_zone": time_zone})
        seq: int = self._call("POST", "/capacity", said)["seq"]
        return seq

    def set_audit(self, audit: str | None, *, by: str = "") -> int:
        """Let another share of passes be audited, such as ``2%`` (None: none); return the number of the event."""
        seq: int = self._call("POST", "/audit", {"audit": audit} | _said({"by": by or None}))["seq"]
        return seq

    # ---- looking

    def as_dict(self) -> dict[str, Any]:
        """Return what the stream takes, and how it stands."""
        found: dict[str, Any] = self._call("GET", "")
        return found

    @property
    def words(self) -> Words:
        """What the team calls things, as it is now."""
        return Words.of(self.as_dict()["words"])

    @property
    def mode(self) -> str:
        """The mode that holds now."""
        mode: str = self.as_dict()["mode"]
        return mode

    def __len__(self) -> int:
        """Return the number of events."""
        events: int = self.as_dict()["events"]
        return events

    def __bool__(self) -> bool:
        return True

    def __contains__(self, id: object) -> bool:
        try:
            return isinstance(id, str) and bool(self.find(id))
        except UnknownDecisionError:
            return False

    def find(self, id: str) -> dict[str, Any]:
        """Return a decision as it was given, and what became of it."""
        case: dict[str, Any] = self._call("GET", self._case(id))
        return case

    def verify(self) -> str:
        """Let the service fold the record again and compare; ``RecordError`` names the first event that differs."""
        found = self._call("POST", "/verify")
        if not found["verifies"]:
            raise RecordError(found["told"], found["first_difference"] or 0)
        told: str = found["told"]
        return told

    def explain(self, id: str) -> Explanation:
        """Say why an item was acted on or passed."""
        told = self._call("GET", self._case(id) + "/explanation")
        told["reason"] = Reason(**told["reason"])
        told["contributions"] = tuple(Contribution(**part) for part in told["contributions"])
        if told["threshold"] is None:
            told["threshold"] = math.inf
        return Explanation(**told)

    def events(self, after: int = 0, features: bool = True) -> Iterator[tuple[int, Event]]:
        """Give the events behind a number that matter to the log, each with its own."""
        wanted = f"{self._path}/log?from_seq={after + 1}&features={'true' if features else 'false'}"
        for line in self._client.lines(wanted):
            event = event_of(line)
            if event is not None:
                yield line["seq"], event

    def log(self, features: bool | None = None) -> DecisionLog:
        """Return the decision log, one row a decision, as ``at.Stream.log`` makes it."""
        entries = Entries(event for _, event in self.events(features=features is not False))
        whole = all(len(event.decision.x) for event in entries.decided.values())
        if features and not whole:
            raise FeedbackError("the features of some decisions were erased: ask for the log with features=False")
        return table_of(entries, self.as_dict()["policy"], whole if features is None else features)

    def missed(self, *, since: Any = None, until: Any = None) -> Missed:
        """Return what the log says about the positives that were passed (``appletaste.missed``)."""
        return missed(self.log(), since=since, until=until)


def _said(body: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in body.items() if value is not None}


def _moment(time: Any) -> float | str | None:
    """Return a time as the service takes it, or say that it is none."""
    instant(time)
    return written(time)


def _receipt(told: dict[str, Any]) -> Any:
    from ..streams.answers import LabelReceipt

    return LabelReceipt(**told)


def _cell(value: Any) -> Any:
    """Return a cell of a record as JSON holds it; NaN is a missing value."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float | date) and value != value:  # NaN, and pandas' NaT
        return None
    return value.isoformat() if hasattr(value, "isoformat") else value


def _asked(
    item: Any, id: str | None, time: Any, stratum: str | None, costs: SomeCosts | None, baseline: bool | None
) -> dict[str, Any]:
    """Return an item as the service takes it; without an id it is given one, so that it can be sent again."""
    if isinstance(item, Mapping):
        cells: Any = {str(name): _cell(value) for name, value in item.items()}
    else:
        try:
            cells = np.asarray(item, dtype=np.float64).tolist()
        except (TypeError, ValueError):
            raise InputError(f"an item is a record (a dict of columns) or a list of numbers, got {item!r}") from None
    if costs is not None and not isinstance(costs, Costs | Mapping):
        raise InputError(f"costs must be an appletaste.Costs or a dict of outcomes, got {type(costs).__name__}")
    sheet = None if costs is None else costs.outcomes() if isinstance(costs, Costs) else dict(costs)
    said = {"id": uuid.uuid4().hex if id is None else id, "item": cells, "time": _moment(time)}
    return _said({**said, "stratum": stratum, "costs": sheet, "baseline": baseline})


def event_of(line: Mapping[str, Any]) -> Event | None:
    """Return a line of the log as an event; None: one that no decision log needs."""
    kind = KINDS[line["kind"]]
    if kind is Decided:
        numbers: dict[str, Any] = {name: math.nan if line[name] is None else line[name] for name in _NO_NUMBER}
        why = {name: math.nan if value is None else value for name, value in line["why"].items()}
        sheet, x = Costs.of_item(**line["costs"]), np.array(line.get("x", ()), dtype=np.float64)
        same: dict[str, Any] = {name: line[name] for name in ("act", "probability", "round", "audit", "spent")}
        decision = Decision(x=x, costs=sheet, why=why, **same, **numbers)
        return Decided(line["id"], decision, line["time"], line["stratum"])
    if not line.get("id") or kind._fields[0] != "id" or "anchor" in kind._fields:
        return None
    event: Event = kind(**{name: line[name] for name in kind._fields if name in line})
    return event
