"""Bodies that are wrong in every way: a 4xx, nothing stored, and nothing of the body said again."""

import http.client
import json
import os
import random
from contextlib import closing

import pytest

from appletaste.service.api import decisions

from .serving import ask

#: ``make test-faults`` asks for more.
MUTATIONS = int(os.environ.get("APPLETASTE_MUTATIONS", "2000"))
DECIDE = "/v1/streams/orders/decisions"
COSTS = b'{"miss": 5, "false_alarm": 1, "hit": 0}'
GOOD = b'{"id": "fuzz", "item": [1.5, -2, 3e0], "time": "2024-05-31", "stratum": "x", "costs": ' + COSTS + b"}"
VECTOR = b'{"id": "a", "item": [1, 2, 3], '

NAMED = {
    "nan": (b'{"id": "a", "item": [NaN, 1, 2]}', 400),
    "infinity": (b'{"id": "a", "item": [Infinity, 1, 2]}', 400),
    "minus infinity": (b'{"id": "a", "item": [-Infinity, 1, 2]}', 400),
    "1e400": (b'{"id": "a", "item": [1e400, 1, 2]}', 422),
    "1e200": (b'{"id": "a", "item": [1e200, 1, 2]}', 422),
    "many digits": (b'{"id": "a", "item": [1' + 400 * b"0" + b", 1, 2]}", 422),
    "text as number": (b'{"id": "a", "item": ["1.5", 1, 2]}', 422),
    "truth as number": (b'{"id": "a", "item": [true, 1, 2]}', 422),
    "null as number": (b'{"id": "a", "item": [null, 1, 2]}', 422),
    "too short": (b'{"id": "a", "item": [1, 2]}', 422),
    "a record for a vector": (b'{"id": "a", "item": {"x": 1}}', 422),
    "unknown field": (b'{"id": "a", "item": [1, 2, 3], "colour": 1}', 422),
    "no id": (b'{"item": [1, 2, 3]}', 422),
    "empty id": (b'{"id": "", "item": [1, 2, 3]}', 422),
    "long id": (b'{"id": "' + 300 * b"a" + b'", "item": [1, 2, 3]}', 422),
    "zero byte": (b'{"id": "a\\u0000", "item": [1, 2, 3]}', 422),
    "half a character": (b'{"id": "\\ud800", "item": [1, 2, 3]}', 400),
    "bad utf-8": (b'{"id": "\xff\xfe", "item": [1, 2, 3]}', 400),
    "deep nesting": (b'{"id": "a", "item": ' + 30_000 * b"[" + 30_000 * b"]" + b"}", 422),
    "deep unknown": (b'{"id": "a", "x": ' + 30_000 * b"[" + 30_000 * b"]" + b"}", 422),
    "too large": (b'{"id": "a", "item": [' + 70_000 * b" " + b"1, 2, 3]}", 413),
    "no json": (b"hello", 400),
    "nothing": (b"", 400),
    "a list": (b"[]", 422),
    "two objects": (b'{"id": "a", "item": [1, 2, 3]} {}', 400),
    "costs that cannot be": (VECTOR + b'"costs": {"miss": "x", "false_alarm": 1, "hit": 0}}', 422),
    "costs beyond": (VECTOR + b'"costs": {"miss": 1e300, "false_alarm": 1, "hit": -1e300}}', 422),
    "a year beyond": (b'{"id": "a", "item": [1, 2, 3], "time": "9999-12-31T23:59:59-23:59"}', 422),
}


@pytest.mark.parametrize("name", NAMED)
def test_a_named_body_is_refused_and_changes_nothing(service, key, name):
    body, status = NAMED[name]
    before = service.digest()
    told = service.ask("POST", DECIDE, raw=body, key=key)
    assert told.status == status
    assert told.headers["content-type"] == "application/problem+json"
    assert service.digest() == before


