"""The command line: what it prints, what it writes, and how it says no."""

import json
import os
import subprocess
import sys

import pytest

from appletaste import __version__
from appletaste.cli.arguments import parse_value
from appletaste.cli.main import main
from appletaste.policies import POLICIES
from appletaste.problems import PROBLEMS

QUICK = ["simulate", "--problem", "i", "--rounds", "30", "--replications", "3", "--jobs", "1"]


def call(capsys, *arguments):
    code = main([str(argument) for argument in arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_help_is_quick_to_load_and_teaches():
    script = "import sys; from appletaste.cli.main import main\ntry: main(['--help'])\nexcept SystemExit: pass\n"
    script += "heavy = {'numba', 'numpy', 'rich', 'joblib', 'matplotlib'} & set(sys.modules)\nassert not heavy, heavy"
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert "appletaste simulate --problem i" in found.stdout


def test_the_module_is_the_command_line():
    found = subprocess.run(
        [sys.executable, "-m", "appletaste", "--version"], capture_output=True, text=True, check=True
    )
    assert found.stdout == f"appletaste {__version__}\n"
    wrong = subprocess.run([sys.executable, "-m", "appletaste", "look", "no.csv"], capture_output=True, text=True)
    assert (wrong.returncode, wrong.stderr) == (2, "appletaste: there is no file no.csv\n")


def test_a_terminal_that_knows_ascii_alone_gets_every_letter_escaped(tmp_path):
    path = tmp_path / "straße.csv"
    path.write_text("größe,bad\n" + "".join(f"{k},{k % 2}\n" for k in range(60)), encoding="utf-8")
    plain = {**os.environ, "LC_ALL": "C", "PYTHONIOENCODING": "ascii"}

    def told(*words):
        command = [sys.executable, "-m", "appletaste", *words, "--label", "bad"]
        return subprocess.run(command, capture_output=True, env=plain)

    sheet = ("--costs", "miss=5,false_alarm=1,hit=0", "--order", "as-is", "--jobs", "1", "--policy", "never")
    both = {}
    for words in (("look",), ("replay", *sheet)):
        shown = told(words[0], str(path), *words[1:])
        assert (shown.returncode, shown.stdout.isascii(), shown.stderr.isascii()) == (0, True, True), shown.stderr
        found = told(words[0], str(path), *words[1:], "--json")
        assert found.returncode == 0
        both[words[0]] = shown.stdout, json.dumps(json.loads(found.stdout), ensure_ascii=False)
    assert b"gr\\xf6\\xdfe" in both["look"][0]
    assert "größe" in both["look"][1]
    wrong = told("look", str(path), "--drop", "maß")
    assert (wrong.returncode, b"ma\\xdf" in wrong.stderr) == (2, True)


def test_version_and_lists(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["--version"])
    assert stop.value.code == 0
    assert __version__ in capsys.readouterr().out
    code, out, _ = call(capsys, "policies")
    assert code == 0
    assert all(name in out for name in POLICIES)
    code, out, _ = call(capsys, "policies", "--json")
    assert [row["name"] for row in json.loads(out)] == list(POLICIES)
    code, out, _ = call(capsys, "problems")
    assert all(name in out for name in PROBLEMS)
    code, out, _ = call(capsys, "problems", "--json")
    assert {row["name"] for row in json.loads(out)} == set(PROBLEMS)


def test_simulate_json_has_its_documented_shape(capsys):
    arguments = [*QUICK, "--policy", "pg-ids[weight=0.2]", "--policy", "never", "--json"]
    code, out, _ = call(capsys, *arguments)
    assert code == 0
    rows = json.loads(out)
    assert [row["policy"] for row in rows] == ["pg-ids", "never"]
    keys = [
        "problem",
        "reading",
        "policy",
        "options",
        "replications",
        "rounds",
        "regret",
        "precision",
        "recall",
        "act_rate",
        "seconds",
    ]
    for row in rows:
        assert list(row) == keys
        assert list(row["regret"]) == ["mean", "se", "sd", "q05", "q50", "q95"]
        assert list(row["precision"]) == list(row["recall"]) == ["mean", "se"]
    assert rows[0]["options"] == {"weight": 0.2}
    assert rows[0]["reading"] == "as-run"
    assert rows[1]["precision"]["mean"] is None  # nothing was acted on
    assert rows[1]["act_rate"] == 0.0
    again = json.loads(call(capsys, *arguments)[1])
    for row in (*rows, *again):
        row.pop("seconds")
    assert again == rows


def test_simulate_writes_results_manifest_and_pictures(capsys, tmp_path):
    import pyarrow.parquet

    out = tmp_path / "runs" / "one"
    arguments = [*QUICK, "--policy", "pg-ids[weight=0]", "--policy", "pg-ids[weight=0.4]", "--out", out]
    code, text, _ = call(capsys, *arguments)
    assert code == 0
    assert "pg-ids[weight=0.4]" in text
    names = {"results.parquet", "bands.parquet", "manifest.json", "regret.png", "regret.svg"}
    assert {path.name for path in out.iterdir()} == names
    results = pyarrow.parquet.read_table(out / "results.parquet").to_pydict()
    assert results["policy"] == ["pg-ids[weight=0]"] * 3 + ["pg-ids[weight=0.4]"] * 3
    assert results["replication"] == [0, 1, 2] * 2
    manifest = json.loads((out / "manifest.json").read_text())
    assert manifest["seed"] == 1
    assert manifest["versions"]["appletaste"] == __version__
    assert manifest["policies"][0]["regret"]["mean"] == pytest.approx(sum(results["regret"][:3]) / 3)
    assert (out / "regret.png").read_bytes()[:4] == b"\x89PNG"
    assert b"<svg" in (out / "regret.svg").read_bytes()
    assert call(capsys, *arguments)[0] == 0  # an earlier run is replaced
    (tmp_path / "mine.txt").write_text("keep me")
    code, _, err = call(capsys, *arguments[:-1], tmp_path)
    assert code == 2
    assert "holds other files" in err
    assert not (tmp_path / "manifest.json").exists()


def test_a_bad_folder_is_found_before_the_work(capsys, tmp_path, monkeypatch):
    def work(*args, **kwargs):
        raise AssertionError("it began to play")

    monkeypatch.setattr("appletaste.cli.console.play_with_progress", work)
    monkeypatch.setattr("appletaste.paper.results.play_missing", work)
    (tmp_path / "file").write_text("mine")
    for place in (tmp_path / "file", tmp_path / "file" / "below"):
        for verb in (QUICK, ["paper", "--only", "estimators"]):
            code, _, err = call(capsys, *verb, "--out", place)
            assert code == 2
            assert err.startswith("appletaste: ")
            assert err.count("\n") == 1
    assert (tmp_path / "file").read_text() == "mine"


def test_costs_and_own_problems(capsys):
    arguments = [
        "simulate",
        "--problem",
        "synthetic",
        "--features",
        "2",
        "--rounds",
        "40",
        "--intercept",
        "-1",
        "--theta",
        "normal",
    ]
    arguments += [
        "--costs",
        "miss=5,false_alarm=1,hit=0.5",
        "--policy",
        "always",
        "--policy",
        "oracle",
        "--replications",
        "2",
    ]
    code, out, _ = call(capsys, *arguments, "--jobs", "1", "--json")
    assert code == 0
    always, oracle = json.loads(out)
    assert always["act_rate"] == 1.0
    assert oracle["regret"]["mean"] == 0.0
    assert always["reading"] is None
    code, out, _ = call(capsys, *QUICK, "--policy", "suplogistic", "--costs", "miss=1,false_alarm=1,hit=0")
    assert code == 0


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--policy", "nope"], "there is no policy 'nope'"),
        (["--policy", "pg-ts[weight=1]"], "pg-ts has no option 'weight'"),
        (["--policy", "voi-item"], "there is no policy 'voi-item' any more: say voi[ahead=lindy]"),
        (["--policy", "pg-ids[size=1]"], "pg-ids has no option 'size'"),
        (["--policy", "pg-ids[weight=-2]"], "weight"),
        (["--policy", "pg-ids[weight=0,sweeps=few]"], "sweeps is a number"),
        (["--policy", "pg-ids[weight]"], "name=value"),
        (["--reading", "sideways"], "reading is one of"),
        (["--costs", "miss=1,false_alarm=1,hit=2"], "acting never pays"),
        (["--costs", "miss=1"], "false_alarm is missing"),
        (["--costs", "miss=1,false_alarm=1,hit=0,luck=1"], "no cost 'luck'"),
        (["--costs", "cheap"], "name=value"),
        (["--costs", ""], "name=value"),
        (["--costs", "miss=1,miss=2,false_alarm=1,hit=0"], "sets miss twice"),
        (["--costs", "miss=1,false_alarm=1,hit=0", "--reading", "as-run"], "give one"),
        (["--policy", "pg-ids[weight=0"], "NAME[option=value"),
        (["--policy", "pg-ids[weight=0]junk"], "NAME[option=value"),
        (["--policy", "never", "--policy", "never"], "listed twice"),
        (["--policy", "pg-ids[weight=abc]"], "weight must be a finite number"),
        (["--policy", "suplogistic[horizon=inf]"], "horizon"),
        (["--replications", "0"], "replications"),
        (["--jobs", "0"], "jobs"),
        (["--seed", "-1"], "seed"),
        (["--features", "3"], "no setting 'features'"),
        (["--rounds", "-5"], "rounds"),
    ],
)
def test_mistakes_end_with_one_sentence_and_code_2(capsys, arguments, sentence):
    code, out, err = call(capsys, *QUICK, *arguments)
    assert code == 2
    assert sentence in err
    assert err.count("\n") == 1
    assert out == ""


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["simulate", "--replications", "many"], "simulate: argument --replications: invalid int value: 'many'"),
        (["simulate", "--polcy", "ts"], "simulate: there is no option '--polcy' (did you mean '--policy'?)"),
        (["--what"], ": there is no option '--what'"),
        (
            ["simulate", "--option", "ts.x=1"],
            "simulate: there is no option '--option' any more: say --policy 'NAME[option=value,...]'",
        ),
        (
            ["missed", "may.parquet", "--address", "a:1"],
            "missed: there is no option '--address' any more: say --cluster",
        ),
        (["drift", "may.parquet", "--features", "a.map"], "drift: there is no option '--features' any more: say --map"),
        (["replay", "orders.csv"], "replay: --label, --costs must be given"),
        (
            ["missed", "may.parquet", "june.parquet"],
            "missed: unexpected argument 'june.parquet': is a quote or an option missing",
        ),
        (["keys", "create", "shop", "--scope", "read"], "keys create: --store must be given"),
        (["what-if", "may.parquet"], "what-if: one of the arguments --threshold --costs --capacity --audit is"),
    ],
)
def test_a_call_that_cannot_be_read_ends_with_a_short_usage_and_code_2(capsys, arguments, told):
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    assert stop.value.code == 2
    usage, sentence = capsys.readouterr().err.splitlines()
    assert usage.startswith("usage: appletaste")
    assert f"appletaste {told}".replace(" :", ":") in sentence
    assert sentence.endswith("--help' says more")


