"""Second looks over HTTP: what is due is blind, and who is told of agreement."""

ORDERS = "/v1/streams/orders"


def test_second_looks_over_http(service):
    asked = service.key("admin", "read", "decide", "label", "review")
    carla = service.keys.create("carla", ["review"])[0]
    ids = []
    for k in range(30):
        made = service.ask(
            "POST", ORDERS + "/decisions", {"id": f"look-{k}", "item": [0.1 * k, 1, 0]}, key=asked
        ).json()
        if made["act"]:
            service.ask("PUT", f"{ORDERS}/decisions/look-{k}/label", {"value": 1, "source": "ann"}, key=asked)
            ids.append(f"look-{k}")
    due = service.ask("GET", ORDERS + "/second-looks?rate=1", key=carla).json()["due"]
    assert set(ids) <= {one["id"] for one in due}
    assert all(one.keys() == {"id", "item"} for one in due)  # blind
    path = f"{ORDERS}/decisions/{ids[0]}/second-look"
    assert service.ask("PUT", path, {"value": 0, "rate": 1}, key=carla).json()["status"] == "recorded"
    assert service.ask("PUT", path, {"value": 0, "rate": 1}, key=carla).json()["status"] == "already_recorded"
    assert service.ask("PUT", path, {"value": 1, "rate": 1}, key=carla).problem == "label-conflict"
    own = {"value": 1, "rate": 1, "by": "ann"}
    assert service.ask("PUT", f"{ORDERS}/decisions/{ids[1]}/second-look", own, key=asked).status == 422
    told = service.ask("GET", ORDERS + "/agreement", key=asked).json()
    assert told["team"]["looks"] == 1
    assert "refused" in told["reviewers"]["ann"]["agreement"]
    assert service.ask("GET", ORDERS + "/agreement", key=carla).json() == {"team": None, "reviewers": {}}