ENDS = "/v1/streams/orders"


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", ENDS + "/queue?order=worth%0A", None),
        ("POST", ENDS + "/queue:claim", {"order": "worth\n"}),
        ("POST", ENDS + "/mode", {"mode": "live\n"}),
        ("GET", ENDS + "/days?from=2024-05-01%0A", None),
        ("GET", ENDS + "/report.html?month=2024-05%0A", None),
        ("POST", "/v1/streams", {"name": "new\n", "n_features": 3, "costs": json.loads(COSTS)}),
        ("POST", ENDS + "/alarms/x/acknowledge", {"text": "a\0"}),
    ],
)
def test_what_ends_in_a_control_character_is_refused_at_the_door(service, key, method, path, body):
    before = service.digest()
    told = service.ask(method, path, body, key=key)
    assert (told.status, told.problem) == (422, "validation")
    where = told.json()["errors"][0]
    assert where.get("pointer") or where.get("parameter")
    assert service.digest() == before


def test_media_types_sizes_and_queries(service, key):
    good = b'{"id": "m", "item": [1, 2, 3]}'
    for media in ("text/plain", "application/x-www-form-urlencoded", ""):
        assert service.ask("POST", DECIDE, raw=good, key=key, headers={"Content-Type": media}).status == 415
    pieces = iter([b'{"id": "m", "item": [', 70_000 * b" ", b"1,2,3]}"])
    connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=30)
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    connection.request("POST", DECIDE, pieces, headers, encode_chunked=True)  # no length is said beforehand
    assert connection.getresponse().status == 413
    connection.close()
    log = "/v1/streams/orders/log"
    for query in (
        "?colour=1",
        "?from_seq=x",
        "?from_seq=1&from_seq=2",
        "?from_seq=-1",
        "?features=maybe",
        "?%ff=1",
        "?a",
    ):
        assert service.ask("GET", log + query, key=key).status in (400, 422), query
    assert service.ask("GET", "/v1/streams/%ff", key=key).status in (400, 404)
    assert service.ask("GET", "/v1/streams/orders/decisions/%ff", key=key).problem == "bad-encoding"
    batch = b'{"decisions": [' + 4_200_000 * b" " + b"]}"
    assert service.ask("POST", DECIDE + ":batch", raw=batch, key=key).status == 413


def test_nothing_of_a_request_is_said_again(service, key):
    secret, sheet = "p4ssw0rd", {"miss": 5, "false_alarm": 1, "hit": 0}
    stream = {"name": "n", "n_features": 1, "costs": sheet, "policy": secret}
    people = "/v1/streams/people/decisions"
    for path, body in (
        (DECIDE, {"id": secret, "item": [secret]}),
        (DECIDE, {"id": "a", "item": [1, 2, 3], secret: 1}),
        (DECIDE, {"id": "a", "item": [1, 2, 3], "time": secret}),
        (people, {"id": "a", "item": {"age": secret, "job": None}}),
        (people, {"id": "a", "item": {"age": 1, "job": None, secret: 1}}),
        ("/v1/streams", stream),
        ("/v1/streams/orders/mode", {"mode": secret, "by": "a"}),
        (f"/v1/streams/{secret}/decisions", {"id": "a", "item": [1]}),
    ):
        told = service.ask("POST", path, body, key=key)
        assert 400 <= told.status < 500, body
        assert secret.encode() not in told.body
    assert secret.encode() not in service.ask("GET", f"/v1/streams/orders/decisions/{secret}", key=key).body


def mutated(body, chance):
    """Return a body with a few bytes changed, dropped, doubled or put in from elsewhere."""
    found = bytearray(body)
    for _ in range(chance.randrange(1, 5)):
        place, kind = chance.randrange(len(found) + 1), chance.randrange(5)
        if kind == 0 and place < len(found):
            found[place] = chance.randrange(256)
        elif kind == 1 and place < len(found):
            del found[place]
        elif kind == 2:
            found[place:place] = bytes([chance.randrange(256)])
        elif kind == 3:
            found[place:place] = chance.choice([b"NaN", b"1e999", b"null", b"true", b'"', b"{", b"[", b"\\u0000", b"-"])
        else:
            other = chance.randrange(len(found) + 1)
            found[place:place] = found[min(place, other) : max(place, other)]
    return bytes(found)


