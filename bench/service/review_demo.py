"""``make review-demo``: the review page over a shop in fast time: orders arrive, labels come late, June changes."""

from __future__ import annotations

import argparse
import contextlib
import csv
import json
import random
import signal
import subprocess
import sys
import tempfile
import time
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import appletaste as at

from .over_http import Started

ROWS, BEGIN = 18_300, datetime(2024, 5, 1)
#: So many days are played before the page opens; the change comes five days later.
BEFORE = 40
#: A label that reviewers have not given by then is given by the file.
PATIENCE = timedelta(days=14)
COSTS = "miss=95,false_alarm=6,hit=4"
FORMULAS = "miss=amount*0.9+15,false_alarm=6,hit=4"
REVIEWER = ("read", "review", "label", "correct")
TICK = 0.5


def command(*words: str) -> str:
    """Run ``appletaste``, and return what it prints."""
    done = subprocess.run([sys.executable, "-m", "appletaste", *words], check=True, capture_output=True, text=True)
    return done.stdout


def prepared(folder: Path, store: str, rows: int = ROWS) -> tuple[str, str]:
    """Write the files, make two streams, and return the keys of whoever looks and of Ben, who works beside."""
    command("example", str(folder / "orders.csv"), "--last-year", str(folder / "before.csv"), "--rows", str(rows))
    given = ["--history", str(folder / "before.csv"), "--label", "fraud", "--id", "order"]
    given += ["--time", "placed_at", "--drop", "settled_on", "--drop", "reviewed", "--stratum", "payment", "--teach"]
    given += ["--capacity", "60/day", "--audit", "2%"]
    command("stream", "create", store, "--stream", "orders", *given, "--costs", COSTS)
    command("stream", "create", store, "--stream", "trial", *given, "--costs", FORMULAS, "--mode", "shadow")

    def key(name: str, *scopes: str) -> str:
        words = [word for scope in scopes for word in ("--scope", scope)]
        secret: str = json.loads(command("keys", "create", name, "--store", store, *words, "--json"))["secret"]
        return secret

    return key("you", "decide", *REVIEWER, "lead", "admin"), key("Ben", *REVIEWER)


