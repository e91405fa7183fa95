"""Labels that are on their way: bought, not yet seen, and not to be bought again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..kernels import gaussian as kernels
from ..kernels import strangers
from .belief import Arrays, Doubt, Vector
from .scores import NormalScore

if TYPE_CHECKING:
    from .gaussian import GaussianBelief
    from .wide import WideBelief

#: Labels that may arrive before the covariance is computed afresh, in two passes over it for each item that waits.
EVERY = 64


class Waiting:
    """The items that wait for their label, and the covariance as it will be once those are seen.

    A label not yet seen cannot move the mean, but how much it will shrink the covariance hardly depends on what it
    says: V_w = (V^-1 + sum_j w_j x_j x_j')^-1 over the items that wait, w_j = p_j (1 - p_j) with p_j = E sigma(z_j) by
    MacKay's formula sigma(f / sqrt(1 + pi v / 8)). Scores keep the mean and take their variance and direction from
    V_w, so that nothing is paid twice for one piece of knowledge (Desautels, Krause & Burdick 2014 do so for Gaussian
    processes). An act takes one step of rank one; when its label arrives, the real information takes the place of the
    expected, and V_w stays until it is computed afresh.

    The labels that arrive first may be of another kind than those to come. So the items that wait, and those whose
    labels are known, are kept as crowds, and a score says how far its item is a stranger (``kernels.strangers``).
    """

    def __init__(self, belief: GaussianBelief | WideBelief) -> None:
        self.belief = belief
        #: Whether items may be strangers; streams of old know none.
        self.strangers = True
        #: What waits, by its round.
        self.items: dict[int, Vector] = {}
        self._awaited = np.zeros_like(belief.matrix)  # laid out as a belief, for its kernels: V_w in the place of V
        self._direction = self._awaited[kernels.DIRECTION]
        self._aside = np.zeros_like(belief.matrix)  # V_w for those who only ask
        self._doubted: tuple[Doubt, Vector, Doubt] | None = None  # asked for last: making one takes a microsecond
        self._fresh = False
        self._seen = 0
        self._fades = belief.fades
        self._width = belief.matrix.shape[1]  # of items
        self._crowd, self._crowd_aside = self._no_crowd(), self._no_crowd()  # of what waits, as old as V_w is
        self._known, self._counted = self._no_crowd(), 0  # of the labels, as far as they are counted

    def _no_crowd(self) -> Vector:
        """Return a crowd of nobody."""
        return np.zeros((2, len(self._plain(self.belief.mean)) + 1))

    def _plain(self, x: Vector) -> Vector:
        """Return the places of an item that hold quantities."""
        return x

    def _labelled(self) -> Vector:
        """Return the crowd of the labels known; to a belief that keeps none nobody is a stranger."""
        labels = self.belief.labels
        if labels is not None and labels.n > self._counted and self.strangers:
            strangers.join_labels(labels.features, self._counted, labels.n, self._known)
            self._counted = labels.n
        return self._known

    def crowds(self) -> tuple[Vector, Vector]:
        """Return the crowd of the labels known, and that of what waits with V_w as it is."""
        return self._labelled(), self._crowd

    def __len__(self) -> int:
        return len(self.items)

    def add(self, key: int, x: Vector) -> None:
        """Note that the label of x is on its way."""
        self.hold(key, x)
        if self._fresh:
            kernels.expect_awaiting(x, *self.belief.link, self.belief.matrix, self._awaited)
            strangers.join(x, self._crowd)

    def hold(self, key: int, x: Vector) -> None:
        """Keep an item whose label is on its way; V_w has taken its step, or takes it elsewhere."""
        self.items[key] = x if x.base is None else x.copy()  # a row would keep its whole table

    def remove(self, key: int) -> None:
        """Note that a label has arrived, or never will."""
        if self.items.pop(key, None) is not None:
            self._seen += 1
            if self._seen >= EVERY or not self.items:
                self._fresh = False

    def stand_on(self, belief: GaussianBelief | WideBelief) -> None:
        """Go on from another belief, one that has learnt the labels anew.

        Where its items are longer, whoever has made them so must ``put`` those that wait.
        """
        if belief is not self.belief:
            self.belief, self._fresh = belief, False
            self._known, self._counted = self._no_crowd(), 0
            if self._awaited.shape != belief.matrix.shape:
                self._awaited, self._aside = np.zeros_like(belief.matrix), np.zeros_like(belief.matrix)
                self._direction, self._width = self._awaited[kernels.DIRECTION], belief.matrix.shape[1]
                self._crowd, self._crowd_aside = self._no_crowd(), self._no_crowd()

    def put(self, items: Vector) -> None:
        """Take the items that wait in another form, in their order."""
        self.items = dict(zip(self.items, np.ascontiguousarray(items), strict=True))

    @property
    def current(self) -> bool:
        """Whether V_w is that of the belief as it has faded by now."""
        return self._fresh and self._fades == self.belief.fades

    def arrays(self) -> Arrays:
        """Return what is on its way and V_w, for saving."""
        awaited = self._awaited.copy()
        awaited[[kernels.MEAN, kernels.DIRECTION]] = 0.0  # of whoever asked last
        return {
            "rounds": np.array(list(self.items), dtype=np.int64),
            "items": np.array(list(self.items.values()), dtype=np.float64).reshape(-1, self._width),
            "awaited": awaited,
            **({"crowd": self._crowd.copy()} if self.strangers else {}),
            "progress": np.array([self.current, self._seen], dtype=np.int64),
        }

    def restore(self, arrays: Arrays) -> None:
        """Take back what ``arrays`` returned."""
        items = np.ascontiguousarray(arrays["items"], dtype=np.float64)
        self.items = dict(zip(arrays["rounds"].tolist(), items, strict=True))
        self._awaited[:], self._crowd[:] = arrays["awaited"], arrays.get("crowd", 0.0)  # streams of old have none
        fresh, self._seen = arrays["progress"].tolist()
        self._fresh, self._fades = bool(fresh), self.belief.fades

    def score(self, x: Vector) -> NormalScore:
        """Return how the score of x will be distributed about today's mean once the labels on their way are seen.

        Asking leaves no trace: where V_w is due to be computed afresh, that is done aside, and ``settle`` does it.
        """
        belief = self.belief.matrix
        if self._fresh and self._fades == self.belief.fades:
            awaited, direction, crowd = self._awaited, self._direction, self._crowd
        else:
            awaited = self._now()
            direction, crowd = awaited[kernels.DIRECTION], self._crowd_aside
        mean, variance = kernels.score_awaiting(x, belief, awaited)
        stranger = strangers.strange_item(x, belief, variance, self._labelled(), crowd)
        return NormalScore(mean, variance, direction, self._doubt(awaited), stranger)

    def doubt_of_all(self) -> Doubt | None:
        """Return what it takes to ask for surprises with V_w as it is; None: there are none, or V_w is due afresh."""
        return self._doubt(self._awaited) if self.current else None

    def _doubt(self, awaited: Vector) -> Doubt | None:
        """Return what it takes to ask for surprises: how likely one is says what was seen, how much is open V_w."""
        doubt, known = self.belief.doubt, self._doubted
        if doubt is None:
            return None
        if known is None or known[0] is not doubt or known[1] is not awaited:
            self._doubted = known = doubt, awaited, doubt._replace(awaited=awaited)
        return known[2]

    def covariance(self) -> Vector:
        """Return V_w."""
        return np.array(self._now()[kernels.COVARIANCE :])

    def settle(self) -> None:
        """Compute V_w afresh if that is due; to be called when a decision is made, before its act is added."""
        if not (self._fresh and self._fades == self.belief.fades):  # ``current`` without a call: for every decision
            self._compute(self._awaited)
            self._fresh, self._seen, self._fades = True, 0, self.belief.fades

    def _now(self) -> Vector:
        """Return V_w as it is, or as it would be if it were computed afresh now."""
        if self.current:
            return self._awaited
        self._compute(self._aside)
        return self._aside

    def _compute(self, awaited: Vector) -> None:
        """Compute V_w from the belief, one item that waits after another."""
        awaited[:] = self.belief.matrix
        items = np.array(list(self.items.values()), dtype=np.float64).reshape(-1, awaited.shape[1])
        kernels.expect_many(items, *self.belief.link, awaited)
        strangers.join_many(items, self._emptied(awaited))

    def _emptied(self, awaited: Vector) -> Vector:
        """Return the crowd that belongs to V_w, or to the one aside, of nobody."""
        crowd = self._crowd if awaited is self._awaited else self._crowd_aside
        crowd[:] = 0.0
        return crowd
