"""Every route, with no key, a wrong one, a revoked one, an expired one, one of another scope, one of another stream.

The same for browsers: with a cookie that is wrong, over, or of such a key, and without the token that a change needs.

The routes are taken from the router, so that a new one cannot be missed.
"""

import re
import time

import msgspec
import pytest

from appletaste.service import endpoint, sessions
from appletaste.service.keys import ROLES, SCOPES, Keys, digest_of
from appletaste.service.sessions import Session

#: Routes that anybody may call: whether the process is up and ready, the description and the page, which are public,
#: and the door of the page, which says who has signed in, if anybody has.
OPEN = {"healthz", "readyz", "openapi", "page", "page_file", "sign_in", "session"}
#: Routes of no stream that a key of any stream may call.
OF_ANY = {"list_streams": 200, "metrics": 200, "sign_out": 204}
CSV = b"amount,fraud\n" + b"1,0\n2,1\n" * 10


def operations(service):
    """Return every operation of the router."""
    found = [operation for route in service.app.router.routes for operation in route.endpoint.operations.values()]
    assert len(found) > 25
    return found


def path_of(operation):
    return re.sub(r"{\w+}", "case", operation.path.replace("{stream}", "orders"))


def body_of(operation):
    """Return a body that the operation would take, so that nothing but the key can be wrong with it."""
    sheet = {"miss": 5, "false_alarm": 1, "hit": 0}
    bodies = {
        "decide": {"id": "new", "item": [1, 2, 3]},
        "decide_batch": {"decisions": [{"id": "new", "item": [1, 2, 3]}]},
        "label": {"value": 1},
        "correct_label": {"value": 0},
        "look_again": {"value": 1},
        "label_batch": {"labels": [{"id": "case", "value": 1}]},
        "expire": {"now": "2999-01-01"},
        "enacted": {"act": False, "by": "ann"},
        "note": {"text": "odd", "by": "ann"},
        "claim": {"by": "ann"},
        "release": {"by": "ann", "ids": ["case"]},
        "skip": {"by": "ann", "ids": ["case"]},
        "set_layout": {"link_title": "Shop"},
        "save_view": {"order": "age"},
        "what_if": {"threshold": 0.5},
        "create_stream": {"name": "stranger", "n_features": 2, "costs": sheet},
        "set_mode": {"mode": "frozen", "by": "ann"},
        "set_costs": {"costs": sheet, "by": "ann"},
        "set_words": {"words": {"item": "order"}},
        "create_key": {"name": "k", "scopes": ["read"]},
        "escalate": {"text": "odd"},
        "acknowledge": {"text": "seen"},
        "set_capacity": {"capacity": "120/day"},
        "set_audit": {"audit": "2%"},
        "sign_in": {"key": "at_guess"},
        "send_file": CSV,
        "replay_file": {"label": "fraud", "costs": sheet},
        "stream_of_file": {"label": "fraud", "costs": sheet, "name": "stranger"},
    }
    assert (operation.body is None) == (operation.name not in bodies), operation.name
    return bodies.get(operation.name)


def wrong_keys(service):
    """Return wrong keys of each kind, and for an operation the statuses that each must get."""
    keys = service.keys
    _, revoked = secret_and_id = keys.create("r", SCOPES)
    keys.revoke(revoked.id)
    expired, _ = keys.create("e", SCOPES, ["*"], time.time() + 0.05)
    time.sleep(0.06)
    found = {
        "no key": lambda op: ({}, {401}),
        "no bearer": lambda op: ({"Authorization": service.key()}, {401}),
        "malformed": lambda op: ({"Authorization": "Bearer \u00fc at_"}, {401}),
        "wrong": lambda op: ({"Authorization": "Bearer at_" + 43 * "A"}, {401}),
        "revoked": lambda op: ({"Authorization": f"Bearer {secret_and_id[0]}"}, {401}),
        "expired": lambda op: ({"Authorization": f"Bearer {expired}"}, {401}),
    }
    others = {scope: keys.create("s", [name for name in SCOPES if name != scope])[0] for scope in SCOPES}
    stranger = keys.create("t", SCOPES, ["people"])[0]
    found["other scope"] = lambda op: (
        {"Authorization": f"Bearer {others.get(op.scope, '')}"},
        {403} if op.scope else {401},
    )
    found["other stream"] = lambda op: (
        {"Authorization": f"Bearer {stranger}"},
        {404} if op.of_stream else {OF_ANY.get(op.name, 403)},
    )
    return found | wrong_sessions(service, others, stranger)


