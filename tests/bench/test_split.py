"""A split stream: the page and the bench send an id to the same part, and one part is no split at all."""

import re
from collections import Counter
from pathlib import Path

import numpy as np
from bench.split import PROBLEMS, part_of, past_of, regret

import appletaste as at

PAGE = (Path(__file__).parents[2] / "docs" / "scale.md").read_text()


def test_the_page_shows_the_function_of_the_bench():
    block = next(one for one in re.findall(r"```python\n(.*?)```", PAGE, re.S) if "def part_of" in one)
    names = {}
    exec(compile(block.partition("costs, K")[0], "docs/scale.md", "exec"), names)
    ids = [f"order-{k}" for k in range(2000)]
    assert [names["part_of"](id_, 16) for id_ in ids] == [part_of(id_, 16) for id_ in ids]
    counts = Counter(part_of(id_, 16) for id_ in ids)
    assert set(counts) == set(range(16))
    assert all(abs(n - 125) < 5 * np.sqrt(125) for n in counts.values())  # five standard errors
    assert part_of("order-17", 4) == 0  # for ever: another hash would send an id to another stream


def test_one_part_is_the_stream_itself_and_the_past_is_of_the_same_truth():
    problem = PROBLEMS["5 features, half positive, 2,000 items"]
    key = at.Key(3)
    table = problem.draw(key)
    whole = at.play(at.policy("voi", n_features=5, costs=table.costs, seed=int(key.at("part", 0).word())), table)
    assert regret(table, 1, key, None) == table.regret_of(np.asarray(whole.act)).sum()
    past = past_of(problem, table, key)
    assert np.array_equal(past.theta, table.theta)
    assert not np.array_equal(past.items, table.items)
    assert regret(table, 1, key, past) < regret(table, 1, key, None)  # who knows more pays less
