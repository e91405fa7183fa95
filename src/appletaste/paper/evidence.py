"""What each study shows: its tables beside the published ones, and one sentence that the numbers themselves write."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from ..pages.page import Table
from ..simulate.measures import summarise
from .figures import Outcomes, problems_in, weight_label
from .published import NEAR, PRECISION_RECALL, TUNING_REGRET, WEIGHTS
from .studies import DIMENSIONS, ESTIMATORS, POLICIES, SAMPLERS, SWEEPS, TABLES
from .tables import Cell, common_sign, precision_recall_cells, tuning_cells


@dataclass(frozen=True)
class Finding:
    """What a study found."""

    sentence: str
    tables: list[Table] = field(default_factory=list)
    cells: list[Cell] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)  #: what the cells of a table say together


def number(value: float, digits: int = 2) -> str:
    """Return a number for a table; a dash where there is none."""
    return "–" if not math.isfinite(value) else f"{value:.{digits}f}"


def beside(cell: Cell, digits: int = 3) -> tuple[str, str, str]:
    """Return ours, theirs and the distance, with its mark."""
    ours = f"{number(cell.ours, digits)} ± {number(cell.se, digits)}"
    return ours, f"{cell.published:.2f}", distance(cell)


def distance(cell: Cell) -> str:
    """Return how far ours is from theirs, with its mark."""
    if cell.verdict == "few":
        return "too few replications to judge"
    mark = {"ok": "✓", "NO": "✗"}.get(cell.verdict, cell.verdict)
    return f"{number(cell.z, 1)} {mark}"


def spread_distance(cell: Cell) -> str:
    """Return how far our standard deviation is from theirs, with its mark."""
    if cell.verdict == "few" or math.isnan(cell.sd_z):
        return "–"
    return f"{number(cell.sd_z, 1)} {'✓' if abs(cell.sd_z) <= NEAR else '✗'}"


def signs(named: Mapping[str, Sequence[Cell]]) -> list[str]:
    """Return what the cells of each table say together, where that is anything."""
    found = [common_sign(name, cells) for name, cells in named.items()]
    return [sentence for sentence in found if sentence is not None]


def table_cells(study: str, outcomes: Outcomes, suffix: str = "") -> dict[tuple[str, str], list[Cell]]:
    """Return the precision and recall cells of every problem and policy that was played."""
    found = {}
    for problem, table in PRECISION_RECALL.items():
        for policy in table:
            outcome = outcomes.get((problem + suffix, policy))
            if outcome is not None:
                measures = {"precision": outcome.precision, "recall": outcome.recall}
                found[problem, policy] = precision_recall_cells(study, problem, policy, measures)
    return found


def find_figure_1(outcomes: Outcomes, study: str = "figure-1") -> Finding:
    """Return Tables 1-3 and the regrets of Figure 1, of the problems that were played."""
    cells = table_cells(study, outcomes)
    played = {p: name.replace("-", " ").capitalize() for name, p in TABLES.items() if p in problems_in(outcomes)}
    tables = []
    for problem, table in played.items():
        rows = []
        for policy in (*POLICIES, "always", "never"):
            outcome = outcomes[problem, policy]
            regret = summarise(outcome.regret)
            row = [policy, f"{number(regret.mean)} ± {number(regret.se)}"]
            if policy in POLICIES:
                for cell in cells[problem, policy]:
                    row += beside(cell)
            else:
                for values in (outcome.precision, outcome.recall):
                    row += [number(summarise(values).mean, 3), "", ""]
            rows.append(tuple(row))
        header = ("policy", "regret", "precision", "paper", "z", "recall", "paper", "z")
        tables.append(Table(f"{table}: problem ({problem})", header, rows))
    mean = {key: float(outcome.regret.mean()) for key, outcome in outcomes.items()}

    def trio(problem: str, digits: int) -> str:
        return ", ".join(number(mean[problem, policy], digits) for policy in SAMPLERS) + f" on ({problem})"

    trios = ", ".join(trio(problem, digits) for problem, digits in (("i", 1), ("ii", 0)) if problem in played)
    sentences = [f"Mean regret of PG-TS, PG-IDS and traditional PG-IDS: {trios}."] if trios else []
    if "iii" in played:
        best = min(POLICIES, key=lambda policy: mean["iii", policy])
        sentences.append(
            f"On (iii) never acting has a regret of {mean['iii', 'never']:.2f} and beats every policy of the paper; "
            f"the best of those, {best}, has {mean['iii', best]:.2f}."
        )
    named = {
        f"{table}, {measure}": [cells[problem, policy][place] for policy in POLICIES]
        for problem, table in played.items()
        for place, measure in enumerate(("precision", "recall"))
    }
    return Finding(" ".join(sentences), tables, [cell for pair in cells.values() for cell in pair], signs(named))


def slope(x: list[float], y: list[float]) -> float:
    """Return the exponent a of the least-squares fit y = c x^a."""
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])


def find_figure_2a(outcomes: Outcomes) -> Finding:
    """Return mean regret by dimension, and the exponent with which it grows."""
    tables, exponents = [], {}
    policies = (*SAMPLERS, "greedy")
    for scaling in ("printed", "constant"):
        means = {p: [float(outcomes[f"d={d} {scaling}", p].regret.mean()) for d in DIMENSIONS] for p in policies}
        exponents[scaling] = {p: slope([float(d) for d in DIMENSIONS], means[p]) for p in policies}
        rows = [
            (
                p,
                *(number(m / math.sqrt(d)) for d, m in zip(DIMENSIONS, means[p], strict=True)),
                number(exponents[scaling][p]),
            )
            for p in policies
        ]
        header = ("policy", *(f"d = {d}" for d in DIMENSIONS), "exponent")
        tables.append(Table(f"regret / sqrt(d), {scaling} covariance", header, rows))
    low, high = (f([exponents["constant"][p] for p in SAMPLERS]) for f in (min, max))
    sentence = (
        f"With the printed covariance the regret of PG-TS grows as d to the power {exponents['printed']['pg-ts']:.2f}; "
        f"but the variance of the score grows too. With that held constant the exponents of the three samplers lie "
        f"between {low:.2f} and {high:.2f}, against the 0.5 of the bound."
    )
    return Finding(sentence, tables)


def find_figure_2b(outcomes: Outcomes) -> Finding:
    """Return mean regret by the number of sweeps."""
    tables, ratio = [], {}
    for problem in ("i", "iii"):
        rows = []
        for policy in SAMPLERS:
            played = [outcomes[problem, policy if m == 15 else f"{policy}[sweeps={m}]"].regret for m in SWEEPS]
            summaries = [summarise(values) for values in played]
            rows.append((policy, *(f"{number(s.mean)} ± {number(s.se)}" for s in summaries)))
            ratio[problem, policy] = summaries[-1].mean / summaries[0].mean
        tables.append(Table(f"regret on ({problem})", ("policy", *(f"M = {m}" for m in SWEEPS)), rows))
    sentence = (
        f"From M = {SWEEPS[0]} to {SWEEPS[-1]} mean regret changes by a factor of {ratio['i', 'pg-ts']:.2f} (PG-TS), "
        f"{ratio['i', 'pg-ids']:.2f} (PG-IDS) and {ratio['i', 'pg-ids-traditional']:.2f} (traditional) on (i), and "
        f"of {ratio['iii', 'pg-ts']:.2f}, {ratio['iii', 'pg-ids']:.2f} and "
        f"{ratio['iii', 'pg-ids-traditional']:.2f} on (iii)."
    )
    return Finding(sentence, tables)


def find_figure_3(outcomes: Outcomes) -> Finding:
    """Return Tables 4-6 beside the published ones."""
    named: dict[str, list[Cell]] = {}
    tables: list[Table] = []
    totals, spans = np.zeros(len(WEIGHTS)), {}
    header = ("lambda", "mean", "sd", "paper: mean", "sd", "z of the mean", "z of the sd")
    for k, name in enumerate(TUNING_REGRET):
        regrets = {weight: outcomes[name, weight_label(weight)].regret for weight in WEIGHTS}
        mine = tuning_cells("figure-3", name, regrets)
        rows = [
            (
                f"{weight:g}",
                *(f"{part:.2f}" for part in (cell.ours, cell.sd, cell.published, cell.published_sd)),
                distance(cell),
                spread_distance(cell),
            )
            for weight, cell in zip(WEIGHTS, mine, strict=True)
        ]
        tables.append(Table(f"Table {k + 4}: final regret of tunable PG-IDS, {name}", header, rows))
        totals += [cell.ours for cell in mine]
        spans[name] = f"{min(cell.ours for cell in mine):.1f} to {max(cell.ours for cell in mine):.1f}"
        named[f"Table {k + 4}"] = mine
    others = [
        (
            policy,
            *(
                f"{number(s.mean)} ± {number(s.se)}"
                for s in (summarise(outcomes[n, policy].regret) for n in TUNING_REGRET)
            ),
        )
        for policy in ("pg-ids-traditional", "pg-ts")
    ]
    best = WEIGHTS[int(totals.argmin())]
    sentence = (
        f"Mean regret over the ten weights spans {spans['tuning-250']} at T = 250, {spans['tuning-750']} at T = 750 "
        f"and {spans['iii']} on (iii). Summed over the three, lambda = {best:g} has the least ({totals.min():.2f}); "
        f"the paper's 0.05 has {totals[1]:.2f}."
    )
    tables.append(Table("for comparison", ("policy", *TUNING_REGRET), others))
    return Finding(sentence, tables, [cell for table in named.values() for cell in table], signs(named))


def find_readings(outcomes: Outcomes) -> Finding:
    """Return how many cells each reading of the losses gives."""
    counts, rows = {}, []
    readings = {"as-run": "", "as-printed": " as-printed"}
    cells = {reading: table_cells("readings", outcomes, suffix) for reading, suffix in readings.items()}
    for reading, found in cells.items():
        usable = [c for (problem, _), pair in found.items() if problem != "iii" for c in pair if not c.known_mismatch]
        counts[reading] = (sum(cell.agrees for cell in usable), len(usable))
    for problem in ("i", "ii"):
        for policy in POLICIES:
            row = [f"({problem}) {policy}"]
            for k in range(2):
                run, printed = (cells[reading][problem, policy][k] for reading in readings)
                row += [f"{run.published:.2f}", number(run.ours, 3), number(printed.ours, 3)]
            rows.append(tuple(row))
    share = {r: float(outcomes["i" + s, "always"].precision.mean()) for r, s in readings.items()}
    header = ("policy", "precision: paper", "as-run", "as-printed", "recall: paper", "as-run", "as-printed")
    if any(cell.verdict == "few" for pair in cells["as-run"].values() for cell in pair):
        judged = "There are too few replications to judge which reading agrees."
    else:
        judged = (
            f"Run as printed, {counts['as-printed'][0]} of {counts['as-printed'][1]} cells of Tables 1 and 2 agree; "
            f"with miss = 1 and false alarm = l01, {counts['as-run'][0]} of {counts['as-run'][1]} do."
        )
    sentence = (
        f"{judged} Always acting has the precision {share['as-run']:.2f} on (i) in one reading and "
        f"{share['as-printed']:.2f} in the other; the paper has 0.74."
    )
    return Finding(sentence, [Table("precision and recall in both readings", header, rows)])


def find_estimators(outcomes: Outcomes) -> Finding:
    """Return the regret under each information estimator, as paired differences."""
    rows, worst = [], 0.0
    for problem in ("i", "iii"):
        reference = outcomes[problem, "pg-ids"].regret
        for estimator in ESTIMATORS:
            label = "pg-ids" if estimator == ESTIMATORS[0] else f"pg-ids[estimator={estimator}]"
            regret, difference = outcomes[problem, label].regret, summarise(outcomes[problem, label].regret - reference)
            z = difference.mean / difference.se if difference.se > 0 else 0.0
            worst = max(worst, abs(z))
            rows.append(
                (
                    f"({problem}) {estimator}",
                    number(float(regret.mean())),
                    number(difference.mean),
                    number(difference.se),
                )
            )
    header = ("estimator", "regret", "difference to the first", "s.e.")
    sentence = (
        f"The largest paired difference to the mutual information is {worst:.1f} standard errors. The mutual "
        "information is the quantity meant, and the default."
    )
    return Finding(sentence, [Table("final regret of PG-IDS", header, rows)])


FINDINGS: dict[str, Callable[[Outcomes], Finding]] = {
    "figure-1": find_figure_1,
    **{name: partial(find_figure_1, study=name) for name in TABLES},
    "figure-2a": find_figure_2a,
    "figure-2b": find_figure_2b,
    "figure-3": find_figure_3,
    "readings": find_readings,
    "estimators": find_estimators,
}
