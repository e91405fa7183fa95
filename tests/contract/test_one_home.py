"""What is rehearsed is what runs: one table in a replay, in a stream in three stores, and over HTTP, bit for bit."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import appletaste as at
from appletaste.cli.main import main
from appletaste.records.stores import open_store
from appletaste.service.keys import Keys

from ..service.test_machines import free_port
from ..streams.stores import fresh_database
from . import one_table
from .one_table import COSTS, FIELDS, NAME, NEW, ROLES, SEED, STAFFING, play, play_stream, prepared

ROOT = Path(__file__).parents[2]
MIDDLE = NEW // 2


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    return one_table.write_tables(tmp_path_factory.mktemp("shop"))


@pytest.fixture(scope="module")
def rehearsed(tables):
    """What a replay of the new orders decides, after the past."""
    past, new = tables
    result = at.replay(
        new,
        "fraud",
        history=past,
        drop=["order"],
        costs=COSTS,
        policies=["voi"],
        log="voi",
        seed=SEED,
        **ROLES,
        **STAFFING,
    )
    log = result.log
    ids = [f"A{10_000 + one_table.PAST + k}" for k in range(NEW)]
    vectors = [row.tobytes() for row in np.asarray(log.x)]
    columns = (log.chance, log.probability, log.act, log.audit)
    return list(zip(ids, vectors, *(column.tolist() for column in columns), strict=True))


def assert_same(decided, rehearsed):
    for mine, theirs in zip(decided, rehearsed, strict=True):
        assert dict(zip(FIELDS, mine, strict=True)) == dict(zip(FIELDS, theirs, strict=True))


def test_the_table_has_what_it_should(tables, rehearsed):
    """Or the others would prove nothing: levels that stay open, acts, passes, audits, labels that change minds."""
    made = prepared(tables[0])
    assert [column.kind for column in made.features.columns if column.name == "shop"] == ["open"]
    assert made.features.changes
    acts = [row[FIELDS.index("act")] for row in rehearsed]
    audits = [row[FIELDS.index("audit")] for row in rehearsed]
    assert 200 < sum(acts) < NEW - 200
    assert sum(audits) > 5


@pytest.mark.parametrize("kind", ["memory", "sqlite", "postgres"])
def test_a_stream_decides_as_its_rehearsal(kind, tables, rehearsed, tmp_path):
    past, new = tables
    address = {"memory": "memory", "sqlite": str(tmp_path / "shop.db")}.get(kind) or fresh_database()
    with prepared(past).create(address, NAME) as stream:
        assert_same(play_stream(stream, new), rehearsed)
        assert "bit for bit" in str(stream.verify())


@pytest.mark.parametrize("policy", ["voi[half_life=30d]", "voi[specificity=0.98]", "ts", "pg-ts", "greedy"])
def test_other_policies_are_rehearsed_as_they_run(policy, tables):
    """Those that take no levels or curves, and one that forgets by the time: also what it learnt of the past."""
    past, new = tables
    name, _, option = policy.rstrip("]").partition("[")
    key, _, value = option.partition("=")
    options = {key: float(value) if key == "specificity" else value} if option else {}
    spec = at.policies.PolicySpec(name, options)
    told = {"history": past, "drop": ["order"], "costs": COSTS, "seed": SEED, **ROLES, **STAFFING}
    log = at.replay(new, "fraud", policies=[spec], log=spec.label, **told).log
    stream = prepared(past, name=name, options=options).create("memory", NAME)
    decided = play_stream(stream, new)
    assert [row[FIELDS.index("x")] for row in decided] == [row.tobytes() for row in log.x]
    for field in ("probability", "act"):
        assert [row[FIELDS.index(field)] for row in decided] == getattr(log, field).tolist()
    assert repr([row[FIELDS.index("chance")] for row in decided]) == repr(log.chance.tolist())


def test_audits_that_pay_are_usual_in_both(tables):
    """Nobody said how many: as many as pay, in the order of time and in a stream, the same ones."""
    past, new = tables
    given = {"costs": COSTS, "seed": SEED, **ROLES}
    log = at.replay(new, "fraud", history=past, drop=["order"], policies=["voi"], log="voi", **given).log
    stream = at.streams.from_history(past, "fraud", id="order", teach=True, **given).create("memory", NAME)
    assert stream.audit == at.Audit.of("auto")
    decided = play_stream(stream, new)
    for field in ("probability", "act", "audit"):
        assert [row[FIELDS.index(field)] for row in decided] == getattr(log, field).tolist()
    floors = log.probability[~log.act]
    assert 0.005 < floors.mean() < 0.011
    bare = at.streams.from_history(past, "fraud", id="order", teach=True, audit=0, **given).create("memory", NAME)
    assert bare.audit is None


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_a_stream_that_was_killed_goes_on_as_its_rehearsal(kind, tables, rehearsed, tmp_path, monkeypatch):
    past, new = tables
    address = str(tmp_path / "shop.db") if kind == "sqlite" else fresh_database()
    prepared(past).create(address, NAME).close()
    words = [sys.executable, "-m", "tests.contract.one_table", address, str(new), str(MIDDLE)]
    assert subprocess.run(words, cwd=ROOT, check=False).returncode == -signal.SIGKILL
    with _opened(address) as stream:
        assert len(stream) > MIDDLE
        assert_same(play_stream(stream, new), rehearsed)  # the first half is answered again
        stream.snapshot()
    with _opened(address) as stream:
        assert_same(play_stream(stream, new), rehearsed)
        stream.verify()


def _opened(address):
    for _ in range(200):  # PostgreSQL may take a while to end the session of a process that was killed
        try:
            return at.Stream.open(address, NAME)
        except at.errors.NotOwnerError:
            time.sleep(0.05)
    return at.Stream.open(address, NAME)


def test_the_service_decides_as_the_rehearsal_also_after_a_kill(tables, rehearsed, tmp_path):
    past, new = tables
    address, port = str(tmp_path / "shop.db"), free_port()
    prepared(past).create(address, NAME).close()
    store = open_store(address)
    key = Keys(store).create("shop", ("decide", "label", "read"), ("*",))[0]
    store.close()
    rows = {row[0]: row for row in rehearsed}

    def half(stop):
        service = subprocess.Popen(
            [sys.executable, "-m", "appletaste", "serve", "--store", address, "--port", str(port), "--json"],
            stdout=subprocess.PIPE,
        )
        try:
            while service.stdout.readline().strip() != b"}":  # it says what is served where, and listens then
                assert service.poll() is None
            stream = at.connect(f"http://127.0.0.1:{port}", key=key).stream(NAME)

            def decide(item):
                answer = stream.decide(item, id=item["order"])
                theirs = rows[answer.id]  # the service keeps the vector to itself: the store is asked below
                return answer.id, theirs[1], answer.chance, answer.probability, answer.act, answer.audit

            return play(new, decide, stream.label, stop)
        finally:
            os.kill(service.pid, signal.SIGKILL)
            service.wait()
            service.stdout.close()

    assert_same(half(MIDDLE), rehearsed[:MIDDLE])
    assert_same(half(None), rehearsed)
    with at.Stream.open(address, NAME, read_only=True) as stream:
        kept = [stream.find(id_).answer.decision.x.tobytes() for id_ in rows]
        assert kept == [row[1] for row in rehearsed]
        stream.verify()


def test_the_command_line_shows_the_chances_of_the_rehearsal(tables, tmp_path, monkeypatch, capsys):
    """``replay new --history past`` and ``stream create --history past --teach``, ``decide new``: the same chances."""
    past, new = map(str, tables)
    monkeypatch.chdir(tmp_path)
    costs = ["--costs", ",".join(f"{name}={cost}" for name, cost in COSTS.items())]
    both = [*costs, "--time", "placed_at", "--label-time", "settled_on"]
    (tmp_path / "seed").write_text("1")
    # no label is told to the stream, so none may arrive in the replay: all of them after the last order
    late = tmp_path / "late.csv"
    lines = [line.split(",") for line in Path(new).read_text().splitlines()]
    day = lines[0].index("settled_on")
    late.write_text(
        "\n".join(
            ",".join([*line[:day], line[day] if k == 0 else "2030-01-01", *line[day + 1 :]])
            for k, line in enumerate(lines)
        )
        + "\n"
    )
    assert (
        main(
            [
                "replay",
                str(late),
                "--label",
                "fraud",
                "--drop",
                "order",
                *both,
                "--history",
                past,
                "--log",
                "log.jsonl",
                "--policy",
                "voi",
            ]
        )
        == 0
    )
    create = ["stream", "create", "shop.db", "--history", past, "--label", "fraud", "--id", "order", *both, "--teach"]
    assert main([*create, "--seed-file", "seed"]) == 0
    capsys.readouterr()
    drop = ["--drop", "settled_on", "--drop", "fraud"]
    assert main(["decide", "shop.db", str(late), *drop, "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)["decisions"]
    log = at.DecisionLog.read("log.jsonl")
    assert [row["chance"] for row in shown] == log.chance.tolist()
    assert [row["act"] for row in shown] == log.act.tolist()
