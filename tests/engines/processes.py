"""Which processes run, from /proc."""

from pathlib import Path


def alive(process):
    """Return whether a process runs; one that only waits to be buried does not."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def descendants(process):
    """Return the processes that a process started, and those that they started."""
    children = [
        int(child)
        for task in Path(f"/proc/{process}/task").iterdir()
        for child in (task / "children").read_text().split()
    ]
    return children + [one for child in children for one in descendants(child)]
