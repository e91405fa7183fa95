"""What every route answers when it is asked as it is meant."""

import http.client
import json
import socket

import pytest

import appletaste as at
from appletaste.streams import Stream

from .serving import hear

ORDERS = "/v1/streams/orders"


@pytest.fixture
def ask(service, key):
    return lambda *args, **given: service.ask(*args, key=key, **given)


def decide(ask, id_, item=(1.0, 0.5, 0.2), **more):
    return ask("POST", ORDERS + "/decisions", {"id": id_, "item": list(item), **more})


def test_a_decision_and_the_same_again_and_another_item(ask):
    first = decide(ask, "one", time="2024-05-31T12:00:00")
    assert first.status == 201
    wanted = {"id", "seq", "act", "probability", "chance", "audit", "code", "threshold", "expected_cost", "reasons"}
    assert first.json().keys() == wanted | {"mode", "time"}
    assert first.json()["expected_cost"].keys() == {"act", "pass"}
    again = decide(ask, "one", time="2024-05-31T12:00:00")
    assert again.status == 200
    assert again.body == first.body
    other = decide(ask, "one", (1.0, 0.5, 0.3))
    assert (other.status, other.problem) == (409, "event-conflict")


def test_a_decision_is_that_of_a_stream_in_this_process(ask, tmp_path):
    """The same seed, the same items: the service adds nothing and takes nothing away."""
    told = [decide(ask, f"same-{k}", (k / 10, 1.0, -0.5), time="2024-06-01").json() for k in range(5)]
    record = [json.loads(line) for line in ask("GET", ORDERS + "/log?features=true").body.splitlines()]
    policy = at.policy("voi", n_features=3, costs=at.Costs(miss=5, false_alarm=1, hit=0))
    alone = Stream.create("memory", "orders", at.streams.Awaiting(policy), seed=7)
    made = [
        alone.decide(event["x"], id=event["id"], time=event["time"]) for event in record if event["kind"] == "decided"
    ]
    assert [(one["act"], one["probability"]) for one in told] == [(one.act, one.probability) for one in made[-5:]]


def test_ids_may_hold_anything_that_an_address_may_not(ask):
    for id_, path in (("a/b", "a%2Fb"), ("ü?#%", "%C3%BC%3F%23%25"), ("..", ".."), ("x label", "x%20label")):
        assert decide(ask, id_).status == 201
        assert ask("GET", f"{ORDERS}/decisions/{path}").json()["id"] == id_


def test_labels(ask):
    decide(ask, "l1")
    path = ORDERS + "/decisions/l1/label"
    before = ask("GET", ORDERS).json()["labels"]
    assert ask("PUT", path, {"value": 1, "source": "bank"}).json()["status"] == "applied"
    assert ask("GET", ORDERS).json()["labels"] == before + 1
    assert ask("PUT", path, {"value": 1}).json()["status"] == "already_applied"
    other = ask("PUT", path, {"value": 0})
    assert (other.status, other.problem) == (409, "label-conflict")
    assert ask("POST", path + "/corrections", {"value": 0}).json()["state"] == "corrected"
    assert ask("DELETE", path).json()["state"] == "pending"
    assert ask("DELETE", path).problem == "no-label"
    case = ask("GET", ORDERS + "/decisions/l1").json()
    assert (case["state"], case["label"], case["notes"]) == ("pending", None, [])
    events = [json.loads(line) for line in ask("GET", ORDERS + "/log").body.splitlines()]
    told = [(event["kind"], event["by"]) for event in events if event.get("id") == "l1" and event["kind"] != "decided"]
    assert [kind for kind, _ in told] == ["labelled", "corrected", "retracted"]
    assert told[0][1] == "bank"
    assert told[1][1] == told[2][1] != ""  # the name of the key
    early = ask("PUT", path, {"value": 1, "time": "1999-01-01"})
    assert (early.status, early.json()["errors"][0]["pointer"]) == (422, "/time")
    assert ask("PUT", ORDERS + "/decisions/nobody/label", {"value": 1}).problem == "unknown-decision"


def test_a_label_of_a_pass_is_recorded_and_not_learnt(ask):
    for k in range(300):
        told = decide(ask, f"pass-{k}", (-3.0, -2.0, 0.1 * k)).json()
        if not told["act"]:
            break
        ask("PUT", f"{ORDERS}/decisions/pass-{k}/label", {"value": 0})
    assert not told["act"]
    path = f"{ORDERS}/decisions/{told['id']}/label"
    assert ask("PUT", path, {"value": 1}).json()["status"] == "recorded_not_learned"
    assert ask("PUT", path, {"value": 1}).json()["status"] == "already_applied"
    assert ask("PUT", path, {"value": 0}).problem == "label-conflict"


