"""What the tests with real clusters share."""

import importlib.util

import pytest

import appletaste as at
from appletaste.policies import PolicySpec

KINDS = [
    pytest.param(
        kind,
        marks=pytest.mark.skipif(
            importlib.util.find_spec(module) is None, reason=f"needs appletaste[{kind}]: make test-engines"
        ),
    )
    for kind, module in (("ray", "ray"), ("dask", "distributed"))
]
# Their own affairs: sockets open at the end, features that go away in the next version.
THEIRS = [
    "ignore::DeprecationWarning",
    "ignore::FutureWarning",
    "ignore::ResourceWarning",
    "ignore::pytest.PytestUnraisableExceptionWarning",
]
MARKS = [pytest.mark.cluster, *(pytest.mark.filterwarnings(rule) for rule in THEIRS)]

PROBLEM = at.problem("i", rounds=60)
ENTRIES = [PolicySpec("pg-ts", {}), PolicySpec("pg-ids", {"weight": 0.2}), PolicySpec("cbp-side", {})]


def assert_same(found, expected):
    """Compare results bit for bit."""
    for one, two in zip(found, expected, strict=True):
        assert one.entry == two.entry
        for name in ("acts", "curves", "precision", "recall"):
            assert getattr(one, name).tobytes() == getattr(two, name).tobytes()


def assert_squares(found, count):
    """Check that every index arrived exactly once, with the right value."""
    assert sorted((index, value) for index, (value, _) in found) == [(i, i * i) for i in range(count)]
