"""Functions for workers to run; here, because workers import them by name."""

import os
import signal
import time
from pathlib import Path

from appletaste.errors import MissingExtraError, OptionError


def square(number):
    return number * number, os.getpid()


def threads(_):
    return {name: value for name, value in os.environ.items() if name.endswith("_NUM_THREADS")}


def refuse(number):
    """Refuse one number of many, with an error that people should see as it is."""
    if number == 3:
        raise OptionError("three is not a number")
    return number


def want_extra(_):
    raise MissingExtraError("wanting", "plot")


class StubbornError(Exception):
    def __init__(self, first, second):
        super().__init__(f"{first} and {second}")


def stumble(_):
    raise StubbornError("one", "two")  # pickle cannot make it again from its message


def nap(task):
    """Write down who started, sleep a little, square the number."""
    number, diary, seconds = task
    with Path(diary).open("a") as page:
        page.write(f"{number} {os.getpid()}\n")
    time.sleep(seconds)
    return number * number, os.getpid()


def die(_):
    os.kill(os.getpid(), signal.SIGKILL)