def test_the_usage_names_what_has_to_be_given_and_no_more(capsys):
    shown = []
    for verb in (["replay"], ["what-if"], ["stream", "create"]):
        with pytest.raises(SystemExit):
            main([*verb, "--help"])
        shown.append(capsys.readouterr().out.splitlines()[0])
    costs = "--costs miss=5,false_alarm=1,hit=0"
    assert shown == [
        f"usage: appletaste replay FILE --label COLUMN {costs} [options]",
        "usage: appletaste what-if LOG [options]",
        f"usage: appletaste stream create STORE {costs} [options]",
    ]


@pytest.mark.parametrize(
    ("module", "arguments"),
    [("starlette", ["serve", "--store", "shop.db"]), ("uvicorn", ["serve", "--store", "shop.db"])],
)
def test_a_service_without_its_extra_is_one_sentence(tmp_path, module, arguments):
    script = f"import sys; sys.modules[{module!r}] = None; from appletaste.cli.main import main; main({arguments!r})"
    found = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert found.stderr.startswith(
        "appletaste: a service needs an optional dependency: pip install 'appletaste[service]'"
    )
    assert found.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_option_values():
    assert [parse_value(text) for text in ("3", "0.5", "true", "none", "map")] == [3, 0.5, True, None, "map"]
    assert parse_value("1:50,100:15") == [(1, 50), (100, 15)]


