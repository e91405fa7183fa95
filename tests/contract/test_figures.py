"""Figures that several pages tell are those of the tables behind them, which benches write."""

import re
from pathlib import Path

from appletaste.paper.published import AT_LENGTH, KNOWN_MISMATCHES, LONG, NEAR, PRECISION_RECALL, TUNING_REGRET

ROOT = Path(__file__).parent.parent.parent
README, BENCH, WHICH = ((ROOT / page).read_text() for page in ("README.md", "docs/bench.md", "docs/which-policy.md"))
PEERS, SCALE, MISSED = (
    (ROOT / "docs" / "decisions" / "measured" / page).read_text() for page in ("bench.md", "scale.md", "missed.md")
)


def joined(text):
    return " ".join(text.split())


def test_regret_beside_other_libraries():
    ours, best = map(float, re.search(r"best single peer's \| ([\d.]+); [\w-]+: ([\d.]+),", PEERS).groups())
    lowest, environments = re.search(r"lowest among libraries .* \| (\d+) of (\d+) \|", PEERS).groups()
    rows = re.search(r"^## Every environment$.*?^## ", PEERS, re.S | re.M).group()
    worst = max(float(ratio) for ratio in re.findall(r"\| ([\d.]+) [✓✗]? ?\|$", rows, re.M))
    for page in (README, BENCH):
        told = joined(page)
        assert f"Over {environments} environments the regret of `voi` is {ours / best:.2f} of that" in told
        assert f"the ratio is {ours:.2f}: `voi` is lowest in {lowest}, and at worst" in told
        assert f"{worst:.1f} times" in told
    assert f"regret {ours / best:.2f} of that of the best other library over {environments} environments" in WHICH
    assert f"lowest in {lowest} " in WHICH


def test_microseconds():
    slowest = float(re.search(r"highest median from 1,000 labels on \| [\d.]+ us \| ([\d.]+) us", SCALE)[1])
    assert f"- {slowest:.0f} microseconds to decide and learn with 20 features" in README


def test_coverage_on_hard_streams():
    caption, table = re.search(r"^<!-- hard -->\n\n(.*?)\n\n(\|.*?)\n\n", MISSED, re.S | re.M).groups()
    each = int(caption.split()[0])
    rows = [line.split(" | ")[1].split() for line in table.splitlines() if re.match(r"\| [^-]+ \| \d", line)]
    assert len(rows) == 13
    answered = [int(more[0].strip("()")) if more else each for _, *more in rows]
    covered = [int(share) for share, *_ in rows]
    mean = sum(n * share for n, share in zip(answered, covered, strict=True)) / sum(answered)
    told = joined(README)
    assert f"covered {mean:.0f} % on [hard streams]" in told
    assert f"by kind {min(covered)} to {max(covered)} %" in told


def test_coverage_in_short():
    """The short table of docs/missed.md, row by row, is that of the tables which the bench writes."""
    told = (ROOT / "docs" / "missed.md").read_text()
    for row, part in (("hard streams", "hard"), ("labels late or lost", "late"), ("five public files", "files")):
        table = re.search(rf"^<!-- {part} -->.*?^<!-- end of {part} -->", MISSED, re.S | re.M).group()
        names = ("missed, HT", "missed, model", "threshold, saving")
        cells = [re.search(rf"^\| {name} \| ([\d.]+) \| [\d,]+ of", table, re.M)[1] for name in names]
        assert re.search(rf"^\| {row}.*? \| ([\d. |]+) \|$", told, re.M)[1] == " | ".join(cells)
    by_design, *_, by_model = re.search(r"^\| all \| ([\d.| ]+) \|$", MISSED, re.M)[1].split(" | ")
    assert f"| policies of the registry | {by_design} | {by_model} | |" in told
    control = re.findall(r"^\| all \| ([\d.]+) \|", MISSED, re.M)[-1]
    assert f"it covers {control} %" in told


def test_cells_of_the_paper():
    cells = sum(map(len, TUNING_REGRET.values())) + sum(2 * len(rows) for rows in PRECISION_RECALL.values())
    told = joined(README)
    assert (
        f"{cells - len(KNOWN_MISMATCHES)} of {cells} published cells of the paper agree within {NEAR:g} standard"
        in told
    )
    assert "an impossible precision of 0.05, and 0.53, printed twice, for always acting, which gives 0.517" in told
    listed = (ROOT / "docs" / "paper.md").read_text().split("## Cells that cannot be had")[1]
    assert len(re.findall(r"^\| Table", listed, re.M)) == len(KNOWN_MISMATCHES)


def test_the_table_of_the_readme_is_the_published_one_beside_ours_at_length():
    rows = re.findall(r"^\| [\w, -]+ \| (\*0.*) \|$", README, re.M)
    policies = PRECISION_RECALL["i"]
    assert len(rows) == len(policies)
    for row, policy in zip(rows, policies, strict=True):
        shown = [tuple(map(float, pair)) for pair in re.findall(r"\*([\d.]+)\* / ([\d.]+)", row)]
        means = [AT_LENGTH[problem, policy, m].mean for problem in PRECISION_RECALL for m in ("precision", "recall")]
        published = [cell for problem in PRECISION_RECALL for cell in PRECISION_RECALL[problem][policy]]
        assert shown == [(cell, float(f"{mean:.3f}")) for cell, mean in zip(published, means, strict=True)]
    assert f"over {LONG} replications" in joined(README)
