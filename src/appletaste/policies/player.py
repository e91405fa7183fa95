"""What decides and learns: one way to be asked, for a policy and for what stands around one; one thread at a time."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from os import PathLike
from threading import get_ident
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._files import write_archive
from ..costs import Costs, SomeCosts
from ..decision import Decision
from ..errors import InputError, ThreadsError
from ..posteriors import Arrays
from ..rules import Verdict
from ..times import instant
from .items import check_costs, check_item

if TYPE_CHECKING:
    from ..features import FeatureMap
    from .policy import Policy


class Alone:
    """A door for one thread at a time; a thread that is inside may go through again.

    ``user`` is looked at and set with no call in between, where CPython would change threads. A ``with`` takes 0.2 us;
    verbs of every round say the same by ``enter``, which takes 0.07 us, and half of what a lock takes.

    Examples
    --------
    >>> alone = Alone("policy")
    >>> with alone, alone:
    ...     print("inside")
    inside
    >>> before = alone.enter()
    >>> try:
    ...     print("inside")
    ... finally:
    ...     alone.user = before
    inside
    """

    __slots__ = ("_before", "user", "what")

    def __init__(self, what: str) -> None:
        self.what = what
        self.user = 0  #: the thread that is inside; 0: none is
        self._before: list[int] = []

    def enter(self) -> int:
        """Go inside and return what ``user`` is to be on the way out."""
        me = get_ident()
        user = self.user
        if user and user != me:
            raise self._refusal()
        self.user = me
        return user

    def __enter__(self) -> None:
        before = self.enter()
        self._before.append(before)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.user = self._before.pop()

    def _refusal(self) -> ThreadsError:
        """Return what a second thread is told."""
        return ThreadsError(
            f"another thread is using this {self.what} right now, and a {self.what} is for one thread at a time: put a "
            f"lock around every use of it (with lock: ...), or give each thread a {self.what} of its own"
        )

    def __reduce__(self) -> tuple[type[Alone], tuple[str]]:
        return type(self), (self.what,)  # a copy has a door of its own


#: The version of saved files, whatever they hold (docs/save-format.md).
FORMAT = 8


class Prospect(NamedTuple):
    """An item that was looked at: what is known of it before it is decided, and all that deciding it takes.

    It is a value: other items may be looked at, and decided, before this one is.
    """

    x: NDArray[np.float64]
    costs: Costs  #: without any price
    probability: float  #: of acting, before any floor
    chance: float  #: the model's P(positive); NaN: there is no model
    worth: float  #: up to which price acting pays: saving now plus value of the label; 0: not known
    why: dict[str, float]
    verdict: Verdict
    round: int  #: that the item would be decided in if it were the next
    time: float | None = None
    stratum: str | None = None
    floor: float = 0.0  #: of the audit lane
    price: float = math.nan  #: the shadow price of a review; NaN: there is no budget
    spent: bool = False  #: the budget is used up

    @property
    def acting(self) -> float:
        """The probability with which the item would be acted on."""
        return max(self.probability, self.floor)


class Player(ABC):
    """What plays a stream: a ``Policy``, an ``Awaiting`` or a ``Desk``.

    ``decide`` is three steps, and there is room for a write between the second and the third: ``look`` judges an item
    and changes nothing, ``draw`` makes the decision of it and changes nothing either, ``commit`` carries on. A decision
    that was drawn elsewhere and is read back from a record can be committed as well. ``look`` is the door, where an
    item is checked once; behind it each player asks the one that it stands around by ``see``.
    """

    @property
    @abstractmethod
    def policy(self) -> Policy:
        """The policy itself, whatever stands around it."""

    @abstractmethod
    def see(
        self, x: NDArray[np.float64], costs: Costs, now: float | None, stratum: str | None, price: float
    ) -> Prospect:
        """Return what ``look`` does, of an item that was checked; by position, which takes 0.1 us less a call."""

    @abstractmethod
    def draw(self, prospect: Prospect) -> Decision:
        """Return the decision on an item that was looked at, as it falls if it is the next; changes nothing."""

    @abstractmethod
    def commit(self, prospect: Prospect, decision: Decision) -> None:
        """Carry on after a decision on an item that was looked at."""

    def play(self, x: NDArray[np.float64], costs: Costs, now: float | None, stratum: str | None) -> Decision:
        """Decide on an item that was checked and carry on: ``see``, ``draw`` and ``commit`` with nothing in between.

        For whoever has made sure that no other thread is inside (``Alone``).
        """
        return self.settle(self.see(x, costs, now, stratum, 0.0))

    def play_many(self, items: Sequence[NDArray[np.float64]], costs: Costs) -> list[Decision] | None:
        """Decide on the first of some items that were checked and carry on, to the bit as ``play`` does in turn.

        Returns as many decisions as can be made now, one at least: ask again for the other items. For players to whom
        times and strata do not matter. None: play them one by one; nothing has changed.
        """
        return None

    @abstractmethod
    def learn(self, decision: Decision, label: int) -> None:
        """Learn the label of an acted-on item, now or later, in any order; a pass raises."""

    @abstractmethod
    def revise(self, changes: Iterable[tuple[Decision, int | None]]) -> None:
        """Correct (or, with None, retract) many labels at the price of one: all labels are learnt again once."""

    @abstractmethod
    def header(self) -> dict[str, Any]:
        """Return the settings as JSON, for saving; ``kind`` says what they are of."""

    @abstractmethod
    def arrays(self) -> Arrays:
        """Return all that is carried, for saving."""

    def look(
        self,
        x: ArrayLike,
        *,
        costs: SomeCosts | None = None,
        time: Any = None,
        stratum: str | None = None,
        price: float = 0.0,
    ) -> Prospect:
        """Return what is known of an item before it is decided, if acting costs ``price`` more; changes nothing."""
        item, sheet, now = self._asked(x, costs, time)
        alone = self.policy.alone
        before = alone.enter()
        try:
            return self.see(item, sheet, now, stratum, price)
        finally:
            alone.user = before

    def decide(
        self, x: ArrayLike, *, costs: SomeCosts | None = None, time: Any = None, stratum: str | None = None
    ) -> Decision:
        """Decide on one item, with exactly the probability that is recorded; ``costs`` are of this item alone.

        ``time`` is for what forgets by the time and for budgets per day, ``stratum`` for audit floors by stratum.
        """
        item, sheet, now = self._asked(x, costs, time)
        with self.policy.alone:
            return self.play(item, sheet, now, stratum)

    def _asked(
        self, x: ArrayLike, costs: SomeCosts | None, time: Any
    ) -> tuple[NDArray[np.float64], Costs, float | None]:
        """Return an item, its costs and its time as they are judged, or say what is wrong with them."""
        policy = self.policy
        item = check_item(x, policy.n_features, policy.slots)
        sheet = policy.costs if costs is None else check_costs(costs, policy.costs)
        return item, sheet, None if time is None else instant(time)

    def settle(self, prospect: Prospect) -> Decision:
        """Decide on an item that was looked at: draw and commit."""
        decision = self.draw(prospect)
        self.commit(prospect, decision)
        return decision

    def probability(
        self, x: ArrayLike, *, costs: SomeCosts | None = None, time: Any = None, stratum: str | None = None
    ) -> float:
        """Return the probability with which ``decide`` would act on x now, or at a time; asking changes nothing."""
        return self.look(x, costs=costs, time=time, stratum=stratum).acting

    def chance(self, x: ArrayLike) -> float:
        """Return the model's P(positive) of an item; NaN from a policy without a model."""
        return self.look(x).chance

    def room(self, time: Any = None) -> int | None:
        """Return how many acts the caps still allow at a time; None: there is no cap."""
        return None

    def teach(self, x: ArrayLike, label: int, *, time: Any = None) -> None:
        """Learn a label that is known from elsewhere, for an item that was not decided here."""
        self.policy.teach(x, label, time=time)

    def give_up(self, decision: Decision) -> None:  # noqa: B027 (nothing is waited for)
        """Wait no longer for the label of a decision."""

    def enact(self, decision: Decision, act: bool) -> None:
        """Take note that somebody acted, or passed, whatever the decision was; then its label is due, or is not.

        The label of such an act is learnt from ``decision._replace(act=True)``. Budgets keep counting what was decided.
        """
        self.policy.enact(decision, act)

    def correct(self, decision: Decision, label: int) -> None:
        """Replace the label learnt for a decision: the posterior is the one that the right label would have given."""
        self.revise([(decision, label)])

    def retract(self, decision: Decision) -> None:
        """Remove the label learnt for a decision, as if it had never arrived."""
        self.revise([(decision, None)])

    def save(self, path: str | PathLike[str], features: FeatureMap | None = None) -> None:
        """Write everything that is carried to a file; ``appletaste.load`` continues bit for bit.

        The map that makes the vectors can be kept in the same file; ``FeatureMap.load`` reads it from there.
        """
        write_archive(path, *with_features(self.header(), self.arrays(), features, self.policy.n_features))


def with_features(
    header: dict[str, Any], state: Arrays, features: FeatureMap | None, n_features: int
) -> tuple[dict[str, Any], Arrays]:
    """Return header and arrays of a saved file, with those of a feature map beside them if there is one."""
    header = {"format": FORMAT, **header}
    if features is None:
        return header, state
    if features.n_features != n_features:
        raise InputError(f"this map gives vectors of {features.n_features} features, the policy takes {n_features}")
    described = features.header()  # first: a map that cannot be saved says so
    kept = {f"features.{name}": array for name, array in features.arrays().items()}
    return {**header, "features": described}, {**state, **kept}


def part_of(state: Arrays, name: str) -> Arrays:
    """Return the arrays of one part of a saved file: those named ``name.something``, by something."""
    return {key[len(name) + 1 :]: array for key, array in state.items() if key.startswith(f"{name}.")}


def named(name: str, state: Arrays) -> Arrays:
    """Return arrays under the name of the part that they belong to."""
    return {f"{name}.{key}": array for key, array in state.items()}
