"""The verbs ``game`` and ``theory``: what they print, in words and for machines, and how they say no."""

import json

import pytest

from appletaste._files import for_json
from appletaste.cli.main import main
from appletaste.cli.theory import GAME_EXAMPLES
from appletaste.theory.measurements import Size, study, study_tables

TINY = Size((10, 20), (1, 2), 2, 2, 8, 2, 4, (3, 8))


def call(capsys, *arguments):
    code = main([str(argument) for argument in arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


@pytest.fixture
def example(tmp_path):
    """The game shown by ``appletaste game --help``."""
    file = tmp_path / "tasting.json"
    file.write_text(GAME_EXAMPLES[GAME_EXAMPLES.index("{") : GAME_EXAMPLES.rindex("}") + 1])
    return file


def test_the_game_shown_in_the_help_runs(capsys, example):
    code, out, err = call(capsys, "game", example)
    assert (code, err) == (0, "")
    assert "tasting: easy, minimax regret of order T^1/2" in out
    assert "Learning pays" in out
    assert "pass / act" in out


def test_game_json_has_its_documented_shape(capsys, example):
    code, out, _ = call(capsys, "game", example, "--json")
    assert code == 0
    found = json.loads(out)
    assert (found["class"], found["rate"]) == ("easy", "T^1/2")
    assert [row["name"] for row in found["actions"]] == ["pass", "act"]
    assert list(found["actions"][0]) == ["name", "kind", "duplicates", "best_at", "symbols", "informative"]
    neighbours = {"actions": ["pass", "act"], "neighbourhood": ["pass", "act"], "observability": "local"}
    assert found["neighbours"] == [neighbours]
    observers = found["observer_vectors"][0]
    losses = {"pass": [0.0, 1.0], "act": [0.4, 0.05]}
    (passing,), (negative, positive) = ([part["weight"] for part in v] for v in observers["vectors"].values())
    assert passing + negative == pytest.approx(losses["pass"][0] - losses["act"][0])
    assert passing + positive == pytest.approx(losses["pass"][1] - losses["act"][1])


def test_mistakes_end_with_one_sentence_and_code_2(capsys, tmp_path):
    (tmp_path / "ragged.json").write_text('{"loss": [[1, 2], [3]], "feedback": [[1, 1], [1, 1]]}')
    for name, sentence in (("none.json", "cannot read the game"), ("ragged.json", "different lengths")):
        code, out, err = call(capsys, "game", tmp_path / name)
        assert (code, out) == (2, "")
        assert sentence in err
        assert err.count("\n") == 1
    for arguments, sentence in ((["--seed", "-1"], "seed"), (["--jobs", "0"], "jobs")):
        code, out, err = call(capsys, "theory", "--quick", *arguments)
        assert (code, out) == (2, "")
        assert sentence in err


def test_theory_prints_tables(capsys):
    code, out, _ = call(capsys, "theory", "--quick", "--jobs", "1")
    assert code == 0
    for words in ("games from the literature", "Theorem 1", "grows as T^", "grows as d^", "assume", "Theorem 2"):
        assert words in out


def test_studies_are_json_and_do_not_depend_on_workers():
    found = study(size=TINY, seed=3)
    assert json.loads(json.dumps(for_json(found), allow_nan=False)) == for_json(found)
    assert for_json(study(size=TINY, seed=3, jobs=2)) == for_json(found)
    assert for_json(study(size=TINY, seed=4)) != for_json(found)
    assert all(row["class"] == row["stated"] for row in found["games"])
    assert all(row["ratio"]["within"] for row in found["assumptions"])
    for table in study_tables(found):
        assert all(len(row) == len(table.header) for row in table.rows)
