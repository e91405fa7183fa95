"""A program to interrupt: naps on an engine, and prints the process of every nap."""

import sys

from appletaste.engines import engine
from tests.engines import work

if __name__ == "__main__":
    seconds = float(sys.argv[3]) if len(sys.argv) > 3 else 0.1
    with engine(sys.argv[1], jobs=2) as workers:
        for _, (_, process) in workers.run(work.nap, [(number, sys.argv[2], seconds) for number in range(10_000)]):
            print(process, flush=True)
