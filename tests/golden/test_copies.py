"""Committed copies of what users and their programs meet: doors, numbers and files written before.

A difference is in CHANGELOG.md, or it is a mistake. ``python -m tests.golden.test_copies`` writes doors and numbers
anew; ``stream.db`` and ``policy.at`` were written once, by an earlier layout of the package, and never again.
"""

import argparse
import json
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

import appletaste as at
from appletaste.cli.main import build_parser, main

from ..checks import same

FOLDER = Path(__file__).parent / "copies"
#: Words that a machine or a day decides.
MOVING = {"items_per_second", "items/s", "seconds", "written", "versions", "created"}


# ---- doors


def verbs(parser, name="appletaste"):
    """Give every verb and what is below it, with its parser."""
    yield name, parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for verb, below in action.choices.items():
                yield from verbs(below, f"{name} {verb}")


def help_text():
    return "".join(f"$ {name} --help\n{parser.format_help()}\n" for name, parser in verbs(build_parser()))


def openapi_text():
    from appletaste.service.app import operations
    from appletaste.service.openapi import document

    return json.dumps(document(operations()), indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def names_text():
    return "\n".join(sorted(at.__all__)) + "\n"


DOORS = {"help.txt": help_text, "openapi.json": openapi_text, "names.txt": names_text}


@pytest.mark.parametrize("name", DOORS)
def test_doors_are_as_they_were(name, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    assert DOORS[name]() == (FOLDER / name).read_text()


# ---- numbers

SHOP = [
    "--label",
    "fraud",
    "--drop",
    "order",
    "--time",
    "placed_at",
    "--label-time",
    "settled_on",
    "--today",
    "reviewed",
]
SHOP += ["--costs", "miss=amount*0.9+15,false_alarm=6,hit=4", "--capacity", "40/day", "--audit", "5%"]


def printed(capture, *arguments):
    """Return what a command prints for machines."""
    assert main([*map(str, arguments), "--json"]) == 0
    return json.loads(capture())


def numbers(folder, capture):
    """Return the numbers of one replay, one ``missed``, one report and the paper at smoke size."""
    assert main(["example", str(folder / "orders.csv"), "--rows", "4000"]) == 0
    capture()
    log = folder / "decisions.parquet"
    found = {"replay": printed(capture, "replay", folder / "orders.csv", *SHOP, "--jobs", "1", "--log", log)}
    found["missed"] = printed(capture, "missed", log)
    assert main(["report", str(log), "--out", str(folder / "report"), "--title", "Orders"]) == 0
    capture()
    found["report"] = json.loads((folder / "report" / "report.json").read_text())
    paper = ("paper", "--only", "table-1", "--quick", "--jobs", "1", "--out", folder / "paper")
    found["paper"] = printed(capture, *paper)
    return still(found)


def still(found):
    """Return numbers without those that a machine or a day decides, and paths by their last name."""
    if isinstance(found, dict):
        return {name: still(part) for name, part in found.items() if name not in MOVING}
    if isinstance(found, list):
        return [still(part) for part in found]
    return found.rsplit("/", 1)[-1] if isinstance(found, str) and found.startswith("/") else found


def test_numbers_are_as_they_were(tmp_path, capsys):
    then = json.loads((FOLDER / "numbers.json").read_text())
    same(numbers(tmp_path, lambda: capsys.readouterr().out), then)
    changed = json.loads(json.dumps(then))
    changed["replay"][0]["cost_per_1000"]["mean"] *= 1 + 1e-6
    with pytest.raises(AssertionError):
        same(changed, then)  # a number that moved is seen


# ---- files written before

COSTS = at.Costs(miss=5, false_alarm=1, hit=0)
RNG = np.random.default_rng(8)
ITEMS = np.round(RNG.normal(size=(120, 3)) - 0.6, 6)
LABELS = (RNG.random(120) < 1 / (1 + np.exp(-ITEMS.sum(1)))).astype(int).tolist()


def item(k):
    size, weight, age = ITEMS[k].tolist()
    return {"size": size, "weight": weight, "age": age, "shop": "abc"[k % 3]}


def write_files(folder):
    """Write a stream with all that can happen to one, and a policy that has learnt."""
    records = [item(k) for k in range(120)]
    features = at.Encoder(curves=True).fit(at.read_records(records))
    policy = at.policy("voi", n_features=features.n_features, costs=COSTS)
    desk = at.Desk(at.streams.Awaiting(policy), at.Budget(share=0.7, window=20), at.Audit(floor=0.2))
    with at.Stream.create(folder / "stream.db", "orders", desk, features=features, seed=11) as stream:
        go_on(stream, 0, 60)
        acts = [case for case in ids(stream) if stream.find(case).entry.label is not None]
        stream.correct(acts[0], 1 - stream.find(acts[0]).entry.label)
        stream.retract(acts[1])
        stream.note(acts[2], "looked at twice", by="ann")
        stream.set_costs(at.Costs(miss=6, false_alarm=1, hit=0), by="ben")
        stream.set_capacity("60%", by="ben")
        passed = next(case for case in ids(stream) if not stream.find(case).answer.decision.act)
        stream.enacted(passed, True, by="cy")
        stream.erase(acts[3])
        go_on(stream, 60, 80)
        stream.snapshot()
        stream.set_mode("frozen", by="ann")
        go_on(stream, 80, 85)
        stream.set_mode("live", by="ann")
        go_on(stream, 85, 100)
    policy = at.policy("exact-ts", n_features=3, costs=COSTS, seed=4)
    for x, label in zip(ITEMS[:50], LABELS, strict=False):
        decision = policy.decide(x)
        if decision.act:
            policy.learn(decision, label)
    policy.save(folder / "policy.at")


def ids(stream):
    return [f"c{k}" for k in range(120) if f"c{k}" in stream]


def go_on(stream, start, stop):
    """Decide, with labels that arrive late and some that never do."""
    for k in range(start, stop):
        stream.decide(item(k), id=f"c{k}", time=f"2024-05-{1 + k // 8:02d}", stratum="new" if k % 3 else None)
        past = k - 7
        if past >= 0 and past % 5 and f"c{past}" in stream.pending:
            stream.label(f"c{past}", LABELS[past], time=f"2024-05-{1 + k // 8:02d}")


def goes_on(folder):
    """Open what was written, compare, go on, and return every answer to the bit."""
    with at.Stream.open(folder / "stream.db", "orders") as stream:
        found = {"verified": str(stream.verify())}
        found["cases"] = {case: stream.find(case).as_dict() for case in ids(stream)}
        go_on(stream, 100, 120)
        found["later"] = {case: stream.find(case).as_dict() for case in ids(stream)[100:]}
        found["verified later"] = str(stream.verify())
    policy = at.load(folder / "policy.at")
    found["policy"] = [policy.decide(x).probability for x in ITEMS[50:80]]
    return found


def test_a_stream_and_a_policy_written_before_open_verify_and_go_on(tmp_path):
    for name in ("stream.db", "policy.at"):
        shutil.copy(FOLDER / name, tmp_path / name)
    same(goes_on(tmp_path), json.loads((FOLDER / "files.json").read_text()))


if __name__ == "__main__":
    import io
    import os
    import tempfile

    os.environ["COLUMNS"] = "100"
    FOLDER.mkdir(exist_ok=True)
    for name, text in DOORS.items():
        (FOLDER / name).write_text(text())
    with tempfile.TemporaryDirectory() as folder:
        output, sys.stdout = sys.stdout, io.StringIO()

        def taken():
            text = sys.stdout.getvalue()
            sys.stdout = io.StringIO()
            return text

        found = numbers(Path(folder), taken)
        sys.stdout = output
        (FOLDER / "numbers.json").write_text(json.dumps(found, indent=1) + "\n")
        if not (FOLDER / "stream.db").exists():
            write_files(FOLDER)
        for name in ("stream.db", "policy.at"):
            shutil.copy(FOLDER / name, Path(folder) / name)
        (FOLDER / "files.json").write_text(json.dumps(goes_on(Path(folder)), indent=1) + "\n")
