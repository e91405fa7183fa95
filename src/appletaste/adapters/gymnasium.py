"""A Gymnasium environment: items come one after another, an act shows the label, a pass shows nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .._sparse import SparseRows
from ..costs import Costs, SomeCosts
from ..errors import InputError, MissingExtraError, OptionError
from ..features.defaults import chosen_encoder, default_encoder
from ..history.labelled import encode, read_labelled
from ..keys import Key
from ..policies.items import usual_costs
from ..problems import Problem, Table
from ..problems import problem as problem_named

try:
    import gymnasium
    from gymnasium import spaces
except ImportError:
    raise MissingExtraError("a Gymnasium environment", "gymnasium") from None

ENVIRONMENT = "appletaste/AppleTasting-v0"
#: No feature is larger: policies and feature maps refuse what is.
LARGEST = 1e100
UNSEEN = -1


class AppleTastingEnv(gymnasium.Env):  # type: ignore[misc]
    """Act (1) or pass (0), one item at a time, until the stream ends.

    The observation is ``{"item": features of the item at hand, "label": label of the item before}``; the label is -1
    where that item was passed, and at the start. The reward is what acting brought over passing, both of which the
    agent sees: ``catch_gain`` for an act on a positive, ``-alarm_price`` for an act on a negative, 0 for a pass. It is
    minus the loss up to what passing everything costs, which no agent can change, so that maximising one minimises the
    other, and a pass says nothing of its label. What nobody sees is in ``info`` alone, for evaluation:
    ``hidden_loss``, the cost incurred, and ``hidden_regret``, its expectation above that of the best action.

    Parameters
    ----------
    problem
        A name, ``"i"`` with ``**settings`` as in ``appletaste.problem``, a problem, or a ``Table``. ``reset(seed=s)``
        draws the table of ``Key(s)``; a ``Table`` is the same in every episode.
    shuffle
        Put the items of a ``Table`` in an order of their own in every episode.

    Examples
    --------
    >>> import gymnasium
    >>> import appletaste.adapters.gymnasium  # registers the name
    >>> env = gymnasium.make("appletaste/AppleTasting-v0", problem="i", rounds=3)
    >>> observation, info = env.reset(seed=7)
    >>> observation["item"].shape, int(observation["label"])
    ((5,), -1)
    >>> observation, reward, terminated, truncated, info = env.step(0)
    >>> reward, int(observation["label"]), info["hidden_loss"] in (0.0, 1.0)
    (0.0, -1, True)
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": []}

    def __init__(self, problem: str | Problem | Table = "synthetic", *, shuffle: bool = False, **settings: Any) -> None:
        if settings and not isinstance(problem, str):
            raise OptionError(
                f"{sorted(settings)[0]} is a setting for a problem given by its name, got a problem object"
            )
        if shuffle and not isinstance(problem, Table):
            raise OptionError("shuffle is for a Table: a problem draws new items in every episode")
        self.problem = problem_named(problem, **settings) if isinstance(problem, str) else problem
        self.shuffle = shuffle
        self.table = self._draw(0)
        self.round = self.table.rounds  # over, until it is reset
        features = (self.table.n_features,)
        self.action_space = spaces.Discrete(2)
        self.observation_space = spaces.Dict(
            {
                "item": spaces.Box(-LARGEST, LARGEST, features, np.float64),
                "label": spaces.Discrete(3, start=UNSEEN),
            }
        )

    @property
    def costs(self) -> Costs:
        """The costs of the problem at hand."""
        return self.table.costs

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Begin an episode; the seed sets which table is drawn, and without a seed the next table is drawn."""
        super().reset(seed=seed)
        self.table = self._draw(int(self.np_random.integers(2**63)) if seed is None else seed)
        self.round = 0
        return self._observation(UNSEEN), {}

    def step(self, action: int) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        """Act or pass, and go on to the next item; after the last one comes an item of zeros."""
        table, t = self.table, self.round
        if t >= table.rounds:
            raise gymnasium.error.ResetNeeded("the stream has ended or has not begun: call reset()")
        if not self.action_space.contains(action):
            raise InputError(f"an action is 0 (pass) or 1 (act), got {action!r}")
        act, label = bool(action), int(table.labels[t])
        reward = 0.0
        if act:
            reward = table.costs.catch_gain if label else -table.costs.alarm_price
        hidden = {
            "hidden_loss": table.costs.incurred(act, label),
            "hidden_regret": table.costs.regret(act, float(table.chances[t])),
        }
        self.round = t + 1
        return self._observation(label if act else UNSEEN), reward, self.round == table.rounds, False, hidden

    def _observation(self, label: int) -> dict[str, Any]:
        over = self.round == self.table.rounds
        item = np.zeros(self.table.n_features) if over else self.table.items[self.round].copy()
        return {"item": item, "label": np.int64(label)}

    def _draw(self, seed: int) -> Table:
        if not isinstance(self.problem, Table):
            return self.problem.draw(Key(seed))
        return _ordered(self.problem, Key(seed).generator().permutation(self.problem.rounds) if self.shuffle else None)


def _ordered(table: Table, order: NDArray[np.int64] | None) -> Table:
    if order is None:
        return table
    return replace(table, items=table.items[order], chances=table.chances[order], labels=table.labels[order])


def labelled_table(source: Any, label: str | None, costs: SomeCosts, encoder: Any = None, **reading: Any) -> Table:
    """Return a user's labelled file or data frame as the ``Table`` of an environment, encoded as ``replay`` does.

    Its chances are the labels themselves, so that ``hidden_regret`` is the loss above that of hindsight.

    Examples
    --------
    >>> from appletaste import Costs, Encoder
    >>> cases = {"amount": [3.0, 1.0, 2.0], "kind": ["a", "b", "a"], "fraud": [1, 0, 0]}
    >>> table = labelled_table(cases, "fraud", Costs(miss=5, false_alarm=1, hit=0), Encoder())
    >>> AppleTastingEnv(table).reset()[0]["item"].shape
    (5,)
    """
    stream = read_labelled(source, label, **reading)
    items, _, _ = encode(chosen_encoder(encoder, default_encoder(stream.records, shuffled=False)), stream.records)
    if isinstance(items, SparseRows):
        items = items.dense()
    return Table(stream.records.source, items, stream.labels.astype(np.float64), stream.labels, usual_costs(costs))


if ENVIRONMENT not in gymnasium.registry:
    gymnasium.register(id=ENVIRONMENT, entry_point="appletaste.adapters.gymnasium:AppleTastingEnv")
