"""``make serve-demo``: a stream from the example file, a day of orders through HTTP, late labels, and a kill -9."""

from __future__ import annotations

import csv
import json
import shutil
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import appletaste as at

from .over_http import free_port

OUT = Path("out/serve-demo")
ROWS, CLIENTS = 36_600, 8
LATER = ("settled_on", "reviewed", "fraud")


def command(*words: str) -> str:
    """Run ``appletaste`` as a person would, and return what it prints."""
    print("$ appletaste " + " ".join(words), flush=True)
    done = subprocess.run([sys.executable, "-m", "appletaste", *words], check=True, capture_output=True, text=True)
    return done.stdout


def serve(port: int) -> subprocess.Popen[bytes]:
    """Start the service."""
    words = [sys.executable, "-m", "appletaste", "serve", "--store", str(OUT / "shop.db"), "--port", str(port)]
    return subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def orders_of_a_day() -> list[dict[str, str]]:
    with (OUT / "orders.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    day = rows[len(rows) // 2]["placed_at"][:10]
    return [row for row in rows if row["placed_at"].startswith(day)]


def cells(row: dict[str, str], kinds: dict[str, str]) -> dict[str, Any]:
    """Return an order as the service takes it: numbers as numbers, and null where nothing is there."""
    found: dict[str, Any] = {}
    for name, kind in kinds.items():
        text = row[name]
        found[name] = None if text in ("", "NA") else float(text) if kind == "number" else text
    return found


def play(stream: Any, orders: list[dict[str, str]], halfway: threading.Event) -> tuple[dict[str, Any], dict[str, int]]:
    """Send every order, and the labels of those that were acted on when a hundred others have come."""
    kinds = {column["name"]: column["kind"] for column in stream.as_dict()["columns"]}
    answers: dict[str, Any] = {}
    labels: dict[str, int] = {}

    def one(place: int) -> None:
        row = orders[place]
        answers[row["order"]] = stream.decide(cells(row, kinds), id=row["order"], time=row["placed_at"]).as_dict()
        if place == len(orders) // 2:
            halfway.set()
        earlier = orders[place - 100]["order"] if place >= 100 else None
        if earlier in answers and answers[earlier]["act"]:
            value = int(orders[place - 100]["fraud"] == "yes")
            stream.label(earlier, value)
            labels[earlier] = value

    with ThreadPoolExecutor(CLIENTS) as pool:
        list(pool.map(one, range(len(orders))))
    return answers, labels


def main() -> None:
    shutil.rmtree(OUT, ignore_errors=True)
    OUT.mkdir(parents=True)
    began = time.monotonic()
    store = ("--store", str(OUT / "shop.db"))
    print(command("example", str(OUT / "orders.csv"), "--last-year", str(OUT / "last_year.csv"), "--rows", str(ROWS)))
    costs = "miss=95,false_alarm=6,hit=4"
    dropped = [word for name in LATER[:2] for word in ("--drop", name)]
    print(
        command(
            *("stream", "create", store[1], "--stream", "orders", "--history", str(OUT / "last_year.csv")),
            *("--label", "fraud"),
            *("--id", "order", "--time", "placed_at", *dropped, "--costs", costs, "--audit", "2%", "--teach"),
        )
    )
    scopes = [word for scope in ("decide", "label", "read", "admin") for word in ("--scope", scope)]
    key = json.loads(command("keys", "create", "demo", *store, *scopes, "--json"))["secret"]
    port, orders = free_port(), orders_of_a_day()
    print(f"$ appletaste serve {' '.join(store)} --port {port} &")
    processes = [serve(port)]
    client = at.connect(f"http://127.0.0.1:{port}", key=key, patience=60)
    stream, halfway = client.stream("orders"), threading.Event()

    def kill() -> None:
        halfway.wait()
        processes[-1].kill()
        processes[-1].wait()
        print(f"kill -9 {processes[-1].pid}, and started again", flush=True)
        processes.append(serve(port))

    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    answers, labels = play(stream, orders, halfway)
    killer.join()
    lost = [id_ for id_, told in answers.items() if not told.items() <= stream.find(id_).items()]
    lost += [id_ for id_, value in labels.items() if stream.find(id_)["label"] != value]
    told = stream.verify()
    acts = sum(answer["act"] for answer in answers.values())
    processes[-1].terminate()
    code = processes[-1].wait()
    print(f"{len(answers)} orders were decided, {acts} of them acted on; {len(labels)} labels arrived later")
    print(told)
    seconds = time.monotonic() - began
    if lost or code or len(answers) != len(orders):
        sys.exit(f"LOST: {lost[:5]}, exit code {code}")
    print(f"the server was killed in the middle, and nothing was lost ({seconds:.0f} seconds)")


if __name__ == "__main__":
    main()
