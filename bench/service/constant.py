"""The same server answering a constant: the key is checked and the body decoded, and nothing is decided or stored."""

from __future__ import annotations

import sys

from starlette.routing import Route

from appletaste.records.stores import open_store
from appletaste.service.api.decisions import Decide, Decided
from appletaste.service.endpoint import Endpoint
from appletaste.service.keys import Keys
from appletaste.service.operations import Call, Reply, operation, operations_of
from appletaste.service.server import Server

PATH = "/constant"
#: An answer of the usual length.
ANSWER = (
    b'{"id":"17","seq":2,"act":true,"probability":1.0,"chance":0.5000000017225682,"audit":false,"code":"EXPLOIT",'
    b'"threshold":0.16666666666666666,"expected_cost":{"act":0.4999999982774318,"pass":2.500000008612841},'
    b'"reasons":["acting is expected to cost 0.5 and passing 2.5"],"mode":"live",'
    b'"time":"2026-11-16T00:09:29.711253+00:00"}'
)


@operation("POST", PATH, scope="decide", status=201)
async def constant(call: Call[Decide]) -> Reply[Decided]:
    """Answer a constant."""
    return Reply(201, ANSWER)


def main(port: int, key_file: str) -> None:
    store = open_store("memory")
    with open(key_file, "w") as file:  # noqa: PTH123
        file.write(Keys(store).create("bench", ["decide"])[0])
    server = Server(store, port=port, log=False)
    (served,) = operations_of(sys.modules[__name__])
    server.app.router.routes.insert(0, Route(PATH, Endpoint(server.app.host, {"POST": served})))
    server.run()


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