def test_without_arguments_the_verbs_are_listed_by_what_is_at_hand(capsys):
    assert main([]) == 0
    shown = capsys.readouterr().out
    for group in ("your file:", "a live stream:", "a stream, or a log of decisions:", "research:"):
        assert f"\n{group}\n" in shown
    named = {line.split()[0] for line in shown.splitlines() if line.startswith("  ") and line[2] not in " -"}
    shown_examples = {line.split()[1] for line in shown.splitlines() if line.startswith("              appletaste ")}
    assert named == shown_examples >= {"replay", "missed", "simulate", "decide"}


@pytest.mark.parametrize(
    ("typed", "meant"), [("replya", "replay"), ("whatif", "what-if"), ("polices", "policies"), ("x", None)]
)
def test_a_mistyped_verb_is_answered_with_the_nearest(capsys, typed, meant):
    assert main([typed, "orders.csv"]) == 2
    hint = f" (did you mean '{meant}'?)" if meant else ""
    assert (
        capsys.readouterr().err
        == f"appletaste: there is no verb '{typed}'{hint}. 'appletaste --help' lists the verbs\n"
    )


def test_a_mistyped_policy_is_answered_with_the_nearest(capsys):
    assert main(["simulate", "--problem", "i", "--policy", "vio"]) == 2
    assert "there is no policy 'vio' (did you mean 'voi'?)" in capsys.readouterr().err


@pytest.mark.parametrize("shell", ["bash", "zsh", "tcsh"])
def test_shells_complete_verbs_and_options(capsys, shell):
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert all(word in script for word in ("replay", "what-if", "--costs"))
