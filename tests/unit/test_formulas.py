"""Formulas over columns: the arithmetic of Python where both read it, and a place in the text for what they cannot."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from appletaste.errors import CostsError
from appletaste.formulas import DEEPEST, LONGEST, Formula, quoted

COLUMNS = {"amount": np.array([10.0, 200.0]), "order value": np.array([3.0, 0.0]), "a.b": np.array([-1.0, 2.0])}

atoms = st.one_of(st.integers(0, 99).map(str), st.sampled_from(["0.5", ".25", "1e2", "amount", "other"]))
formulas = st.recursive(
    atoms,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["+", " - ", "*"]), inner).map("".join),
        inner.map(lambda text: f"({text})"),
        inner.map(lambda text: f"-({text})"),
        st.tuples(st.sampled_from(["min", "max"]), inner, inner).map(lambda t: f"{t[0]}({t[1]}, {t[2]})"),
        inner.map(lambda text: f"abs({text})"),
    ),
    max_leaves=12,
)


@given(formulas)
def test_it_is_the_arithmetic_of_python(text):
    names = {"amount": 7.5, "other": -2.0}
    expected = eval(text, {"__builtins__": {}, "min": min, "max": max, "abs": abs}, names)
    assert float(Formula(text)(names)) == pytest.approx(expected, rel=1e-9, abs=1e-6)


@pytest.mark.parametrize(
    ("text", "columns", "values"),
    [
        ("amount*0.9+15", ["amount"], [24.0, 195.0]),
        ('"order value" - `a.b`', ["order value", "a.b"], [4.0, -2.0]),
        ("max(amount, 20, 30)", ["amount"], [30.0, 200.0]),
        ("10 - 4 - 3", [], 3.0),
        ("8 / 4 / 2", [], 1.0),
        ("2 - -3", [], 5.0),
        ("--3", [], 3.0),
        ("-+-+-3", [], -3.0),
        ("- 2 * 3 + 1", [], -5.0),
    ],
)
def test_values(text, columns, values):
    formula = Formula(text)
    assert list(formula.columns) == columns
    np.testing.assert_allclose(formula(COLUMNS), values)


def test_division_by_nothing_is_infinite_and_says_nothing_itself():
    assert np.isinf(Formula("amount / 'order value'")(COLUMNS)).tolist() == [False, True]


@pytest.mark.parametrize(
    ("text", "what", "place"),
    [
        ("amount*0.9+", "expected at the end", 11),
        ("amount 3", "a sign (+ - * /) is missing before '3'", 7),
        ("(amount+2", "this bracket is not closed", 0),
        ("min(amount)", "min() takes two values or more, got 1", 0),
        ("amount**2", "instead of '*'", 7),
        ("amount; import os", "';' cannot be read", 6),
        ("__import__('os')", "a sign (+ - * /) is missing before '('", 10),
        ("0,9*amount", "a sign (+ - * /) is missing before ','", 1),
        ("2amount", "'2' cannot be read", 0),
        ("", "expected at the end", 0),
    ],
)
def test_what_cannot_be_read_is_pointed_at(text, what, place):
    with pytest.raises(CostsError) as error:
        Formula(text)
    said = str(error.value).split("\n")
    assert what in said[0]
    assert said[1:3] == [f"  {text}", f"  {' ' * place}^"]


def test_deep_and_long_formulas_are_refused_in_words():
    with pytest.raises(CostsError, match="brackets within one another"):
        Formula("(" * (DEEPEST + 1) + "1" + ")" * (DEEPEST + 1))
    with pytest.raises(CostsError, match=f"at most {LONGEST} letters"):
        Formula("1+" * LONGEST + "1")
    Formula("1+" * (LONGEST // 2 - 1) + "1")({})


def test_a_column_that_is_not_there_is_named_with_the_nearest():
    with pytest.raises(CostsError) as error:
        Formula("0.9*amuont").check_columns(COLUMNS, "orders.csv")
    assert str(error.value).split("\n") == [
        "orders.csv has no column 'amuont'; did you mean amount?",
        "  0.9*amuont",
        "      ^",
        'There are amount, "order value", a.b',
    ]
    with pytest.raises(CostsError, match='did you mean "order value"'):
        Formula("order*2").check_columns(COLUMNS, "orders.csv")


@given(st.text(min_size=1, max_size=20).filter(lambda name: not {'"', "'", "`"} <= {*name}))
def test_every_name_can_be_written(name):
    assert Formula(f"1 + {quoted(name)}").columns == (name,)
