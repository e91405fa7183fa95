"""What a scrape says: in the format of Prometheus, true, cheap, and about the streams that a key may see."""

import re
import time
from pathlib import Path

import numpy as np
import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

import appletaste as at
from appletaste.service.metrics import EDGES
from appletaste.streams import Stream
from appletaste.streams.activity import DELAYS

from .serving import COSTS, Running, new_store

ORDERS, SHOP = "/v1/streams/orders", "/v1/streams/shop"

DOCS = Path(__file__).parents[2] / "docs"


def scraped(told):
    """Return every sample as (name, labels) -> value, and every family by its name."""
    families = {family.name: family for family in text_string_to_metric_families(told.body.decode())}
    samples = [sample for family in families.values() for sample in family.samples]
    found = {(one.name, tuple(sorted(one.labels.items()))): one.value for one in samples}
    assert len(found) == len(samples)  # nothing is said twice
    return found, families


def value(found, name, **labels):
    return found["appletaste_" + name, tuple(sorted(labels.items()))]


@pytest.fixture
def served(tmp_path):
    store = new_store(tmp_path)
    with Running(store) as running:
        key = running.key()
        running.as_all = lambda *args, **given: running.ask(*args, key=key, **given)
        yield running
    store.close()


def test_business_is_counted_as_the_record_has_it(served):
    """Acts, passes, labels with their delay, changes and overrules: the record itself is asked for comparison."""
    ask = served.as_all
    for k in range(40):
        item = {"id": f"d{k}", "item": [1.0, k / 8 - 2.5, 0.3], "time": f"2024-05-01T{k // 2:02}:00:00"}
        cheap = {} if k % 4 else {"costs": {"miss": 0.01, "false_alarm": 1.0, "hit": 0.0}}  # to miss it costs nothing
        assert ask("POST", ORDERS + "/decisions", item | cheap).status == 201
    case = ORDERS + "/decisions/d{}"
    acted = [k for k in range(40) if ask("GET", case.format(k)).json()["act"]]
    passed = [k for k in range(40) if k not in acted]
    assert len(acted) > 6
    assert passed
    for k in acted[:5]:
        label = {"value": int(k % 2), "time": f"2024-05-05T{k // 2:02}:00:00"}
        assert ask("PUT", case.format(k) + "/label", label).json()["status"] == "applied"
        assert ask("PUT", case.format(k) + "/label", label).json()["status"] == "already_applied"  # and not counted
    assert ask("PUT", case.format(passed[0]) + "/label", {"value": 1}).json()["status"] == "recorded_not_learned"
    first = case.format(acted[0])
    assert ask("POST", first + "/label/corrections", {"value": 1 - acted[0] % 2}).status == 200
    assert ask("DELETE", case.format(acted[1]) + "/label").status == 200
    assert ask("PUT", case.format(passed[1]) + "/enacted", {"act": True, "by": "ann"}).status == 200
    found, _ = scraped(ask("GET", "/metrics"))
    of = {"stream": "orders"}
    assert value(found, "decisions_total", result="act", **of) == len(acted)
    assert value(found, "decisions_total", result="pass", **of) == len(passed)
    assert value(found, "decisions_total", result="audit", **of) == 0
    positive = 1 + sum(k % 2 for k in acted[:5])
    assert value(found, "labels_total", label="positive", **of) == positive
    assert value(found, "labels_total", label="negative", **of) == 6 - positive
    assert value(found, "label_changes_total", change="corrected", **of) == 1
    assert value(found, "label_changes_total", change="retracted", **of) == 1
    assert value(found, "overrules_total", **of) == 1
    assert value(found, "label_delay_seconds_count", **of) == 5
    assert value(found, "label_delay_seconds_sum", **of) == 5 * 4 * 86400
    edges = {edge: value(found, "label_delay_seconds_bucket", le=str(edge), **of) for edge in DELAYS}
    assert edges[3 * 86400] == 0
    assert edges[7 * 86400] == 5
    health = ask("GET", ORDERS + "/health").json()
    assert value(found, "labels_awaited", **of) == health["pending"] == len(acted) - 5 + 1 + 1
    assert value(found, "events", **of) == health["events"]
    oldest = acted[5] // 2  # what was withdrawn or enacted waits since now
    assert value(found, "label_awaited_since_timestamp_seconds", **of) == 1714521600 + 3600 * oldest
    assert value(found, "decisions_total", result="act", stream="people") == 0


