"""Labels of passed items over HTTP: recorded, told once, in the log, and in what was missed since a time."""

import json

import appletaste as at
from appletaste._files import for_json
from appletaste.service.client import connect

ORDERS = "/v1/streams/orders"


def test_reports_over_http(service):
    asked = service.key("admin", "read", "decide", "label", "review")
    passed = []
    for k in range(40):
        case = f"{ORDERS}/decisions/report-{k}"
        item = {"id": f"report-{k}", "item": [0.1 * k, 1, 0], "time": "2024-05-01T10:00:00"}
        if service.ask("POST", ORDERS + "/decisions", item, key=asked).json()["act"]:
            service.ask("PUT", case + "/enacted", {"act": False, "by": "ann"}, key=asked)
        body = {"value": k % 2, "source": "bank", "time": "2024-06-01T10:00:00"}
        for status in ("recorded_not_learned", "already_applied"):
            assert service.ask("PUT", case + "/label", body, key=asked).json()["status"] == status
        passed.append((f"report-{k}", k % 2))
    log = connect(service.url, key=asked).stream("orders").log()
    found = {one: (label, time) for one, label, time in zip(log.id, log.report, log.report_time, strict=True)}
    for one, label in passed:
        assert found[one][0] == label
        assert found[one][1].startswith("2024-06-01T10:00:00")
    whole = service.ask("GET", ORDERS + "/missed", key=asked).json()
    assert whole["with_reports"]["reporting"]["reports"] == sum(label for _, label in passed)
    part = service.ask("GET", ORDERS + "/missed?since=2024-05-01&until=2024-05-01", key=asked).json()
    same = at.missed(log, since="2024-05-01", until="2024-05-01").as_dict()
    assert part == json.loads(json.dumps(for_json(same)))
    assert service.ask("GET", ORDERS + "/missed?since=noon", key=asked).status in (409, 422)