def test_batches_take_the_good_and_refuse_the_bad(ask):
    asked = [{"id": "b1", "item": [1, 2, 3]}, {"id": "b2", "item": [1, 2]}, {"id": "b1", "item": [1, 2, 4]}, 7]
    results = ask("POST", ORDERS + "/decisions:batch", {"decisions": asked}).json()["results"]
    assert [one["status"] for one in results] == [201, 422, 409, 422]
    assert results[0]["body"]["id"] == "b1"
    again = ask("POST", ORDERS + "/decisions:batch", {"decisions": asked[:1]}).json()["results"]
    assert (again[0]["status"], again[0]["body"]) == (200, results[0]["body"])
    labels = [{"id": "b1", "value": 1}, {"id": "b9", "value": 1}, {"id": "b1", "value": 2}]
    results = ask("POST", ORDERS + "/labels:batch", {"labels": labels}).json()["results"]
    assert [one["status"] for one in results] == [200, 404, 422]
    assert ask("POST", ORDERS + "/decisions:batch", {"decisions": [asked[0]] * 1001}).status == 422


def test_enacted_notes_explanations_and_erasure(ask):
    decide(ask, "e1")
    assert ask("GET", ORDERS + "/decisions/e1/explanation").json()["probability"] > 0
    case = ask("PUT", ORDERS + "/decisions/e1/enacted", {"act": False, "by": "ann"}).json()
    assert (case["acted"], case["enacted_by"]) == (False, "ann")
    assert ask("POST", ORDERS + "/decisions/e1/notes", {"text": "odd", "by": "ann"}).status == 201
    assert ask("GET", ORDERS + "/decisions/e1").json()["notes"] == [{"by": "ann", "text": "odd"}]
    decide(ask, "e2")
    assert ask("DELETE", ORDERS + "/decisions/e2/item").json()["erased"]
    assert ask("GET", ORDERS + "/decisions/e2/explanation").problem == "cannot-happen"
    told = ask("POST", ORDERS + "/verify").json()
    assert told["verifies"]
    assert "erased" in told["told"]


def test_records_are_read_strictly(ask):
    path = "/v1/streams/people/decisions"
    assert ask("POST", path, {"id": "p1", "item": {"age": 40, "job": "pilot"}}).status == 201
    assert ask("POST", path, {"id": "p2", "item": {"age": None, "job": "clerk"}}).status == 201
    for item, pointer in (
        ({"age": "40", "job": "pilot"}, "/item/age"),
        ({"age": True, "job": "pilot"}, "/item/age"),
        ({"age": 40}, "/item/job"),
        ({"age": 40, "job": "pilot", "shoe": 3}, "/item"),
        ({"age": 1e101, "job": "pilot"}, "/item/age"),
    ):
        told = ask("POST", path, {"id": "p3", "item": item})
        assert (told.status, told.json()["errors"][0]["pointer"]) == (422, pointer)
    for strange, hint in (("agee", " (did you mean 'age'?)"), ("shoe", ""), ("age" * 100, "")):
        told = ask("POST", path, {"id": "p3", "item": {"job": "pilot", strange: 40}}).json()["errors"][0]
        assert told["expected"] == f"the columns of the stream and no others{hint}"


def test_time(ask):
    told = decide(ask, "t1", time="2999-01-01")
    assert (told.status, told.problem) == (422, "time-in-future")
    assert decide(ask, "t2", time="soon").json()["errors"][0]["pointer"] == "/time"
    assert decide(ask, "t3", time=12.5).status == 422  # all earlier times are dates


def test_the_log_and_the_live_view(ask, service, key):
    decide(ask, "log-1")
    lines = [json.loads(line) for line in ask("GET", ORDERS + "/log").body.splitlines()]
    assert [line["seq"] for line in lines] == list(range(1, len(lines) + 1))
    assert lines[-1]["id"] == "log-1"
    assert "x" not in lines[-1]
    part = ask("GET", ORDERS + "/log?from_seq=2&limit=2&features=true").body.splitlines()
    assert [json.loads(line)["seq"] for line in part] == [2, 3]
    assert len(json.loads(part[0])["x"]) == 3
    assert ask("GET", ORDERS + "/log.parquet").body[:4] == b"PAR1"
    with socket.create_connection(("127.0.0.1", service.port), timeout=20) as live:
        head = (
            f"GET {ORDERS}/live HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\nLast-Event-ID: {len(lines) - 1}"
        )
        live.sendall(f"{head}\r\n\r\n".encode())
        heard = b""
        while b'"log-1"' not in heard:  # where the connection was cut
            heard += live.recv(65536)
        decide(ask, "log-2")
        while b'"log-2"' not in heard:  # as it happens
            heard += live.recv(65536)
    assert heard.count(b"event: decided") == 2