def test_modes_and_records_that_were_verified(served):
    ask = served.as_all
    found, families = scraped(ask("GET", "/metrics"))
    assert "appletaste_record_verifies" not in families  # nobody has verified a record yet
    assert value(found, "mode", stream="orders", mode="live") == 1
    assert ask("POST", ORDERS + "/mode", {"mode": "frozen"}).status == 200
    before = time.time()
    assert ask("POST", ORDERS + "/verify").json()["verifies"]
    found, _ = scraped(ask("GET", "/metrics"))
    modes = {mode: value(found, "mode", stream="orders", mode=mode) for mode in ("shadow", "live", "frozen", "safe")}
    assert modes == {"shadow": 0, "live": 0, "frozen": 1, "safe": 0}
    assert value(found, "record_verifies", stream="orders") == 1
    assert before <= value(found, "record_verified_timestamp_seconds", stream="orders") <= time.time()
    assert ("appletaste_record_verifies", (("stream", "people"),)) not in found


def test_requests_by_scope_with_their_latency(served):
    ask = served.as_all
    for k in range(3):
        ask("POST", ORDERS + "/decisions", {"id": f"r{k}", "item": [1.0, 0.0, 0.0]})
    served.ask("GET", "/v1/streams")  # without a key
    found, _ = scraped(ask("GET", "/metrics"))
    assert value(found, "request_duration_seconds_count", scope="decide") == 3
    assert 0 < value(found, "request_duration_seconds_sum", scope="decide") < 60
    assert value(found, "request_duration_seconds_bucket", scope="decide", le="+Inf") == 3
    buckets = [value(found, "request_duration_seconds_bucket", scope="decide", le=str(edge)) for edge in EDGES]
    assert buckets == sorted(buckets)
    assert value(found, "requests_total", operation="decide", status="201") == 3
    assert value(found, "requests_total", operation="list_streams", status="401") == 1


def test_names_units_and_help_are_those_of_prometheus(desk_service, ask):
    """Each family has a help and a kind; counters end in _total; units are seconds, bytes and plain numbers."""
    for path in (SHOP + "/missed", SHOP + "/alarms"):
        assert ask("GET", path).status == 200
    told = ask("GET", "/metrics")
    assert told.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    _, families = scraped(told)
    assert len(families) > 30
    for name, family in families.items():
        assert family.documentation.endswith("."), name
        assert family.type in ("counter", "gauge", "histogram"), name
        assert name.startswith(("appletaste_", "process_")), name
        assert not name.endswith(("_count", "_sum", "_bucket", "_ms", "_minutes", "_days", "_kb")), name
        ends = {sample.name.endswith("_total") for sample in family.samples}
        assert ends == {family.type == "counter"}, name
    assert families["process_resident_memory_bytes"].samples[0].value > 10_000_000


def test_missed_and_alarms_are_those_of_the_last_look(desk_service, ask):
    """A scrape reads no record: before somebody asks there is nothing, and afterwards what was told."""
    host = desk_service.app.host
    host._read_models.clear()
    before, families = scraped(ask("GET", "/metrics"))
    assert "appletaste_missed" not in families
    assert "appletaste_alarms" not in families
    assert not host._read_models  # and nothing was read for the scrape
    began = time.time()
    missed = ask("GET", SHOP + "/missed").json()["design_missed"]
    alarms = ask("GET", SHOP + "/alarms").json()["alarms"]
    found, _ = scraped(ask("GET", "/metrics"))
    of = {"stream": "shop"}
    assert value(found, "missed", **of) == pytest.approx(missed["value"])
    assert value(found, "missed_low", **of) == pytest.approx(missed["low"])
    assert value(found, "missed_high", **of) == pytest.approx(missed["high"])
    assert began <= value(found, "missed_timestamp_seconds", **of) <= time.time()
    assert began <= value(found, "alarms_timestamp_seconds", **of) <= time.time()
    kinds = [value(found, "alarms", kind=kind, **of) for kind in ("labels", "features", "clock")]
    assert sum(kinds) == sum(alarm["stands"] for alarm in alarms)
    assert value(before, "events", **of) == value(found, "events", **of)


def named_in(text):
    """Return the numbers that an expression of Prometheus names, histograms by their family."""
    names = re.findall(r"\b(appletaste_\w+|process_\w+)\b", text)
    return {re.sub(r"_(bucket|total)$", "", name) for name in names}


