"""Every route, with no key, a wrong one, a revoked one, an expired one, one of another scope, one of another stream.

The routes are taken from the router, so that a new one cannot be missed.
"""

import time

import pytest

from appletaste.service import endpoint
from appletaste.service.keys import SCOPES, Keys

#: Routes that anybody may call: whether the process is up and ready, and the description, which is public.
OPEN = {"healthz", "readyz", "openapi"}


def operations(service):
    """Return every operation of the router."""
    found = [operation for route in service.app.router.routes for operation in route.endpoint.operations.values()]
    assert len(found) > 25
    return found


def path_of(operation):
    return operation.path.replace("{stream}", "orders").replace("{id}", "case")


def body_of(operation):
    """Return a body that the operation would take, so that nothing but the key can be wrong with it."""
    sheet = {"miss": 5, "false_alarm": 1, "hit": 0}
    bodies = {
        "decide": {"id": "new", "item": [1, 2, 3]},
        "decide_batch": {"decisions": [{"id": "new", "item": [1, 2, 3]}]},
        "label": {"value": 1},
        "correct_label": {"value": 0},
        "label_batch": {"labels": [{"id": "case", "value": 1}]},
        "expire": {"now": "2999-01-01"},
        "enacted": {"act": False, "by": "ann"},
        "note": {"text": "odd", "by": "ann"},
        "claim": {"by": "ann"},
        "release": {"by": "ann", "ids": ["case"]},
        "what_if": {"threshold": 0.5},
        "create_stream": {"name": "stranger", "n_features": 2, "costs": sheet},
        "set_mode": {"mode": "frozen", "by": "ann"},
        "set_costs": {"costs": sheet, "by": "ann"},
        "create_key": {"name": "k", "scopes": ["read"]},
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
        {404} if op.of_stream else {200} if op.name in ("list_streams", "metrics") else {403},
    )
    return found


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
            told = service.ask(operation.method, path_of(operation), body_of(operation), headers=headers)
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
