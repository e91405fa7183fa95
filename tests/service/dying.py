"""``appletaste feed`` that kills itself at some point: ``python -m tests.service.dying POINT NUMBER feed ...``.

A point is before or after something that a feed does, such as ``deliver+`` or ``decide-``; and it dies there the n-th
time. ``kill -9`` from outside seldom falls into the milliseconds that matter.
"""

import os
import signal
import sys

from appletaste.cli.main import main
from appletaste.service import feed
from appletaste.service.answering import OwnStream
from appletaste.service.broker import Broker

OWNERS = {"decide": OwnStream, "label": OwnStream, "deliver": Broker, "done": Broker}
POINTS = [name + side for name in OWNERS for side in "-+"]


def dying(work, side, number, begun):
    def work_or_die(*given):
        nonlocal number
        number -= bool(begun)
        if side == "-" and begun and number == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        found = work(*given)
        if side == "+" and begun and number == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return found

    return work_or_die


def noting(work, begun):
    """Note that items have come: batches of labels alone are not counted before."""

    def note_and_work(*given):
        begun.append(True)
        return work(*given)

    return note_and_work


if __name__ == "__main__":
    point, number, *command = sys.argv[1:]
    feed.BATCH = 16  # so that there is a second one, however much has gathered
    owner, name, begun = OWNERS[point[:-1]], point[:-1], []
    OwnStream.decide = noting(OwnStream.decide, begun)
    setattr(owner, name, dying(getattr(owner, name), point[-1], int(number), [True] if name == "decide" else begun))
    sys.exit(main(command))