def play(service, key, count, seed):
    """Send mutated bodies to every operation that takes one; return how many were refused and how many taken."""
    with closing(http.client.HTTPConnection("127.0.0.1", service.port, timeout=30)) as connection:
        return play_on(service, key, count, seed, connection)


def play_on(service, key, count, seed, connection):
    chance = random.Random(seed)
    label = b'{"value": 1, "time": "2024-06-01", "source": "bank"}'
    targets = [
        ("POST", DECIDE, GOOD),
        ("POST", "/v1/streams/people/decisions", b'{"id": "f", "item": {"age": 40, "job": "pilot"}}'),
        ("POST", DECIDE + ":batch", b'{"decisions": [' + GOOD + b', {"id": "q", "item": [1, 2, 3]}]}'),
        ("PUT", DECIDE + "/fuzz/label", label),
        ("POST", DECIDE + "/fuzz/label/corrections", label),
        ("POST", "/v1/streams/orders/labels:batch", b'{"labels": [{"id": "fuzz", "value": 0}]}'),
        ("POST", "/v1/streams/orders/queue:claim", b'{"by": "ann", "count": 2, "order": "age", "minutes": 0.01}'),
        ("POST", "/v1/streams/orders/what-if", b'{"threshold": 0.25, "level": 0.9}'),
        ("POST", "/v1/streams/orders/costs", b'{"costs": {"miss": 5, "false_alarm": 1, "hit": 0}, "by": "ann"}'),
        ("POST", "/v1/keys", b'{"name": "k", "scopes": ["read"], "streams": ["orders"], "expires": "2999-01-01"}'),
    ]
    weights = [8, 6, 4, 3, 2, 2, 1, 1, 1, 1]
    good = ask(service.port, "POST", DECIDE, raw=GOOD.replace(b"fuzz", b"good %d" % seed), key=key)
    assert good.status == 201, "times are dates from here on"
    refused = taken = 0
    for turn in range(count):
        method, path, body = chance.choices(targets, weights)[0]
        if turn % 2:
            body = body.replace(b'"fuzz"', b'"fuzz %d %d"' % (seed, turn))  # new, unless the mutation says otherwise
        before = service.digest()
        told = ask(service.port, method, path, raw=mutated(body, chance), key=key, connection=connection)
        assert told.status < 500, (path, told.body)
        if told.status >= 400:
            refused += 1
            assert told.headers["content-type"] == "application/problem+json"
            assert service.digest() == before, path
        else:
            taken += 1
            json.loads(told.body)
    return refused, taken


def test_mutated_bodies_never_break_the_service(service, key):
    refused, taken = play(service, key, MUTATIONS, seed=11)
    assert refused > 0.5 * MUTATIONS
    assert taken > 0.01 * MUTATIONS  # some mutations are harmless, or the good bodies are not good
    assert service.ask("POST", "/v1/streams/orders/verify", key=key).json()["verifies"]


def test_the_digest_sees_a_refusal_that_stores_something(service, key, monkeypatch):
    """Negative control: a service that decides first and refuses afterwards."""
    from appletaste.service.problems import Problem

    usual = decisions.decide_each

    def hasty(stream, asked):
        pairs = zip(usual(stream, asked), asked, strict=True)
        return [told if one.id.startswith("good") else Problem("validation") for told, one in pairs]

    monkeypatch.setattr(decisions, "decide_each", hasty)
    with pytest.raises(AssertionError, match="decisions"):
        play(service, key, 3000, seed=12)