def wrong_sessions(service, others, stranger):
    """Return the same for cookies."""
    keys, sign_in = service.keys, service.sign_in
    good, other = sign_in(keys.create("g", SCOPES)[0]), sign_in(keys.create("o", SCOPES)[0])
    cookie = {"Cookie": good["Cookie"]}
    revoked, key = keys.create("r", SCOPES)
    revoked = sign_in(revoked)
    keys.revoke(key.id)
    secret, key = keys.create("e", SCOPES)
    expired = sign_in(secret)
    ended = msgspec.structs.replace(key, expires=time.time())
    service.store.put("keys", digest_of(secret), msgspec.json.encode(ended))
    keys.reload()
    over = sign_in(keys.create("v", SCOPES)[0])
    digest = digest_of(over["Cookie"].split("=")[1])
    session = msgspec.json.decode(service.store.get("sessions", digest), type=Session)
    service.store.put("sessions", digest, msgspec.json.encode(msgspec.structs.replace(session, until=time.time())))
    service.app.host.sessions.reload()
    scoped, far = {scope: sign_in(secret) for scope, secret in others.items()}, sign_in(stranger)
    wrong = {**good, "Cookie": "at_session=" + 43 * "A"}

    def without(token):
        """Leave the right token out; a look needs none, so that of a look the cookie is wrong as well."""
        return lambda op: ({**cookie, **token}, {403}) if op.method != "GET" else ({**wrong, **token}, {401})

    return {
        "wrong cookie": lambda op: (wrong, {401}),
        "empty cookie": lambda op: ({**good, "Cookie": "at_session="}, {401}),
        "cookie of another name": lambda op: ({**good, "Cookie": good["Cookie"].replace("at_", "")}, {401}),
        "wrong key beside a cookie": lambda op: ({**good, "Authorization": "Bearer at_" + 43 * "A"}, {401}),
        "no token": without({}),
        "token of another session": without({"X-CSRF-Token": other["X-CSRF-Token"]}),
        "cookie of a revoked key": lambda op: (revoked, {401}),
        "cookie of an expired key": lambda op: (expired, {401}),
        "cookie that is over": lambda op: (over, {401}),
        "cookie of another scope": lambda op: (scoped[op.scope], {403}) if op.scope else (wrong, {401}),
        "cookie of another stream": lambda op: (
            (wrong, {401}) if op.name == "sign_out" else (far, {404} if op.of_stream else {OF_ANY.get(op.name, 403)})
        ),
    }


def check_matrix(service):
    """Ask everything with every wrong key: refused, in a problem document, and nothing is stored."""
    ours = service.key()
    service.ask("POST", "/v1/streams/orders/decisions", {"id": "case", "item": [1, 2, 3]}, key=ours)
    kinds, cells = wrong_keys(service), 0
    for operation in operations(service):
        if operation.name in OPEN:
            continue
        for kind, made in kinds.items():
            headers, wanted = made(operation)
            before = service.digest()
            body = body_of(operation)
            given = {"body": body} if operation.takes == "application/json" else {"raw": body}
            headers = headers if "body" in given else {**headers, "Content-Type": operation.takes}
            told = service.ask(operation.method, path_of(operation), headers=headers, **given)
            assert told.status in wanted, (operation.name, kind, told.status)
            assert service.digest() == before, (operation.name, kind)
            if told.status >= 400:
                assert told.headers["content-type"] == "application/problem+json"
                assert b"case" not in told.body
            elif operation.name == "list_streams":
                assert told.json() == {"streams": ["people"]}
            else:
                assert b'"orders"' not in told.body
            if told.status == 401:
                assert told.headers["www-authenticate"] == "Bearer"
            cells += 1
    assert cells == (len(operations(service)) - len(OPEN)) * len(kinds)


