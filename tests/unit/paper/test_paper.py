"""The reproduction: studies are data, work is kept, and what is resumed is what would have been."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest

import appletaste as at
from appletaste.errors import InputError, OptionError
from appletaste.paper import results
from appletaste.paper.errata import ERRATA
from appletaste.paper.evidence import FINDINGS
from appletaste.paper.figures import FIGURES, index
from appletaste.paper.published import spread_agreement
from appletaste.paper.reproduction import build, cells_of
from appletaste.paper.results import Store, checkpoints, missing, outcomes_of, play_missing, wanted
from appletaste.paper.studies import TABLES, Pairing, Study, all_studies, find_studies
from appletaste.paper.tables import Cell, common_sign, tally

SMALL = Study(
    "small",
    "a small one",
    "does it work?",
    tuple(
        Pairing(at.problem("i", rounds=rounds), at.policies.PolicySpec(name, options))
        for rounds in (20, 30)
        for name, options in (("pg-ts", {}), ("pg-ids", {"weight": 0.3}), ("never", {}))
    ),
)


class InOrder:
    """A runner that stops after some tasks, as a crash would."""

    def __init__(self, stop=None, backwards=False):
        self.stop, self.backwards, self.played = stop, backwards, 0

    def run(self, function, tasks):
        order = range(len(tasks) - 1, -1, -1) if self.backwards else range(len(tasks))
        for i in order:
            if self.played == self.stop:
                raise KeyboardInterrupt
            self.played += 1
            yield i, function(tasks[i])


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_what_is_resumed_is_what_would_have_been(tmp_path):
    whole = Store(tmp_path / "whole", seed=3)
    play_missing([SMALL], whole, 4, InOrder())
    broken = Store(tmp_path / "broken", seed=3)
    total = 0
    for stop in (3, 7, 9, 4):
        runner = InOrder(stop, backwards=stop % 2 == 0)
        with pytest.raises(KeyboardInterrupt):
            play_missing([SMALL], broken, 4, runner)
        total += runner.played
    last = InOrder(backwards=True)
    play_missing([SMALL], broken, 4, last)
    assert contents(broken.folder) == contents(whole.folder)
    assert total + last.played < 4 * len(SMALL.pairings) + 4 * 4  # whole pairings were not played again
    again, lines = InOrder(), []
    assert sum(play_missing([SMALL], broken, 4, again, finished=lambda *line: lines.append(line)).values()) == 0.0
    assert lines == []
    assert again.played == 0


def test_more_replications_play_only_those(tmp_path):
    store, direct = Store(tmp_path / "a", seed=1), Store(tmp_path / "b", seed=1)
    play_missing([SMALL], store, 2, InOrder())
    more, lines = InOrder(), []
    work = play_missing([SMALL], store, 5, more, finished=lambda *line: lines.append(line))
    assert lines == [("small", work["small"])]
    assert more.played == 3 * len(SMALL.pairings)
    play_missing([SMALL], direct, 5, InOrder())
    assert contents(store.folder) == contents(direct.folder)
    assert len(store.outcome(SMALL.pairings[0], 2).regret) == 2  # fewer may be read than are there


def test_a_changed_setting_touches_only_its_pairings(tmp_path):
    store = Store(tmp_path, seed=1)
    play_missing([SMALL], store, 2, InOrder())
    changed = Study(
        "s", "t", "q", (*SMALL.pairings[1:], Pairing(at.problem("i", rounds=20), at.policies.PolicySpec("always", {})))
    )
    assert len(missing([changed], store, 2)) == 2
    names = {pairing.identity(1) for pairing in (*SMALL.pairings, *changed.pairings)}
    assert len(names) == len(SMALL.pairings) + 1
    assert SMALL.pairings[0].identity(1) != SMALL.pairings[0].identity(2)


def test_results_of_another_version_are_refused(tmp_path, monkeypatch):
    Store(tmp_path, seed=1)
    monkeypatch.setattr(results, "fingerprint", lambda *modules: "another")
    with pytest.raises(InputError, match="another version"):
        Store(tmp_path, seed=1)


def test_outcomes_are_what_replicate_gives(tmp_path):
    store = Store(tmp_path, seed=5)
    play_missing([SMALL], store, 3, InOrder())
    pairing = SMALL.pairings[1]
    outcome = store.outcome(pairing, 3)
    result = at.replicate(pairing.problem, [pairing.entry], 3, seed=5)[0]
    np.testing.assert_array_equal(outcome.regret, result.final_regret)
    np.testing.assert_array_equal(outcome.curves, result.curves[:, outcome.rounds - 1])
    np.testing.assert_array_equal(outcome.precision, result.precision)
    np.testing.assert_array_equal(outcome.act_rate, result.acts / result.rounds)


def test_checkpoints_end_at_the_horizon():
    assert checkpoints(500)[-1] == 500
    assert checkpoints(500)[0] == 1
    assert len(checkpoints(500)) == 101
    assert checkpoints(7).tolist() == [1, 2, 3, 4, 5, 6, 7]


def test_studies_are_whole():
    studies = all_studies()
    names = [study.name for study in studies]
    assert names == ["figure-1", "figure-2a", "figure-2b", "figure-3", "readings", "estimators"]
    assert set(FIGURES) == set(FINDINGS) == {*names, *TABLES}
    for study in studies:
        assert len({p.identity(1) for p in study.pairings}) == len(study.pairings), study.name
    assert len(wanted(studies)) < sum(len(study.pairings) for study in studies)  # shared ones are played once
    assert [study.name for study in find_studies(["readings", "figure-1"])] == ["figure-1", "readings"]
    tables = [pairing for study in find_studies(list(TABLES)) for pairing in study.pairings]
    assert tables == list(studies[0].pairings)  # Figure 1, in parts
    with pytest.raises(OptionError, match="there is no study 'figure-9'"):
        find_studies(["figure-9"])
    printed = all_studies("as-printed")
    assert all(p.problem.reading == "as-printed" for p in printed[0].pairings)


@pytest.fixture(scope="module")
def smoke(tmp_path_factory):
    """All studies with short problems: two replications of thirty items each."""
    folder = tmp_path_factory.mktemp("paper")
    store = Store(folder / "pairings", seed=2)
    short = [
        Study(s.name, s.title, s.question, tuple(Pairing(shorten(p.problem), p.entry) for p in s.pairings))
        for s in all_studies()
    ]
    play_missing(short, store, 2, InOrder())
    return folder, store, short


def shorten(problem):
    return at.problem(problem.name, **{**vars(problem), "rounds": 30 if problem.rounds != 750 else 31})


def test_every_figure_finding_and_erratum_can_be_made(smoke, monkeypatch):
    folder, store, short = smoke
    monkeypatch.setattr("appletaste.paper.figures.problem_text", rename)
    monkeypatch.setattr("appletaste.paper.reproduction.all_studies", lambda: short)
    cells = [cell.as_dict() for cell in cells_of(build(store, 2, short, folder))]
    assert len(cells) == 66
    keys = ["study", "cell", "published", "ours", "se", "sd", "replications", "z", "known_mismatch"]
    keys += ["published_sd", "sd_z", "long_mean", "long_se", "agrees", "verdict"]
    assert all(list(cell) == keys for cell in cells)
    assert json.loads((folder / "tables.json").read_text()) == cells
    assert {cell["verdict"] for cell in cells} == {"few", "known"}  # two replications say nothing
    page = (folder / "index.html").read_text()
    assert not re.search(r"https?://|<script|src=\"(?!data:)|@import|url\(", page)  # opens without a network
    assert page.count("data:image/svg+xml;base64,") == 6
    for study in short:
        assert study.name in page
        assert (folder / "figures" / f"{study.name}.svg").exists()
        assert (folder / "figures" / f"{study.name}.png").exists()
    text = (folder / "report.md").read_text()
    assert all(erratum.where in text and erratum.where in page.replace("&#x27;", "'") for erratum in ERRATA)
    assert "never acting" in text
    before = contents(folder / "figures") | {"page": (folder / "index.html").read_bytes()}
    build(store, 2, short, folder)
    assert contents(folder / "figures") | {"page": (folder / "index.html").read_bytes()} == before


def rename(problem, reading):
    """Name the shortened problems as the full ones are named."""
    text = f"d={problem.features} {problem.scaling}" if problem.name == "dimension" else problem.name
    if problem.name == "tuning":
        text = "tuning-250" if problem.rounds == 30 else "tuning-750"
    return text if problem.reading == reading else f"{text} {problem.reading}"


def test_outcomes_are_found_by_problem_and_policy(smoke):
    _, store, short = smoke
    outcomes = index(outcomes_of(short[0], store, 2))
    assert ("iii", "never") in outcomes
    assert outcomes["iii", "never"].act_rate.tolist() == [0.0, 0.0]


def cell(ours, published=16.3, replications=50, known=None, sd=10.5):
    z = (published - ours) / (sd * (1 / replications + 1 / 50) ** 0.5)
    return Cell("t", "c", published, ours, sd / replications**0.5, sd, replications, z, known)


def test_cells_that_cannot_be_had_and_too_few_replications_are_never_ticked():
    assert cell(16.0).verdict == "ok"
    assert cell(16.0, known="a misprint").verdict == "known"
    assert not cell(16.0, known="a misprint").agrees
    assert cell(16.0, replications=19).verdict == "few"
    assert cell(40.0, replications=19).verdict == "few"
    assert cell(40.0).verdict == "NO"
    said = tally([cell(16.0), cell(40.0), cell(16.0, known="a misprint"), cell(1.0, replications=4)])
    assert said == (
        "Of 4 published numbers 1 agrees; 1 is a known mismatch: beyond 3 at 500 replications too; 1 has too few "
        "replications to judge; 1 disagrees."
    )


def test_a_cell_strays_only_where_the_long_run_agrees_and_is_near():
    far = cell(9.0)
    assert far.verdict == "NO"  # nothing says that it is chance
    assert replace(far, long_mean=13.0, long_se=0.5).verdict == "stray"
    assert replace(far, long_mean=15.0, long_se=0.5).verdict == "NO"  # beyond what chance does to 50 replications
    assert replace(far, long_mean=13.0, long_se=0.5, known_mismatch="a misprint").verdict == "known"
    assert "1 is beyond 3 here by chance: at 500 replications the cell agrees" in tally(
        [replace(far, long_mean=13.0, long_se=0.5)]
    )


def test_a_common_sign_is_said_though_every_cell_agrees():
    low = [cell(13.4) for _ in range(10)]
    assert all(one.verdict == "ok" for one in low)
    said = common_sign("Table 5", low)
    assert said.startswith("Table 5: 10 of 10 of our numbers are below the paper's, 13.40 against 16.30 on average.")
    assert "z = 1.4" in said
    assert "p = 0.002" in said
    rng = np.random.default_rng(1)
    for _ in range(5):  # cells around the truth say nothing
        assert common_sign("t", [cell(16.3 + 2.1 * noise) for noise in rng.standard_normal(10)]) is None
    assert common_sign("t", [cell(13.4, replications=10) for _ in range(10)]) is None
    assert common_sign("t", [cell(10.5) for _ in range(3)]) is not None  # too few for a sign test: by the pooled z


def test_published_standard_deviations_are_compared():
    rng = np.random.default_rng(2)
    z = np.array([spread_agreement(10.0, rng.gamma(2.0, 10.0 / 2**0.5, size=400)) for _ in range(200)])
    assert abs(z.mean()) < 4 * 0.45 / 200**0.5 + 0.1  # sd of z: only our noise, of 1/400 + 1/50, is in it
    assert np.abs(z).max() < 3
    assert spread_agreement(20.0, rng.gamma(2.0, 10.0 / 2**0.5, size=400)) > 3
    assert np.isnan(spread_agreement(1.0, np.zeros(5)))
