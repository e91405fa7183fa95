"""``appletaste second-looks``: labels to be looked at again by lot, what was said, and what that makes of *missed*."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from .options import add_json, add_stream, add_verb

DESCRIPTION = """\
Check the checkers: labels that are drawn by lot are looked at again, by somebody who is not
told the first label, and by another person where names are known. From both looks come how
often two people agree, the sensitivity and specificity of those who label, and what was
missed without their errors.

Two people who agree may both be wrong. There are two readings: 'truth', the second look is
right, as that of a senior; and 'independent', all err alike, and the error of one person
says nothing of that of another. Both are printed."""

EXAMPLES = """\
examples:
  appletaste second-looks shop.db --due due.csv --by carla     whom to look at again, without the labels
  appletaste second-looks shop.db --labels looked.csv --by carla
  appletaste second-looks shop.db                              what second looks say

More: docs/how-to/check-the-checkers.md
"""


def add(verbs: Any) -> None:
    """Add the verb to the parser."""
    parser = add_verb(
        verbs, "second-looks", run, "labels looked at a second time by lot, and what they say", DESCRIPTION, EXAMPLES
    )
    add_stream(parser)
    parser.add_argument("--due", type=Path, metavar="FILE", help="write the items to look at again, .csv or .jsonl")
    parser.add_argument(
        "--labels", metavar="FILE", help="what second looks said: a table with the columns id and label"
    )
    parser.add_argument(
        "--rate", type=float, default=0.05, metavar="R", help="the share of labels that is drawn (default 0.05)"
    )
    parser.add_argument("--by", default="", metavar="NAME", help="who looks a second time")
    parser.add_argument("--level", type=float, default=0.9, help="confidence of the intervals (default 0.9)")
    add_json(parser)


def run(args: argparse.Namespace) -> None:
    """Write what is due, record what was said, or print what second looks say."""
    from ..evaluate.agreement import READINGS, of_reviewers, without_errors
    from ..records.codec import unpack_item
    from ..tables import read_records
    from .addresses import check_rows_path, counted, open_stream, write_rows
    from .console import print_json

    check_rows_path(args.due, args.store)
    with open_stream(args.store, args.stream) as stream:
        if args.due is not None:
            due = stream.second_looks_due(args.rate, by=args.by)
            rows = []
            for one in due:
                made = stream.record.decision(one)
                record = None if made is None or made.item is None else unpack_item(made.item)[1]
                rows.append({"id": one, **(record or {}), "label": ""})
            names = list(dict.fromkeys(name for row in rows for name in row)) or ["id", "label"]
            write_rows(args.due, names, [dict.fromkeys(names) | row for row in rows])
            print(f"{counted(len(due), 'item')} to look at again in {args.due}: fill in the column label")
            return
        if args.labels is not None:
            table = read_records(args.labels, columns=["id", "label"], categories=["id", "label"])
            said = zip(table.columns["id"].tolist(), table.columns["label"].tolist(), strict=True)
            given = {one: _value(value) for one, value in said if value not in (None, "")}
            with stream.group():
                new = sum(stream.look_again(one, value, rate=args.rate, by=args.by) for one, value in given.items())
            print(f"{counted(new, 'second look')} recorded")
            return
        looks, log = stream.second_looks(), stream.log(features=False)
    found = {reading: without_errors(log, looks, args.level, reading) for reading in READINGS}  # type: ignore[arg-type]
    people = of_reviewers(looks, args.level)
    if args.json:
        readings = {reading: answer.as_dict() for reading, answer in found.items()}
        print_json({**readings, "reviewers": {name: person.as_dict() for name, person in people.items()}})
        return
    print("\n\n".join(str(one) for one in found.values()))
    for name, person in people.items():
        print(f"{name}: {person.looks} looked at again, agreement {person.agreement}")


def _value(text: str) -> int:
    """Return a label that was written as 0 or 1, no or yes."""
    from ..errors import DataError

    values = {"0": 0, "no": 0, "false": 0, "1": 1, "yes": 1, "true": 1}
    if text.casefold() not in values:
        raise DataError(f"a label is 0 or 1, no or yes, got {text!r}")
    return values[text.casefold()]
