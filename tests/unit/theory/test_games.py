"""Games: known classes, an exact brute-force check on random games, observer vectors, and wrong input."""

import json
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from appletaste import Costs
from appletaste.errors import CostsError, InputError, MissingExtraError
from appletaste.theory import KNOWN_GAMES, Game, analyse, read_game
from appletaste.theory import cells as cells_module
from appletaste.theory.classify import RATES, explain, without_extras
from appletaste.theory.known_games import apple_tasting, dynamic_pricing, matching_pennies
from appletaste.theory.measurements import game_tables


@pytest.mark.parametrize("name", KNOWN_GAMES)
def test_known_games_have_the_class_of_the_literature(name):
    known = KNOWN_GAMES[name]
    found = analyse(known.make())
    assert found.class_ == known.class_
    assert found.rate == RATES[known.class_]
    assert known.source
    for pair in found.pairs:
        assert reconstructs(found.game, pair)


def reconstructs(game, pair, bend=0.0):
    """Whether the observer vectors give back the loss difference, from the signal matrices and nothing else."""
    difference = game.losses[pair.first] - game.losses[pair.second]
    if pair.observers is None:
        return not pair.observable
    if pair.local and not set(pair.observers) <= set(pair.neighbourhood):
        return False
    total = sum(game.signals(a).T @ (v + bend) for a, v in pair.observers.items())
    return np.allclose(total, difference, atol=1e-9)


def test_observer_vectors_that_are_bent_do_not_pass():
    found = analyse(apple_tasting())
    assert not reconstructs(found.game, found.pairs[0], bend=1e-3)


def test_observers_are_the_shortest():
    """The pseudo-inverse pair of apple tasting, as run: v_pass = (1 - l11 - l01) / 3."""
    l01, l11 = 0.4, 0.05
    pair = analyse(apple_tasting(Costs(miss=1, false_alarm=l01, hit=l11))).pairs[0]
    v = (1 - l11 - l01) / 3
    np.testing.assert_allclose(pair.observers[0], [v])
    np.testing.assert_allclose(pair.observers[1], [-l01 - v, 1 - l11 - v])


@pytest.mark.parametrize("costs", [(1, 0.4, 0.05), (0.4, 1, 0.05), (1, 1, 0), (5, 1, -2), (1, 1e-6, 0), (1, 1e6, 0)])
def test_apple_tasting_is_easy_whatever_it_costs(costs):
    assert analyse(apple_tasting(Costs(*costs))).class_ == "easy"


def test_costs_that_leave_no_decision_are_a_trivial_game():
    with pytest.raises(CostsError):
        Costs(miss=1, false_alarm=1, hit=2)
    assert analyse(Game([[0, 1], [1, 2]], [["-", "-"], ["n", "p"]])).class_ == "trivial"


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_class_does_not_depend_on_units(scale):
    for known in KNOWN_GAMES.values():
        game = known.make()
        shifts = np.arange(game.losses.shape[1])  # what an outcome costs whatever one does
        moved = Game((scale * (game.losses + shifts)).tolist(), game.feedback)
        assert analyse(moved).class_ == known.class_


@pytest.mark.parametrize(
    ("price", "class_"),
    [(-1, "trivial"), (0, "trivial"), (0.01, "easy"), (0.49, "easy"), (0.5, "easy"), (0.51, "hard")],
)
def test_matching_pennies_as_the_price_of_looking_rises(price, class_):
    assert analyse(matching_pennies(look=price)).class_ == class_


@pytest.mark.parametrize("prices", [3, 5, 6])
def test_dynamic_pricing_is_hard_with_any_number_of_prices(prices):
    assert analyse(dynamic_pricing(prices)).class_ == "hard"


def test_degenerate_and_duplicate_actions_matter():
    for name in ("spam-fair", "copied-action", "dueling-bandits"):
        game = KNOWN_GAMES[name].make()
        assert analyse(game).class_ == "easy"
        assert analyse(without_extras(game)).class_ == "hopeless"
    assert without_extras(apple_tasting()) is None


def test_small_games():
    assert analyse(Game([[3]], [["x"]])).class_ == "trivial"
    assert analyse(Game([[3], [3], [4]], [[1], [2], [3]])).cells.kinds == ("pareto-optimal",) * 2 + ("dominated",)
    twice = analyse(Game([[0, 1]] * 2, [["a", "b"]] * 2))
    assert twice.class_ == "trivial"
    assert twice.cells.copies == ((1,), (0,))