class Shop:
    """The shop: sends its orders, and the labels of those that were acted on when they settle, one in three apart.

    Those are left to reviewers for two weeks. Ben is one of them: he holds three cases at a time.
    """

    def __init__(self, folder: Path, client: at.Client, ben: at.Client) -> None:
        self.client, self.streams, self.ben = client, {name: client.stream(name) for name in ("orders", "trial")}, ben
        self.kinds = {column["name"]: column["kind"] for column in self.streams["orders"].as_dict()["columns"]}
        with (folder / "orders.csv").open(newline="") as file:
            self.coming = list(csv.DictReader(file))[::-1]
        self.labels = {row["order"]: int(row["fraud"] == "yes") for row in self.coming}
        self.due: list[tuple[datetime, str, str]] = []  #: when a label is told, to which stream, of which order
        self.held: list[str] = []
        self.source = random.Random("desk demo")

    def to(self, now: datetime) -> None:
        """Let the time be ``now``: send the orders until then, and the labels that are due."""
        rows = []
        while self.coming and datetime.fromisoformat(self.coming[-1]["placed_at"]) <= now:
            rows.append(self.coming.pop())
        if rows:
            self._decide(rows)
        due, self.due = [one for one in self.due if one[0] <= now], [one for one in self.due if one[0] > now]
        for name in self.streams:
            told = [{"id": id_, "value": self.labels[id_], "time": str(when)} for when, to, id_ in due if to == name]
            for start in range(0, len(told), 1000):
                self.client.call("POST", f"/v1/streams/{name}/labels:batch", {"labels": told[start : start + 1000]})

    def _decide(self, rows: list[dict[str, str]]) -> None:
        ids, times, strata = ([row[name] for row in rows] for name in ("order", "placed_at", "payment"))
        given = {"ids": ids, "times": times, "strata": strata}
        items = [self._cells(row) for row in rows]
        own = [row["reviewed"] == "yes" for row in rows]
        answers = {
            "orders": self.streams["orders"].decide_many(items, **given),
            "trial": self.streams["trial"].decide_many(items, **given, baselines=own),
        }
        for name, found in answers.items():
            for row, answer in zip(rows, found, strict=True):
                if answer.act:
                    when = datetime.fromisoformat(row["settled_on"])
                    if name == "orders" and self.source.random() < 1 / 3:
                        when += PATIENCE
                    self.due.append((when, name, row["order"]))

    def _cells(self, row: dict[str, str]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for name, kind in self.kinds.items():
            text = row[name]
            found[name] = None if text == "" else float(text) if kind == "number" else text
        return found

    def review(self) -> None:
        """Let Ben finish a case, and take three others when he has none."""
        if self.held:
            id_ = self.held.pop()
            with contextlib.suppress(at.errors.AppleTasteError):  # whoever looks may have been faster
                self.ben.call("PUT", f"/v1/streams/orders/decisions/{id_}/label", {"value": self.labels[id_]})
        else:
            asked = {"by": "Ben", "order": "age", "count": 3, "minutes": 5}
            found = self.ben.call("POST", "/v1/streams/orders/queue:claim", asked)[1]
            self.held = [item["id"] for item in found["items"]]


def play(shop: Shop, day_seconds: float, until: float) -> None:
    """Let a day of the shop pass in some seconds, until the time of the machine is ``until``."""
    now, last = BEGIN + timedelta(days=BEFORE), time.monotonic()
    reviewed, said = last, False
    while time.monotonic() < until:
        time.sleep(TICK)
        moment = time.monotonic()
        now += timedelta(days=(moment - last) / day_seconds)
        last = moment
        shop.to(now)
        if moment - reviewed > 4:
            shop.review()
            reviewed = moment
        if not shop.coming and not said:
            print("June is over: no more orders arrive, and labels still do", flush=True)
            said = True


def main() -> None:
    parser = argparse.ArgumentParser(prog="make review-demo", description=__doc__)
    parser.add_argument(
        "--seconds", type=float, default=float("inf"), help="end after so many seconds (default: never)"
    )
    parser.add_argument("--day", type=float, default=20.0, help="seconds that a day of the shop takes (default 20)")
    parser.add_argument("--store", help="keep the streams in this file (default: in a folder that goes away)")
    args = parser.parse_args()
    for one in (signal.SIGINT, signal.SIGTERM):  # a process in the background may have been started without
        signal.signal(one, signal.default_int_handler)
    with tempfile.TemporaryDirectory(prefix="review-demo-") as name:
        folder, began = Path(name), time.monotonic()
        store = args.store or str(folder / "shop.db")
        if Path(store).exists():
            sys.exit(f"{store} is there already: give another name, or delete the file first")
        print("two months of a web shop are made up, and two streams learn the year before ...", flush=True)
        with contextlib.suppress(KeyboardInterrupt):
            secret, ben = prepared(folder, store)
            server = Started("appletaste", "serve", "--store", store, "--port", "PORT")
            try:
                address = f"http://127.0.0.1:{server.port}"
                shop = Shop(folder, at.connect(address, key=secret), at.connect(address, key=ben))
                for day in range(1, BEFORE + 1):
                    shop.to(BEGIN + timedelta(days=day))
                print(f"\n  open     {address}/\n  key      {secret}\n", flush=True)
                print(
                    f"ready after {time.monotonic() - began:.0f} seconds. It is 10 June in the shop, a day takes "
                    f"{args.day:g} seconds, and on 15 June stolen vouchers begin to go round. Ctrl-C ends it.",
                    flush=True,
                )
                play(shop, args.day, began + args.seconds)
            finally:
                server.stop()
    print("ended" + ("" if args.store is None else f"; the streams are in {args.store}"))


if __name__ == "__main__":
    main()
