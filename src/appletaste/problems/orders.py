"""Made-up raw files for the guide: two months of a web shop's orders, and those of the year before; some are fraud."""

from __future__ import annotations

import csv
import math
import random
from datetime import datetime, timedelta
from os import PathLike
from typing import Any

from .._checks import whole
from .._files import written_aside

COLUMNS = (
    "order", "placed_at", "amount", "items", "country", "payment", "device", "account_days", "reviewed", "settled_on",
    "fraud"
)  # fmt: skip
YEAR, DAYS = 2024, 61
COUNTRIES = ("DE", "FR", "NL", "PL", "ES", "IT", "US", "GB")
#: What adds to the log-odds of fraud; nobody who reads the file knows these.
RISK = {"US": 1.2, "GB": 0.7, "PL": -0.5, "card": 0.3, "invoice": 1.3, "voucher": 0.2, "bank": -1.2, "desktop": 0.5}
#: From this day of the later year on, stolen vouchers go round.
WAVE = 45
#: The shop's own rule: orders from this amount on are reviewed, and guests who pay by invoice.
REVIEWED_FROM = 160.0


def write_orders(path: str | PathLike[str], rows: int = 36_600, seed: int = 7, year_before: bool = False) -> None:
    """Write a CSV file of made-up orders, the same for the same seed: categories, gaps, a time and a yes-or-no label.

    About one order in twenty is fraud. ``account_days`` is empty for guests, ``reviewed`` is what the shop's own rule
    did, ``settled_on`` is known only afterwards, and in the last two weeks vouchers turn bad. In the orders of the year
    before, ``fraud`` is known only where an order was reviewed.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_orders(f"{folder}/orders.csv", rows=2)
    ...     print(Path(folder, "orders.csv").read_text().splitlines()[0])
    order,placed_at,amount,items,country,payment,device,account_days,reviewed,settled_on,fraud
    """
    whole("rows", rows, least=1)
    source = random.Random(f"orders {seed}{' before' if year_before else ''}")
    with written_aside(path) as aside, aside.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows(_order(k, rows, source, year_before) for k in range(rows))


def _order(k: int, rows: int, source: random.Random, year_before: bool) -> list[Any]:
    start = datetime(YEAR - year_before, 5, 1)
    placed = start + timedelta(seconds=round(DAYS * 86400 * (k + source.random()) / rows))
    day = (placed - start).days
    amount = round(source.lognormvariate(4.0, 0.8), 2)
    items = 1 + min(9, int(source.expovariate(0.7)))
    country = source.choices(COUNTRIES, (40, 12, 10, 9, 8, 8, 7, 6))[0]
    payment = source.choices(("card", "invoice", "paypal", "bank", "voucher"), (40, 20, 20, 12, 8))[0]
    device = source.choices(("phone", "desktop", "tablet", ""), (52, 34, 9, 5))[0]
    account = None if source.random() < 0.3 else int(source.expovariate(1 / 400))
    odds = -4.2 + 1.1 * (math.log(amount) - 4.0) + sum(RISK.get(level, 0.0) for level in (country, payment, device))
    odds += 1.3 if account is None else -1.2 * min(1.0, account / 300)
    odds += 2.5 if payment == "voucher" and day >= WAVE and not year_before else 0.0
    fraud = source.random() < 1.0 / (1.0 + math.exp(-odds))
    settled = placed + timedelta(days=source.lognormvariate(2.2, 0.6))
    stamp = placed.isoformat(timespec="minutes")
    known = "" if account is None else account
    reviewed = amount >= REVIEWED_FROM or (account is None and payment == "invoice")
    label = "" if year_before and not reviewed else _word(fraud)
    name = f"{'B' if year_before else 'A'}{10000 + k}"
    return [name, stamp, amount, items, country, payment, device, known, _word(reviewed), settled.date(), label]


def _word(true: bool) -> str:
    return "yes" if true else "no"
