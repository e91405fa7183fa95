"""The description of the service against the service, by Schemathesis: no 5xx, as described, 4xx stores nothing."""

import os
from dataclasses import replace

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

#: Requests for each operation; ``make test-faults`` asks for more.
EXAMPLES = int(os.environ.get("APPLETASTE_EXAMPLES", "4"))
CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
#: A live view never ends, and frozen or safe streams would hide what the others do.
LEFT_OUT = {"live", "set_mode"}
IDS = ("case", "other", None)


def operations_of(service):
    schema = schemathesis.openapi.from_url(f"{service.url}/openapi.json")
    found = {one.ok().definition.raw["operationId"]: one.ok() for one in schema.get_all_operations()}
    assert len(found) > 25
    return found


def check_operation(service, key, operation, session):
    service.ask("POST", "/v1/streams/orders/decisions", {"id": "case", "item": [1, 2, 3]}, key=key)
    turn = iter(range(10**9))

    @settings(
        max_examples=EXAMPLES, database=None, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
    )
    @given(case=operation.as_strategy())
    def run(case):
        if "stream" in case.path_parameters:
            case.path_parameters["stream"] = "orders"
        chosen = IDS[next(turn) % 3]
        if "id" in case.path_parameters and chosen is not None:
            case.path_parameters["id"] = chosen
        before = service.digest()
        answer = case.call(headers={"Authorization": f"Bearer {key}"}, session=session)
        if answer.status_code >= 400:
            assert service.digest() == before
        case.validate_response(answer, checks=CHECKS)

    run()


def test_the_service_is_as_described(service, key):
    with requests.Session() as session:
        for name, operation in operations_of(service).items():
            if name not in LEFT_OUT:
                check_operation(service, key, operation, session)


def test_an_answer_that_is_not_described_is_seen(service, key, monkeypatch):
    """Negative control: a route that answers with a field of another type."""
    from appletaste.service.api import streams
    from appletaste.service.operations import Reply

    async def wrong(call):
        return Reply.of({"streams": "orders"})

    route = next(one for one in service.app.router.routes if one.path == "/v1/streams")
    usual = route.endpoint.operations["GET"]
    assert usual.handler is streams.list_streams
    monkeypatch.setitem(route.endpoint.operations, "GET", replace(usual, handler=wrong))
    with requests.Session() as session, pytest.raises(BaseException, match="schema"):
        check_operation(service, key, operations_of(service)["list_streams"], session)
