"""Numbers in the text format of Prometheus: of the process, and of every stream that it serves.

Whatever is asked for is at hand: a scrape computes no estimate, reads no record and asks no writer. Alarms and what is
missed are those of the last time that somebody asked for them, and say when that was.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from .. import __version__
from ..drift.alarms import KINDS
from ..records.stores import Store
from ..streams.activity import Histogram
from ..streams.answers import MODES
from ..times import instant
from .api.streams import VERIFIED, VerifiedAt
from .review.health import Noticed, name_of

if TYPE_CHECKING:
    from .hosting import Host, Rested
    from .metrics import Metrics
    from .review.read_model import ReadModel
    from .writer import Writer

COUNTER, GAUGE, HISTOGRAM = "counter", "gauge", "histogram"
Labels = Mapping[str, str]
#: When this process began, in seconds since 1970.
BEGAN = time.time()


class Page:
    r"""The text, family by family.

    Examples
    --------
    >>> page = Page()
    >>> page.put("events", GAUGE, "Events of a record.", [({"stream": 'a "b"'}, 3)])
    >>> print(page.text())
    # HELP appletaste_events Events of a record.
    # TYPE appletaste_events gauge
    appletaste_events{stream="a \"b\""} 3
    <BLANKLINE>
    """

    def __init__(self) -> None:
        self._lines: list[str] = []

    def text(self) -> str:
        """Return all of it."""
        return "\n".join([*self._lines, ""])

    def _head(self, name: str, kind: str, told: str) -> None:
        self._lines += [f"# HELP {name} {told}", f"# TYPE {name} {kind}"]

    def put(
        self, name: str, kind: str, told: str, samples: Iterable[tuple[Labels, float]], prefix: str = "appletaste_"
    ) -> None:
        """Add a family of numbers; one without numbers is left out."""
        lines = [f"{prefix}{name}{labelled(labels)} {number(value)}" for labels, value in samples]
        if lines:
            self._head(prefix + name, kind, told)
            self._lines += lines

    def put_histograms(self, name: str, told: str, samples: Iterable[tuple[Labels, Histogram]]) -> None:
        """Add a family of histograms."""
        lines, name = list[str](), f"appletaste_{name}"
        for labels, found in samples:
            counts = found.cumulative()
            for edge, count in zip((*found.edges, "+Inf"), counts, strict=True):
                lines.append(f"{name}_bucket{labelled({**labels, 'le': str(edge)})} {count}")
            lines += [f"{name}_sum{labelled(labels)} {found.sum:.6f}", f"{name}_count{labelled(labels)} {counts[-1]}"]
        if lines:
            self._head(name, HISTOGRAM, told)
            self._lines += lines


def number(value: float) -> str:
    """Return a number as Prometheus reads it: whole ones in full."""
    return str(int(value)) if float(value).is_integer() else repr(float(value))


def labelled(labels: Labels) -> str:
    """Return labels in braces, empty: there are none."""
    return "{" + ",".join(f'{name}="{quoted(value)}"' for name, value in labels.items()) + "}" if labels else ""


def quoted(text: str) -> str:
    """Return a text as the value of a label."""
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


#: How a stream stands, or stood when it was closed.
Standing = Mapping[str, "Writer | Rested"]


def text_of(host: Host, names: Iterable[str]) -> str:
    """Return the numbers of a process and of some of its streams; the store is asked once for each kind of note.

    Of a stream that was not opened since the process began there is the number of events alone.
    """
    known = {name: host.standing(name) for name in names}
    streams: Standing = {name: found for name, found in known.items() if found is not None}
    sizes = {name: host.sizes.get(name, 0) if found is None else found.seq for name, found in known.items()}
    page = Page()
    put_process(page, host.metrics, host.ready)
    put_traffic(page, host.metrics)
    put_streams(page, streams, sizes)
    put_decided(page, streams)
    put_checked(page, host.store, streams)
    put_looked_at(page, host.store, {name: found for name in streams if (found := host.looked_at(name)) is not None})
    return page.text()


# ---- the process


def put_process(page: Page, metrics: Metrics, ready: bool) -> None:
    """Add what a process is and takes; the names that begin with ``process_`` are those of every Prometheus client."""
    page.put("build_info", GAUGE, "The version that runs.", [({"version": __version__}, 1)])
    page.put("ready", GAUGE, "Whether requests are answered.", [({}, ready)])
    told = "Processor time of the process, of all its threads."
    page.put("process_cpu_seconds_total", COUNTER, told, [({}, time.process_time())], prefix="")
    page.put("process_start_time_seconds", GAUGE, "When the process began.", [({}, BEGAN)], prefix="")
    if sys.platform == "linux":
        import resource

        pages = int(Path("/proc/self/statm").read_text().split()[1])
        resident = pages * os.sysconf("SC_PAGE_SIZE")
        page.put("process_resident_memory_bytes", GAUGE, "Memory of the process.", [({}, resident)], prefix="")
        files = sum(1 for _ in Path("/proc/self/fd").iterdir())
        page.put("process_open_fds", GAUGE, "Open files and connections.", [({}, files)], prefix="")
        most = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        page.put("process_max_fds", GAUGE, "Files and connections that may be open.", [({}, most)], prefix="")


def put_traffic(page: Page, metrics: Metrics) -> None:
    """Add requests, their latency and the commits that they waited for."""
    requests = sorted(metrics.requests.items())
    answered = [({"operation": name, "status": str(status)}, count) for (name, status), count in requests]
    page.put("requests_total", COUNTER, "Requests that were answered.", answered)
    for name, told, value in (
        ("groups_total", "Groups of requests that were done together.", metrics.groups),
        ("grouped_requests_total", "Requests in groups.", metrics.grouped),
        ("overloads_total", "Requests that were refused because too many wait.", metrics.overloads),
        ("internal_errors_total", "Errors that nobody foresaw.", metrics.errors),
    ):
        page.put(name, COUNTER, told, [({}, value)])
    latency = [({"scope": scope}, found) for scope, found in sorted(metrics.latency.items())]
    told = "From the header of a request to its answer, by the scope that it needs; live views are left out."
    page.put_histograms("request_duration_seconds", told, latency)
    page.put_histograms(
        "commit_seconds", "How long commits took, the sync of the disk among it.", [({}, metrics.commit)]
    )
    page.put_histograms("wait_seconds", "How long the first request of a group waited.", [({}, metrics.wait)])


# ---- streams


def put_streams(page: Page, streams: Standing, sizes: Mapping[str, int]) -> None:
    """Add how streams stand."""
    found = {name: writer.stream for name, writer in streams.items()}
    waiting = [({"stream": name}, writer.depth) for name, writer in streams.items()]
    page.put("waiting_requests", GAUGE, "Requests that wait for the writer.", waiting)
    events = [({"stream": name}, size) for name, size in sizes.items()]
    page.put("events", GAUGE, "Events of the record that are on disk.", events)
    modes = [({"stream": name, "mode": mode}, mode == one.mode) for name, one in found.items() for mode in MODES]
    page.put("mode", GAUGE, "1 for the mode that holds.", modes)
    awaited = [({"stream": name}, len(one.awaited)) for name, one in found.items()]
    page.put("labels_awaited", GAUGE, "Acts whose label is awaited.", awaited)
    oldest = [({"stream": name}, since) for name, one in found.items() if (since := one.awaited_since) is not None]
    told = "Since when the label is awaited that is awaited longest; where times are dates."
    page.put("label_awaited_since_timestamp_seconds", GAUGE, told, oldest)


def put_decided(page: Page, streams: Standing) -> None:
    """Add what was decided, and what became of it, since the process began."""
    found = {name: writer.stream.activity for name, writer in streams.items()}
    decided = [
        ({"stream": name, "result": result}, n) for name, one in found.items() for result, n in one.decisions.items()
    ]
    page.put("decisions_total", COUNTER, "Decisions: acts of the policy, acts of the audit lane, and passes.", decided)
    labels = [
        ({"stream": name, "label": label}, n)
        for name, one in found.items()
        for label, n in zip(("negative", "positive"), one.labels, strict=True)
    ]
    page.put("labels_total", COUNTER, "Labels that arrived.", labels)
    changes = [
        ({"stream": name, "change": change}, one.changes[change])
        for name, one in found.items()
        for change in ("corrected", "retracted", "expired")
    ]
    page.put("label_changes_total", COUNTER, "Labels that were corrected, withdrawn, or given up.", changes)
    overrules = [({"stream": name}, one.overrules) for name, one in found.items()]
    page.put("overrules_total", COUNTER, "How often somebody did otherwise than was decided.", overrules)
    delays = [({"stream": name}, one.delay) for name, one in found.items() if streams[name].stream.times is str]
    page.put_histograms("label_delay_seconds", "From a decision to its label; where times are dates.", delays)


def put_checked(page: Page, store: Store, streams: Standing) -> None:
    """Add when records were verified."""
    kept = store.values(VERIFIED)
    known = {name: msgspec.json.decode(kept[name], type=VerifiedAt) for name in streams if name in kept}
    verifies = [({"stream": name}, one.verifies) for name, one in known.items()]
    page.put("record_verifies", GAUGE, "Whether the record verified when it was last looked at.", verifies)
    at = [({"stream": name}, instant(one.time) or 0.0) for name, one in known.items()]
    page.put("record_verified_timestamp_seconds", GAUGE, "When the record was last verified.", at)


def put_looked_at(page: Page, store: Store, known: Mapping[str, ReadModel]) -> None:
    """Add alarms and what is missed, as they were when somebody last asked."""
    standing, unseen = list[tuple[Labels, float]](), list[tuple[Labels, float]]()
    told = {name: kept for name, found in known.items() if (kept := found.told) is not None}
    for name, (alarms, _) in told.items():
        noticed = Noticed(store, name).all() if alarms else {}
        for kind in KINDS:
            of_kind = [name_of(alarm, seq) for seq, alarm, stands in alarms if stands and alarm.kind == kind]
            standing.append(({"stream": name, "kind": kind}, len(of_kind)))
            unseen.append(({"stream": name, "kind": kind}, sum(one not in noticed for one in of_kind)))
    page.put("alarms", GAUGE, "Alarms that stand, as somebody last looked.", standing)
    page.put("alarms_unacknowledged", GAUGE, "Those among them that nobody has taken note of.", unseen)
    looked = [({"stream": name}, when) for name, (_, when) in told.items()]
    page.put("alarms_timestamp_seconds", GAUGE, "When somebody last looked for alarms.", looked)
    missed = {name: last for name, found in known.items() if (last := found.missed) is not None}
    for end, words in (
        ("value", "Estimate of"),
        ("low", "Lower end of the 90 % interval of"),
        ("high", "Upper end of"),
    ):
        samples = [({"stream": name}, one[end]) for name, (one, _) in missed.items() if end in one]
        name = "missed" + ("" if end == "value" else f"_{end}")
        page.put(name, GAUGE, f"{words} the positives that were passed, as somebody last asked.", samples)
    at = [({"stream": name}, when) for name, (_, when) in missed.items()]
    page.put("missed_timestamp_seconds", GAUGE, "When somebody last asked what is missed.", at)