# --- brute force: cells by their vertices, in fractions, with no linear program ---


def solve(rows, right):
    """The one solution of a square system in fractions, or None."""
    n = len(rows)
    m = [[*map(Fraction, row), Fraction(b)] for row, b in zip(rows, right, strict=True)]
    for c in range(n):
        pivot = next((r for r in range(c, n) if m[r][c] != 0), None)
        if pivot is None:
            return None
        m[c], m[pivot] = m[pivot], m[c]
        m[c] = [value / m[c][c] for value in m[c]]
        for r in range(n):
            if r != c and m[r][c] != 0:
                m[r] = [a - m[r][c] * b for a, b in zip(m[r], m[c], strict=True)]
    return tuple(row[-1] for row in m)


def corners(loss):
    """Every point of the simplex where enough of u_i = 0 and l_a'u = l_b'u meet."""
    outcomes = len(loss[0])
    lines = [[int(i == j) for j in range(outcomes)] for i in range(outcomes)]
    lines += [[x - y for x, y in zip(a, b, strict=True)] for a, b in combinations(loss, 2)]
    found = set()
    for chosen in combinations(lines, outcomes - 1):
        point = solve([[1] * outcomes, *chosen], [1] + [0] * (outcomes - 1))
        if point and min(point) >= 0:
            found.add(point)
    return found


def dimension(points):
    points = sorted(points)
    if not points:
        return -1
    return int(
        np.linalg.matrix_rank(np.array([[float(a - b) for a, b in zip(p, points[0], strict=True)] for p in points]))
    )


def brute_force(loss, feedback, *, whole_neighbourhood=True):
    """Kinds, neighbours and class from the definitions."""
    outcomes, count = len(loss[0]), len(loss)
    places = corners(loss)
    cost = {u: [sum(x * w for x, w in zip(row, u, strict=True)) for row in loss] for u in places}
    cells = [{u for u in places if cost[u][a] == min(cost[u])} for a in range(count)]
    sizes = [dimension(cell) for cell in cells]
    kinds = tuple("pareto-optimal" if s == outcomes - 1 else "degenerate" if s >= 0 else "dominated" for s in sizes)
    first = [a for a in range(count) if kinds[a] == "pareto-optimal" and loss[a] not in loss[:a]]
    pairs = [(a, b) for a, b in combinations(first, 2) if dimension(cells[a] & cells[b]) == outcomes - 2]

    def seen(actions, difference):
        rows = [[int(s == t) for t in feedback[a]] for a in actions for s in sorted(set(feedback[a]))]
        return np.linalg.matrix_rank(np.array(rows)) == np.linalg.matrix_rank(np.array([*rows, difference]))

    local = far = True
    for a, b in pairs:
        near = [c for c in range(count) if cells[a] & cells[b] <= cells[c]] if whole_neighbourhood else [a, b]
        difference = [x - y for x, y in zip(loss[a], loss[b], strict=True)]
        local, far = local and seen(near, difference), far and seen(range(count), difference)
    class_ = "trivial" if not pairs else "easy" if local else "hard" if far else "hopeless"
    return kinds, pairs, class_


