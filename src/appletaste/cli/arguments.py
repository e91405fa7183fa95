"""What people type, as what the library takes: options of policies, costs, values."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from ..costs import OUTCOMES, Costs
from ..costs_by_item import CostsByItem
from ..errors import OptionError
from ..evaluate import OwnThreshold
from ..features import Encoder
from ..policies import PolicySpec, find


def parse_value(text: str) -> Any:
    """Return an option's value as Python: a number, true/false/none, a schedule 1:50,100:15, or the text itself."""
    plain = {"true": True, "false": False, "none": None}
    if text.lower() in plain:
        return plain[text.lower()]
    if re.fullmatch(r"\d+:\d+(,\d+:\d+)*", text):
        return [tuple(int(n) for n in step.split(":")) for step in text.split(",")]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def parse_pairs(text: str, what: str) -> dict[str, str]:
    """Return name=value,name=value as a dictionary; a comma inside a schedule (1:50,100:15) separates nothing."""
    pairs = {}
    for part in re.split(r",(?=\s*[A-Za-z_][\w.-]*\s*=)", text):
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not (name and equals and value):
            raise OptionError(f"{what} takes name=value, got {part!r}")
        if name in pairs:
            raise OptionError(f"{what} sets {name} twice")
        pairs[name] = value
    return pairs


def parse_entries(policies: Sequence[str]) -> list[PolicySpec]:
    """Return the policies of a comparison with their options: NAME or NAME[option=value,...]."""
    entries = []
    for text in policies:
        name, bracket, rest = text.partition("[")
        find(name)
        if bracket and not rest.endswith("]"):
            raise OptionError(f"--policy takes NAME or NAME[option=value,...], got {text!r}")
        typed = parse_pairs(rest[:-1], "--policy") if bracket else {}
        entries.append(PolicySpec(name, {option: parse_value(value) for option, value in typed.items()}))
    return entries


def parse_costs(text: str) -> Costs | CostsByItem:
    """Return costs from miss=...,false_alarm=...,hit=...[,correct_pass=...]; formulas over columns are by item."""
    given = parse_pairs(text, "--costs")
    unknown = sorted(set(given) - set(OUTCOMES))
    missing = [name for name in OUTCOMES[:3] if name not in given]
    if unknown or missing:
        wrong = f"there is no cost {unknown[0]!r}" if unknown else f"{missing[0]} is missing"
        raise OptionError(f"--costs: {wrong}; give miss, false_alarm, hit and, if not 0, correct_pass")
    return CostsByItem.of(given)


def parse_threshold(text: str) -> float | OwnThreshold:
    """Return a threshold from 0.3, or from 1.5x, which is 1.5 times the threshold of each item's own costs."""
    try:
        number = float(text.removesuffix("x"))
    except ValueError:
        raise OptionError(f"--threshold takes a chance such as 0.3, or 1.5x, got {text!r}") from None
    return OwnThreshold(number) if text.endswith("x") else number


def parse_sweep(text: str) -> tuple[str, list[float]]:
    """Return the outcome and the factors of miss=0.5..2, which is half, once and twice, or of miss=0.5,1,3.

    Examples
    --------
    >>> parse_sweep("miss=0.5..2"), parse_sweep("hit=1,3")
    (('miss', [0.5, 1.0, 2.0]), ('hit', [1.0, 3.0]))
    """
    outcome, equals, rest = (part.strip() for part in text.partition("="))
    low, dots, high = rest.partition("..")
    try:
        factors = [float(low), float(high)] if dots else [float(part) for part in rest.split(",")]
    except ValueError:
        factors = []
    if not equals or not factors or outcome not in OUTCOMES:
        raise OptionError(f"--sweep takes miss=0.5..2 (half, once, twice) or miss=0.5,1,3, got {text!r}")
    if dots and factors[0] < 1.0 < factors[1]:
        factors.insert(1, 1.0)
    return outcome, factors


def parse_one_sheet(text: str) -> Costs:
    """Return costs that are the same for every item."""
    costs = parse_costs(text)
    if isinstance(costs, CostsByItem):
        raise OptionError(f"--costs: items have no column {costs.columns[0]!r} here; give numbers")
    return costs


def parse_encoder(text: str | None) -> dict[str, Any] | None:
    """Return the settings of the encoder that are to change, from name=value,...; none were asked for: None."""
    if text is None:
        return None
    settings = {name: parse_value(value) for name, value in parse_pairs(text, "--encoder").items()}
    known = [name for name in Encoder.__dataclass_fields__ if name not in ("interactions", "dates")]
    if "cycles" in settings:
        settings["cycles"] = () if settings["cycles"] is None else str(settings["cycles"]).split("+")
    for name in settings:
        if name not in known:
            raise OptionError(f"--encoder has no setting {name!r}; there are {', '.join(known)}")
    Encoder(**settings)  # a wrong value is found here, before the file is read
    return settings


def parse_dates(given: Sequence[str]) -> dict[str, tuple[str, str]] | None:
    """Return days between dates from NAME=LATER,EARLIER; none were asked for: None."""
    found: dict[str, tuple[str, str]] = {}
    for text in given:
        name, _, both = (piece.strip() for piece in text.partition("="))
        later, _, earlier = (piece.strip() for piece in both.partition(","))
        if not (name and later and earlier):
            raise OptionError(f"--dates takes NAME=LATER,EARLIER, such as age=placed_at,account_opened, got {text!r}")
        if name in found:
            raise OptionError(f"--dates sets {name} twice")
        found[name] = (later, earlier)
    return found or None
