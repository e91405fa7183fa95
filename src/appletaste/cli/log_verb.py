"""What ``missed``, ``what-if``, ``plan-audit``, ``report`` and ``example`` do: read the call, ask the log, print."""

from __future__ import annotations

import argparse
import json
import math
from dataclasses import asdict
from typing import Any

import numpy as np

from ..errors import InputError
from ..evaluate import missed, what_if
from ..evaluate.audit_plan import plan_audit
from ..evaluate.settled import settled
from ..evaluate.support import labelled_shares
from ..features import FeatureMap
from ..logs import DecisionLog
from ..problems import write_orders
from ..reports import write_report
from ..reports.sections import in_short
from ..reports.wording import count, percent
from .arguments import parse_costs
from .console import print_table


def run_missed(args: argparse.Namespace) -> None:
    """Print what was missed, three ways."""
    found = missed(DecisionLog.read(args.log), args.level, floor=args.floor)
    _show(args, found.as_dict(), str(found))


def run_what_if(args: argparse.Namespace) -> None:
    """Print what another threshold or cost sheet would have cost."""
    change = parse_costs(args.costs) if args.costs is not None else args.threshold
    log = DecisionLog.read(args.log)
    asked = settled(log)
    found = what_if(asked, change, level=args.level)
    out = len(log) - len(asked)
    note = f"{out} decisions are left out: the labels of their time are mostly out\n" if out else ""
    _show(args, {**found.as_dict(), "saving": found.saving.as_dict(), "left_out": out}, note + str(found))


def run_plan_audit(args: argparse.Namespace) -> None:
    """Print how many audits to make, by the chance that the model gave."""
    log = settled(DecisionLog.read(args.log))
    passed = ~log.act
    if log.chance is None or np.isnan(log.chance[passed]).any():
        raise InputError(
            f"{args.log} does not record the model's chance of every item, which a plan goes by: log chance"
        )
    positives = log.label == 1
    found = float((1.0 / labelled_shares(log)[positives]).sum())  # with those whose label is out
    if not found:
        raise InputError(
            f"no positive has been seen in {args.log} yet, so there is no recall to plan for: wait for labels"
        )
    plan = plan_audit(log.chance[passed], found, margin=args.margin, level=args.level)
    if args.json:
        _show(args, {**asdict(plan), "audits": plan.audits}, "")
        return
    ends = [f"{edge:.3g}" for edge in plan.edges]
    columns = (["0", *ends], [*ends, "1"], plan.items, plan.missed, plan.floors)
    print_table(
        f"{count(plan.audits)} audits tell recall (about {percent(plan.recall)}) to within {percent(plan.margin)}",
        ("chance from", "to", "passed items", "positives expected", "audit", "audits"),
        [
            (low, high, count(items), count(missing), percent(floor), count(items * floor))
            for low, high, items, missing, floor in zip(*columns, strict=True)
        ],
    )
    share = percent(plan.uniform / sum(plan.items))
    print(f"one floor for all would take {count(plan.uniform)} audits, {share} of what is passed")


def run_report(args: argparse.Namespace) -> None:
    """Write the report and print it in short."""
    log = DecisionLog.read(args.log)
    names = None if args.features is None else FeatureMap.load(args.features).names()
    facts = write_report(
        log, args.out, level=args.level, period=args.period, names=names, title=args.title, source=args.log
    )
    said = [*in_short(facts).sentences, f"the report is in {args.out / 'index.html'}"]
    _show(args, facts.as_dict(), "\n".join(said))


def run_example(args: argparse.Namespace) -> None:
    """Write the example file, unless something is there."""
    if args.file.exists():
        raise InputError(f"{args.file} is there already: give another name, or delete it first")
    write_orders(args.file, args.rows, args.seed)
    print(f"{args.rows} orders are in {args.file}; the column 'fraud' says how each turned out")


def _show(args: argparse.Namespace, found: dict[str, Any], text: str) -> None:
    print(json.dumps(_plain(found), indent=2) if args.json else text)


def _plain(value: Any) -> Any:
    """Return what JSON can hold: numbers that are none are null."""
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