def test_every_route_with_every_wrong_key(service):
    check_matrix(service)


def test_the_matrix_is_red_without_the_check_of_scopes(service, monkeypatch):
    """Negative control."""
    monkeypatch.setattr(endpoint, "check_scope", lambda key, operation: None)
    with pytest.raises(AssertionError, match="other scope"):
        check_matrix(service)


def test_the_matrix_is_red_if_keys_see_every_stream(service, monkeypatch):
    """Negative control."""
    from appletaste.service.keys import Key

    monkeypatch.setattr(Key, "sees", lambda key, stream: True)
    with pytest.raises(AssertionError, match="other stream"):
        check_matrix(service)


def test_the_matrix_is_red_if_a_change_needs_no_token(service, monkeypatch):
    """Negative control."""
    monkeypatch.setattr(sessions.hmac, "compare_digest", lambda told, wanted: True)
    with pytest.raises(AssertionError, match="token"):
        check_matrix(service)


def test_the_matrix_is_red_if_sessions_outlive_their_keys(service, monkeypatch):
    """Negative control."""
    monkeypatch.setattr(Keys, "of_digest", lambda keys, digest: keys._known.get(digest))
    with pytest.raises(AssertionError, match="revoked"):
        check_matrix(service)


def test_a_stream_that_one_may_not_see_looks_like_one_that_is_not_there(service):
    stranger = service.key(streams=("people",))
    hidden = service.ask("GET", "/v1/streams/orders", key=stranger)
    absent = service.ask("GET", "/v1/streams/nowhere", key=stranger)
    assert (hidden.status, hidden.body) == (absent.status, absent.body)
    assert hidden.body == service.ask("GET", "/v1/streams/nowhere", key=service.key()).body


def test_secrets_are_kept_nowhere(service):
    secret = service.key("read")
    stored = service.store.values("keys")
    assert all(secret.encode() not in key.encode() + value for key, value in stored.items())
    assert len(secret) == len("at_") + 43  # 256 bits
    again = Keys(service.store)
    assert again.find(secret).scopes == ("read",)


def test_a_role_is_a_name_for_scopes(service):
    told = service.ask("POST", "/v1/keys", {"name": "Ann", "role": "lead"}, key=service.key())
    assert told.status == 201
    key = told.json()["key"]
    assert (key["role"], key["scopes"], key["used"]) == ("lead", list(ROLES["lead"]), None)
    assert [one["role"] for one in keys_of(service) if one["name"] == "Ann"] == ["lead"]
    both = {"name": "Ann", "role": "lead", "scopes": ["read"]}
    for body in ({"name": "Ann"}, both, {"name": "Ann", "role": "boss"}):
        assert service.ask("POST", "/v1/keys", body, key=service.key()).status == 422
    assert (
        service.ask("POST", "/v1/keys", {"name": "B", "scopes": ["read"]}, key=service.key()).json()["key"]["role"]
        is None
    )
    assert all(set(one) <= set(SCOPES) for one in ROLES.values())
    assert set(ROLES["reviewer"]) < set(ROLES["lead"]) < set(ROLES["admin"])


def keys_of(service):
    return service.ask("GET", "/v1/keys", key=service.key()).json()["keys"]


def test_when_a_key_was_used_last(service):
    """Told at once, kept from time to time, by key and by cookie; a refused key is not used."""
    secret, key = service.keys.create("Uma", ["read"])

    def used(keys=None):
        return service.keys.used().get(key.id) if keys is None else keys.used().get(key.id)

    assert used() is None
    before = time.time()
    service.ask("GET", "/v1/streams", key=secret)
    first = used()
    assert before <= first <= time.time()
    assert used(Keys(service.store)) is None  # another process does not know yet
    service.keys.keep_used()
    assert used(Keys(service.store)) == first
    headers = service.sign_in(secret)
    service.ask("GET", "/v1/streams", headers=headers)
    assert used() > first
    service.keys.revoke(key.id)
    last = used()
    assert service.ask("GET", "/v1/streams", key=secret).status == 401
    assert used() == last
    told = next(one for one in keys_of(service) if one["id"] == key.id)
    assert told["used"] is not None
