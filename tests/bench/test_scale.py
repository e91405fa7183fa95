"""What the bench of scale shows, from results that are made up: the whole run takes ten minutes."""

from bench.figures.parts import markdown
from bench.scale.page import draw, parts, short, slowest

LABELS = (1_000, 3_000, 10_000, 100_000, 1_000_000)


def made(policy, d):
    """Rounds that take longer the more labels there are."""
    rows = [
        {"labels": n, "p50": 5.0 + k, "mean": 6.0 + k, "p99": 30.0 + k, "worst": 200.0 + k, "memory": 10.0 * k}
        for k, n in enumerate(LABELS)
    ]
    return {"policy": policy, "d": d, "rows": rows, "around": {"1000": 39.0, "1000000": 18.0}}


RESULTS = {
    "streams": [made(name, 20) for name in ("voi", "exact-ts", "adf-voi")],
    "growth": [made(name, d) for name in ("voi", "adf-voi") for d in (20, 100, 200)],
    "batches": [{"d": 20, "one": 1e5, "many": 3e5}],
    "replications": [{"processes": 2, "rounds_a_second": 1e5}],
    "vowpal_wabbit": {"player": "vw-epsilon", "p50": 30.0, "p99": 62.0},
}


def test_what_pages_show(tmp_path):
    shown = markdown(parts(RESULTS))
    assert "| `voi`: highest median from 1,000 labels on | 12 us | 9.00 us | yes |" in shown
    assert "| `adf-voi`: memory gained from 100,000 to 1,000,000 labels | 1 MB | 10 MB | **no** |" in shown
    assert "| `exact-ts`, d = 20 | 1,000,000 | 9.0 | 10.0 | 34.0 | 204 | 40 |" in shown
    assert "5.0 and 2.0 times `voi`" in shown
    assert slowest(RESULTS) == "9"
    assert "| worst of a million rounds, d = 20 | 0.2 ms |" in markdown([short(RESULTS)])
    draw(RESULTS, tmp_path / "scale.svg")
    assert (tmp_path / "scale.svg").read_text().count("<svg") == 1
