"""Results for machines: one name, ``as_dict``, and one function that makes a value fit for JSON."""

import dataclasses
import importlib
import json
import math
import pkgutil
from typing import NamedTuple

import numpy as np
import pytest

import appletaste as at
from appletaste._files import for_json, json_text, write_json


class Point(NamedTuple):
    x: float
    y: float


@dataclasses.dataclass(frozen=True)
class Plain:
    name: str
    points: tuple[Point, ...]


class Own:
    def as_dict(self):
        return {"worst": -math.inf, "parts": [Plain("a", ())]}


@pytest.mark.parametrize(
    ("value", "right"),
    [
        (math.nan, None),
        (math.inf, None),
        (np.float32("nan"), None),
        (np.float64(0.1), 0.1),
        (np.int8(3), 3),
        (np.bool_(True), True),
        (True, True),
        (None, None),
        ("nan", "nan"),
        (np.array([[1.5, math.nan]]), [[1.5, None]]),
        (np.array(["a"]), ["a"]),
        ((1, [2.0, (math.nan,)]), [1, [2.0, [None]]]),
        ({1: {"a": math.nan}, "b": ()}, {"1": {"a": None}, "b": []}),
        (Plain("p", (Point(1.0, math.nan),)), {"name": "p", "points": [{"x": 1.0, "y": None}]}),
        (Own(), {"worst": None, "parts": [{"name": "a", "points": []}]}),
    ],
)
def test_values_become_what_json_holds(value, right):
    found = for_json(value)
    assert found == right
    assert type(found) is type(right)
    assert json.loads(json_text(value)) == right


def test_what_json_cannot_hold_is_refused():
    with pytest.raises(TypeError, match="not JSON serializable"):
        json_text({"a": object()})


def test_a_file_is_whole_and_ends_its_line(tmp_path):
    write_json(tmp_path / "a.json", {"a": [math.nan]}, indent=1)
    assert (tmp_path / "a.json").read_text() == '{\n "a": [\n  null\n ]\n}\n'
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"]


def test_no_result_has_a_second_name_for_it():
    """Of all classes of the package; engines and adapters speak the language of others."""
    for module in pkgutil.walk_packages(at.__path__, "appletaste."):
        if module.name.endswith("__main__") or ".engines." in module.name or ".adapters." in module.name:
            continue
        for name, thing in vars(importlib.import_module(module.name)).items():
            if isinstance(thing, type) and thing.__module__ == module.name:
                others = {"to_dict", "asdict", "as_json", "to_json", "describe", "plain"} & set(vars(thing))
                assert not others, f"{module.name}.{name} has {others}"


def test_a_replay_and_a_simulation_say_all_there_is():
    table = {"x": [0.0, 1.0] * 30, "bad": [0, 1, 0, 0, 1, 0] * 10}
    costs = at.Costs(miss=5, false_alarm=1, hit=0)
    result = at.replay(table, "bad", costs=costs, order="as is")
    found = result.as_dict()
    assert list(found) == list(result)
    assert found["voi"]["cost_per_1000"] == {"mean": result["voi"].cost_per_1000.mean, "se": None}  # one pass
    assert found["never"]["precision"] is None
    assert json.loads(json.dumps(found, allow_nan=False)) == found

    (one,) = at.replicate(at.problem("i"), [at.policies.PolicySpec("never", {})], 2, seed=1)
    found = one.as_dict()
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert found["regret"]["mean"] == one.final_regret.mean()
    assert found["precision"] == {"mean": None, "se": None}
    assert (found["policy"], found["replications"], found["act_rate"]) == ("never", 2, 0.0)