def test_estimates_and_the_model(ask):
    assert len(ask("GET", ORDERS + "/model").json()["coefficients"]) == 3
    assert ask("GET", ORDERS + "/missed?level=0.8").json()["decisions"] > 0
    assert "saving" in ask("POST", ORDERS + "/what-if", {"threshold": 0.3}).json()
    assert "saving" in ask("POST", ORDERS + "/what-if", {"costs": {"miss": 9, "false_alarm": 1, "hit": 0}}).json()
    assert ask("POST", ORDERS + "/what-if", {}).json()["flip_count"] == 0  # the settings of today
    assert ask("POST", ORDERS + "/what-if", {"capacity": "a few"}).status == 422
    assert ask("GET", ORDERS + "/drift").json()["alarms"] == []


def test_streams_modes_and_costs(ask):
    sheet = {"miss": 5, "false_alarm": 1, "hit": 0}
    made = ask("POST", "/v1/streams", {"name": "new", "n_features": 2, "costs": sheet, "audit": "5%", "mode": "shadow"})
    assert (made.status, made.json()["mode"]) == (201, "shadow")
    assert ask("POST", "/v1/streams", {"name": "new", "n_features": 2, "costs": sheet}).problem == "stream-exists"
    assert "new" in ask("GET", "/v1/streams").json()["streams"]
    path = "/v1/streams/new"
    lacking = ask("POST", path + "/decisions", {"id": "a", "item": [1, 2]})
    assert lacking.json()["errors"][0]["pointer"] == "/baseline"
    told = ask("POST", path + "/decisions", {"id": "a", "item": [1, 2], "baseline": False}).json()
    assert ask("POST", path + "/decisions", {"id": "a", "item": [1, 2]}).status == 200  # it was decided already
    assert ask("POST", path + "/decisions", {"id": "a", "item": [2, 1]}).problem == "event-conflict"
    assert (told["act"], told["mode"]) == (False, "shadow")
    assert "suggested" in told
    assert ask("POST", path + "/mode", {"mode": "live", "by": "ann"}).status == 200
    assert ask("POST", path + "/costs", {"costs": {**sheet, "miss": 9}, "by": "ann"}).status == 200
    assert ask("GET", path).json()["costs"]["miss"] == 9
    assert ask("GET", path).json()["words"]["passed"] == "let through"
    assert ask("POST", path + "/words", {"words": {"item": "order", "act": "hold", "currency": "EUR"}}).status == 200
    words = ask("GET", path).json()["words"]
    assert [words[name] for name in ("items", "acted", "currency", "positives")] == ["orders", "held", "EUR", "matches"]
    refused = ask("POST", path + "/words", {"words": {"positive": "=1+1"}})
    assert refused.json()["errors"][0]["pointer"] == "/words"
    assert ask("POST", path + "/words", {"words": {"colour": "red"}}).status == 422
    wrong = ask("POST", "/v1/streams", {"name": "w", "n_features": 2, "costs": {"miss": 0, "false_alarm": 1, "hit": 5}})
    assert wrong.json()["errors"][0]["pointer"] == "/costs"
    both = {"name": "w", "costs": sheet, "n_features": 2, "examples": [{"a": 1}, {"a": 2}]}
    assert ask("POST", "/v1/streams", both).status == 422
    assert ask("POST", ORDERS + "/expire", {"now": "1990-01-01"}).json() == {"ids": []}
    assert ask("POST", path + "/expire", {}).problem == "cannot-happen"


def test_keys(ask, service):
    made = ask("POST", "/v1/keys", {"name": "shop", "scopes": ["read"], "expires": "2999-01-01"})
    secret, id_ = made.json()["secret"], made.json()["key"]["id"]
    assert secret.startswith("at_")
    assert service.ask("GET", ORDERS, key=secret).status == 200
    assert secret not in ask("GET", "/v1/keys").body.decode()
    assert ask("DELETE", f"/v1/keys/{id_}").json()["revoked"]
    assert service.ask("GET", ORDERS, key=secret).status == 401
    assert ask("DELETE", "/v1/keys/000000000000").problem == "unknown-key"


def test_watchers(ask, service):
    assert service.ask("GET", "/healthz").json() == {"status": "up"}
    assert service.ask("GET", "/readyz").json() == {"status": "ready"}
    told = ask("GET", "/metrics").body.decode()
    assert 'appletaste_requests_total{operation="decide",status="201"}' in told
    assert "appletaste_commit_seconds_count" in told
    assert service.ask("GET", "/v1/nothing").problem == "unknown-route"
    patch = ask("PATCH", "/v1/streams")
    assert (patch.status, patch.headers["allow"]) == (405, "GET, HEAD, POST")
    assert service.ask("PATCH", "/v1/streams").status == 401  # nobody learns more without a key
    post = service.ask("POST", "/healthz")
    assert (post.status, post.headers["allow"]) == (405, "GET, HEAD")
    document = service.ask("GET", "/openapi.json").json()
    assert document["paths"]["/v1/streams/{stream}/decisions"]["post"]["x-scope"] == "decide"