def test_alerts_and_the_page_name_numbers_of_a_scrape(desk_service, ask):
    assert ask("POST", SHOP + "/verify").json()["verifies"]
    assert ask("GET", SHOP + "/missed").status == ask("GET", SHOP + "/alarms").status == 200
    _, families = scraped(ask("GET", "/metrics"))
    known = {name.removesuffix("_total") for name in families}
    rules = [
        rule
        for group in yaml.safe_load((DOCS / "operations" / "alerts.yml").read_text())["groups"]
        for rule in group["rules"]
    ]
    assert len(rules) > 10
    for rule in rules:
        assert rule.keys() <= {"alert", "expr", "for", "labels", "annotations"}, rule
        assert rule["labels"]["severity"] in ("page", "ticket")
        assert rule["annotations"]["summary"]
        assert named_in(rule["expr"]) <= known, rule["alert"]
    assert named_in("rate(appletaste_nothing_total[5m])") - known  # a number that is not there is found
    page = (DOCS / "operations.md").read_text()
    table = re.search(r"^\| numbers .*?\n\n", page, re.S | re.M).group()
    told = {
        re.sub(r"\{.*", "", name)
        for row in re.findall(r"^\| (`.*?) \|", table, re.M)
        for name in re.findall(r"`(.*?)`", row)
    }
    assert len(told) > 20
    short = {name.removesuffix("_total") for name in told}
    assert {name for name in short if not {name, f"appletaste_{name}"} & known} == set()
    alerts = {
        f"Appletaste{name}"
        for row in re.findall(r"^\| (`[A-Z].*?) \|", page, re.M)
        for name in re.findall(r"`(\w+)`", row)
    }
    assert alerts == {rule["alert"] for rule in rules}


def test_alarms_that_nobody_has_taken_note_of(tmp_path):
    """A column that shifts raises an alarm; who takes note of the alarm is seen by the next scrape."""
    store = new_store(tmp_path)
    chance = np.random.default_rng(5)
    with Stream.open(store, "orders") as stream, stream.group():
        for k in range(2100):
            stream.decide([1.0, float(chance.normal(0 if k < 1000 else 4)), 0.0], id=str(k))
    with Running(store) as served:
        key = served.key()
        alarms = served.ask("GET", ORDERS + "/alarms", key=key).json()["alarms"]
        assert alarms
        kind = {"stream": "orders", "kind": "features"}
        found, _ = scraped(served.ask("GET", "/metrics", key=key))
        assert value(found, "alarms_unacknowledged", **kind) == value(found, "alarms", **kind) == len(alarms)
        assert served.ask("POST", f"{ORDERS}/alarms/{alarms[0]['id']}/acknowledge", {}, key=key).status == 200
        found, _ = scraped(served.ask("GET", "/metrics", key=key))
        assert value(found, "alarms_unacknowledged", **kind) == len(alarms) - 1
        assert value(found, "alarms", **kind) == len(alarms)
    store.close()


def test_a_key_sees_its_own_streams_and_names_are_quoted(tmp_path):
    store = new_store(tmp_path)
    strange = 'a "b"\\\u00fc'
    Stream.create(store, strange, at.policy("always", n_features=1, costs=COSTS)).close()
    with Running(store) as served:
        few, all_ = served.key("read", streams=("people",)), served.key("read")
        streams = [
            {
                dict(labels)["stream"]
                for (_, labels) in scraped(served.ask("GET", "/metrics", key=key))[0]
                if "stream" in dict(labels)
            }
            for key in (few, all_)
        ]
    assert streams == [{"people"}, {"people", "orders", strange}]
    store.close()


def test_counts_are_of_what_happened_and_not_of_what_is_folded_again(tmp_path):
    """Opening, verifying and looking back fold the record; none of that is activity."""
    store = new_store(tmp_path)
    with Stream.open(store, "orders") as stream:
        for k in range(8):
            stream.decide([1.0, k / 4, 0.0], id=str(k))
        assert sum(stream.activity.decisions.values()) == 8
        stream.verify()
        assert sum(stream.activity.decisions.values()) == 8
        assert stream.decide([1.0, 0.0, 0.0], id="0").again
        assert sum(stream.activity.decisions.values()) == 8
    with Stream.open(store, "orders") as stream:
        assert sum(stream.activity.decisions.values()) == 0
        assert stream.awaited_since is not None
    store.close()