def random_games(count, seed=20):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        outcomes, actions = int(rng.integers(2, 4)), int(rng.integers(2, 6))
        top, symbols = int(rng.integers(2, 5)), int(rng.integers(1, 4))
        loss = 2 * rng.integers(0, top, (actions, outcomes))
        feedback = rng.integers(0, symbols, (actions, outcomes))
        if rng.random() < 0.4:  # an action halfway between two others, or a copy, that shows all; the others nothing
            a, b = rng.integers(0, actions, 2)
            loss = np.vstack([loss, (loss[a] + loss[b]) // 2])
            feedback = np.vstack([0 * feedback, np.arange(outcomes)])
        yield loss.tolist(), feedback.tolist()


def test_random_games_agree_with_brute_force():
    """Small whole losses make ties, degenerate and duplicate actions common; they are decided in fractions."""
    classes, extras, misled = {}, 0, 0
    for loss, feedback in random_games(400):
        found = analyse(Game(loss, feedback))
        kinds, pairs, class_ = brute_force(loss, feedback)
        assert found.cells.kinds == kinds, loss
        assert [(pair.first, pair.second) for pair in found.pairs] == pairs, loss
        assert found.class_ == class_, (loss, feedback)
        assert all(reconstructs(found.game, pair) for pair in found.pairs)
        classes[class_] = classes.get(class_, 0) + 1
        extras += "degenerate" in kinds or any(found.cells.copies)
        # control: a check that forgets the degenerate and duplicate actions on a border must be caught
        misled += brute_force(loss, feedback, whole_neighbourhood=False)[2] != class_
    assert min(classes[name] for name in RATES) >= 10, classes
    assert extras >= 100
    assert misled >= 5


def test_every_action_best_somewhere_on_a_fine_grid_is_pareto_optimal():
    grid = np.array([(i, j, 60 - i - j) for i in range(1, 60) for j in range(1, 60 - i)]) / 60
    strict = 0
    for loss, feedback in random_games(120, seed=21):
        if len(loss[0]) != 3:
            continue
        kinds = analyse(Game(loss, feedback)).cells.kinds
        costs = grid @ np.array(loss).T
        for a in range(len(loss)):
            others = [b for b in range(len(loss)) if loss[b] != loss[a]]
            ahead = (costs[:, others].min(axis=1) - costs[:, a] > 1e-9).any() if others else True
            strict += ahead
            assert kinds[a] == "pareto-optimal" or not ahead
    assert strict > 100


def test_words_say_what_to_do():
    assert "nothing to learn" in explain(analyse(KNOWN_GAMES["trivial"].make()))[0]
    assert "'ask' just to look" in " ".join(explain(analyse(KNOWN_GAMES["label-efficient"].make())))
    assert "never pay" in explain(analyse(KNOWN_GAMES["matching-pennies-blind"].make()))[0]
    tasting = " ".join(explain(analyse(apple_tasting())))
    assert "Look at what 'act' shows" in tasting
    assert "'pass' shows nothing" in tasting


def test_description_is_json_and_tables_are_text():
    for known in KNOWN_GAMES.values():
        found = analyse(known.make()).as_dict()
        assert json.loads(json.dumps(found)) == found
        assert {"class", "rate", "actions", "neighbours", "observer_vectors"} <= set(found)
        for table in game_tables(found):
            assert all(
                len(row) == len(table.header) and all(isinstance(cell, str) for cell in row) for row in table.rows
            )


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("{", "is not JSON"),
        ("[]", "must hold an object"),
        ('{"loss": [[1]]}', "has no 'feedback'"),
        ('{"loss": [[1]], "feedback": [[1]], "rate": 2}', "has 'rate'"),
        ('{"loss": [[1, 2], [1]], "feedback": [[1, 1], [1, 1]]}', "different lengths"),
        ('{"loss": [], "feedback": []}', "loss is empty"),
        ('{"loss": [[]], "feedback": [[]]}', "loss is empty"),
        ('{"loss": 3, "feedback": [[1]]}', "list of rows"),
        ('{"loss": [[1, 2]], "feedback": [[1], [2]]}', "1 x 2 and feedback 2 x 1"),
        ('{"loss": [[NaN]], "feedback": [[1]]}', "must be finite"),
        ('{"loss": [[Infinity]], "feedback": [[1]]}', "must be finite"),
        ('{"loss": [["1"]], "feedback": [[1]]}', "must be a number"),
        ('{"loss": [[true]], "feedback": [[1]]}', "must be a number"),
        ('{"loss": [[1]], "feedback": [[NaN]]}', "text or a number"),
        ('{"loss": [[1]], "feedback": [[[1]]]}', "text or a number"),
        ('{"loss": [[1], [2]], "feedback": [[1], [1]], "actions": ["a", "a"]}', "2 different names"),
        ('{"loss": [[1]], "feedback": [[1]], "outcomes": "rain"}', "list of names"),
        ('{"loss": [[1]], "feedback": [[1]], "name": 3}', "name must be a text"),
    ],
)
def test_wrong_files_are_refused_with_a_clear_message(tmp_path, text, sentence):
    file = tmp_path / "game.json"
    file.write_text(text)
    with pytest.raises(InputError, match=sentence):
        read_game(file)


def test_files_that_are_not_there_or_not_text(tmp_path):
    with pytest.raises(InputError, match="cannot read the game"):
        read_game(tmp_path / "none.json")
    with pytest.raises(InputError, match="cannot read the game"):
        read_game(tmp_path)
    (tmp_path / "game.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="is not JSON"):
        read_game(tmp_path / "game.json")


def test_without_scipy_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "scipy.optimize", None)
    with pytest.raises(MissingExtraError, match=r"appletaste\[theory\]"):
        cells_module.require_linprog()