def heads(told):
    """Return what an answer says before its body; some bodies come in parts, and their length is not known before."""
    return {name: value for name, value in told.headers.items() if name != "transfer-encoding"}


def test_head_is_answered_as_get_is_without_a_body(ask, service, key):
    """RFC 9110, 9.3.2; each on a connection that the next request uses, too: a body would be read as its answer."""
    decide(ask, "seen")
    connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=30)
    open_to_all = ["/", "/healthz", "/readyz", "/openapi.json", "/page/page.css", "/v1/session", "/v1/nothing"]
    wanted = ["/v1/streams", ORDERS, ORDERS + "/decisions/seen", ORDERS + "/log", ORDERS + "/decisions/nobody"]
    for path, secret in [*((path, None) for path in [*open_to_all, ORDERS]), *((path, key) for path in wanted)]:
        got = service.ask("GET", path, key=secret, connection=connection)
        head = service.ask("HEAD", path, key=secret, connection=connection)
        assert (head.status, heads(head), head.body) == (got.status, heads(got), b""), path
    assert service.ask("HEAD", ORDERS + "/live", key=key).status == 200  # which never ends for GET
    assert service.ask("HEAD", ORDERS + "/log", key=service.key("decide")).status == 403
    connection.close()


def test_head_of_what_is_only_written_is_refused(ask):
    told = ask("HEAD", ORDERS + "/decisions")
    assert (told.status, told.headers["allow"], told.body) == (405, "POST", b"")


@pytest.mark.parametrize("scheme", ["bearer ", "BEARER ", "bEaReR   "])
def test_the_scheme_of_a_key_is_named_in_any_case(service, key, scheme):
    """RFC 9110, 11.1 and 11.4: one or more blanks follow."""
    headers = {"Authorization": scheme + key}
    assert service.ask("GET", ORDERS, headers=headers).status == 200
    view = hear(service.port, ORDERS + "/live", headers)
    service.app.host.wake()  # whoever may no longer look is told to go
    decided = service.ask("POST", ORDERS + "/decisions", {"id": f"by {scheme}", "item": [1, 2, 3]}, headers=headers)
    assert decided.status == 201
    heard = b""
    while f'"by {scheme}"'.encode() not in heard:
        part = view.recv(65536)
        assert part, "the view has ended"
        heard += part
    view.close()
    for wrong in ("bearer" + key, "Basic " + key, key, "bearer\t" + key, "bearer"):
        told = service.ask("GET", ORDERS, headers={"Authorization": wrong})
        assert (told.status, told.headers["www-authenticate"]) == (401, "Bearer")


def test_work_is_held_by_one_reviewer_at_a_time(ask):
    for k in range(4):
        decide(ask, f"work-{k}", (1.0, 1.0, k))
    first = ask("POST", ORDERS + "/queue:claim", {"by": "ann", "count": 2}).json()
    rest = ask("POST", ORDERS + "/queue:claim", {"by": "bob", "count": 100, "order": "age"}).json()
    held = {item["id"] for item in first["items"]}
    assert len(held) == 2
    assert held.isdisjoint(item["id"] for item in rest["items"])
    assert len(rest["items"]) + 2 == first["waiting"]
    assert ask("POST", ORDERS + "/queue:claim", {"by": "bob", "order": "amount"}).json()["items"] == []
    other = ask("POST", ORDERS + "/queue:release", {"by": "bob", "ids": sorted(held)})
    assert other.problem == "claimed-by-other"
    assert ask("POST", ORDERS + "/queue:release", {"by": "ann", "ids": sorted(held)}).json()["released"] == sorted(held)
    again = ask("POST", ORDERS + "/queue:claim", {"by": "bob", "count": 2}).json()["items"]
    assert {item["id"] for item in again} == held
    worth = [item["worth"] for item in first["items"]]
    assert worth == sorted(worth, reverse=True)


def test_a_new_stream_has_audits_unless_none_are_asked_for(ask):
    sheet = {"miss": 5, "false_alarm": 1, "hit": 0}
    for name, audit, expected in (("usual", None, "auto"), ("none", "0", None), ("named", "5%", "5%")):
        asked = {"name": name, "n_features": 2, "costs": sheet} | ({} if audit is None else {"audit": audit})
        assert ask("POST", "/v1/streams", asked).status == 201
        assert ask("GET", f"/v1/streams/{name}/health").json()["audit"] == expected
