"""``appletaste model``: the numbers of ``policy.curves``, one page that needs nothing else, and every refusal."""

import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest

import appletaste as at
from appletaste.cli.main import main
from appletaste.problems import write_orders
from appletaste.reports.model import model_of
from appletaste.reports.model_page import as_html
from appletaste.reports.model_pictures import Scale
from appletaste.streams.from_history import from_history

COSTS = {"miss": 95, "false_alarm": 6, "hit": 4}
ROLES = {"costs": COSTS, "id": "order", "time": "placed_at", "drop": ["settled_on", "reviewed"]}


def made_stream(path, source, **options):
    """Make a stream in a file of its own, which has its name."""
    from_history(source, "fraud", **{**ROLES, **options}).create(path, path.stem).close()


def look(path):
    return at.Stream.open(path, path.stem, read_only=True)


def curves_of(path):
    with look(path) as stream:
        return stream.player.policy.curves(stream.features)


def call(capsys, *arguments):
    code = main([str(argument) for argument in arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A stream that was taught 600 orders, and one that has not seen a label."""
    made = tmp_path_factory.mktemp("model")
    write_orders(made / "orders.csv", rows=600)
    for name, options in (("taught", {"teach": True, "time_features": True}), ("fresh", {})):
        made_stream(made / f"{name}.db", made / "orders.csv", **options)
    return made


class Tags(HTMLParser):
    """The tags of a page, and whether they are closed in their order."""

    VOID = frozenset({"meta", "img", "br"})

    def __init__(self, text):
        super().__init__()
        self.open, self.found, self.words = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


def test_json_is_the_curves_of_the_policy(folder, capsys):
    code, out, _ = call(capsys, "model", folder / "taught.db", "--json")
    told, stream = json.loads(out), look(folder / "taught.db")
    found, policy = stream.player.policy.curves(stream.features), stream.player.policy
    assert code == 0
    assert [column["name"] for column in told["columns"]] == [curve.name for curve in found]
    for column, curve in zip(told["columns"], found, strict=True):
        for name in ("kind", "typical", "moves", "missing_seen"):
            assert column[name] == getattr(curve, name)
        for name in ("values", "mean", "spread", "edges", "seen", "labels"):
            assert column[name] == list(getattr(curve, name))
        for share in (0.5, 0.9):
            low, high = curve.band(share)
            assert column[f"low_{100 * share:.0f}"] == low.tolist()
            assert column[f"high_{100 * share:.0f}"] == high.tolist()
    assert told["typical"]["score"] == found.base
    assert told["labels"] == 600
    assert told["threshold"] == policy.costs.threshold
    assert told["certificate"]["acceptance"] == policy.certificate().acceptance


def test_a_page_needs_nothing_else_and_draws_every_column(folder, tmp_path, capsys):
    code, out, _ = call(capsys, "model", folder / "taught.db", "--out", tmp_path / "m.html")
    page = (tmp_path / "m.html").read_text()
    tags = Tags(page)
    assert code == 0
    assert str(tmp_path / "m.html") in out
    assert tags.open == []
    assert not re.search(r"(?:src|href)=|url\(|@import|http", page)
    curves = curves_of(folder / "taught.db")
    pictures = [attrs["aria-label"] for tag, attrs in tags.found if tag == "svg" and "aria-label" in attrs]
    assert pictures == [f"{curve.name}: what it adds to the score" for curve in curves]
    numbers = sum(not curve.by_level for curve in curves)
    kinds = [attrs.get("class") for tag, attrs in tags.found if tag == "polygon"]
    assert kinds.count("outer") == kinds.count("inner") == numbers > 2
    words = " ".join(tags.words)
    assert "600 labels learnt" in words
    assert "multiplies the odds of a positive by 2.7" in words
    assert "prefers-color-scheme: dark" in page
    assert call(capsys, "model", folder / "taught.db", "--out", tmp_path / "m.html")[0] == 0  # an earlier page
    assert (tmp_path / "m.html").read_text() == page  # and the same page


def test_heights_of_a_picture_are_those_of_the_curve(folder):
    with look(folder / "taught.db") as stream:
        model = model_of(stream).top(1)
    (curve,) = model.curves
    page, scale = as_html(model, "m"), Scale.of([curve])

    def added(kind):
        points = re.search(f'class="{kind}" points="([^"]+)"', page).group(1).split()
        heights = np.array([float(point.split(",")[1]) for point in points])
        return scale.high - (heights - 10.0) / (222.0 - 32.0 - 10.0) * (scale.high - scale.low)

    for kind, expected in (
        ("mean", np.array(curve.mean)),
        ("inner", np.concatenate([curve.band(0.5)[1], curve.band(0.5)[0][::-1]])),
        ("outer", np.concatenate([curve.band(0.9)[1], curve.band(0.9)[0][::-1]])),
    ):
        assert added(kind) == pytest.approx(np.clip(expected, scale.low, scale.high), abs=0.002 * sum(map(abs, scale)))


def test_the_most_important_columns_come_first_and_the_rest_is_said(folder, capsys):
    _, out, _ = call(capsys, "model", folder / "taught.db", "--top", 2, "--json")
    told = json.loads(out)
    curves = curves_of(folder / "taught.db")
    assert [column["name"] for column in told["columns"]] == [curve.name for curve in curves][:2]
    assert any(f"the 2 of {len(curves)} columns" in note for note in told["notes"])
    code, out, _ = call(capsys, "model", folder / "taught.db", "--top", 0)
    assert code == 0
    assert all(curve.name in out for curve in curves)
    assert "columns that move" not in out


def test_a_stream_without_labels_is_drawn_and_said_to_be_the_prior(folder, tmp_path, capsys):
    code, out, _ = call(capsys, "model", folder / "fresh.db", "--out", tmp_path / "m.html")
    page = (tmp_path / "m.html").read_text()
    assert code == 0
    for text in (out, page):
        assert "No label has been learnt yet" in text
    assert "Labels do not say yet whether this column matters" in page
    assert "nothing is learnt yet" in page


@pytest.mark.parametrize("policy", ["ts", "ids", "pg-ts", "exact-voi", "adf-voi", "greedy", "voi"])
def test_every_posterior_is_drawn(folder, tmp_path, capsys, policy):
    options = {"half_life": 200} if policy == "voi" else {}
    made_stream(tmp_path / "d.db", folder / "orders.csv", name=policy, options=options, teach=True)
    code, out, _ = call(capsys, "model", tmp_path / "d.db", "--out", tmp_path / "m.html")
    assert code == 0
    said = {"pg-ts": "400 draws", "adf-voi": "keeps no labels", "greedy": "no bands", "voi": "no certificate"}
    assert said.get(policy, "") in out
    assert Tags((tmp_path / "m.html").read_text()).open == []


def test_a_live_label_moves_the_curves(folder, tmp_path):
    made_stream(tmp_path / "d.db", folder / "orders.csv")
    with at.Stream.open(tmp_path / "d.db", "d") as stream:
        record = {"amount": 900.0, "items": 1, "country": "US", "payment": "card", "device": "phone"}
        assert stream.decide({**record, "account_days": 1, "placed_at": "2024-06-01T12:00"}, id="a").act
        stream.label("a", 1)
    with look(tmp_path / "d.db") as stream:
        model = model_of(stream)
    assert (model.labels, model.positives) == (1, 1)
    amount = model.curves["amount"]
    assert amount.mean[-1] > 0.0
    assert sum(amount.labels) == 1
    assert amount.labels[-1] == 1


def test_costs_by_item_are_said_to_be_average(folder, tmp_path, capsys):
    made_stream(tmp_path / "d.db", folder / "orders.csv", costs={**COSTS, "miss": "amount * 0.9 + 15"})
    assert "at the average costs" in call(capsys, "model", tmp_path / "d.db")[1]


def test_wrong_calls_are_refused_with_a_remedy(folder, tmp_path, capsys):
    taught = folder / "taught.db"
    (tmp_path / "notes.html").write_text("<html>mine</html>")
    always = at.policy("always", n_features=2, costs=at.Costs(miss=5, false_alarm=1, hit=0))
    features = at.Encoder().fit({"age": [30.0, 50.0]})
    at.Stream.create(tmp_path / "always.db", "always", always, features=features).close()
    at.Stream.create(tmp_path / "bare.db", "bare", always).close()
    always.save(tmp_path / "policy.at", features)
    cases = [
        ([taught, "--out", tmp_path / "m.pdf"], ".html"),
        ([taught, "--out", tmp_path / "notes.html"], "no page of a model"),
        ([taught, "--out", tmp_path / "none" / "m.html"], "no folder"),
        ([taught, "--top", "-1"], "0 for all"),
        ([tmp_path / "always.db"], "'voi'"),
        ([tmp_path / "bare.db"], "takes vectors"),
        ([tmp_path / "policy.at"], "policy.at"),
        ([tmp_path / "nothing.db"], "there is no store"),
    ]
    for arguments, told in cases:
        code, _, error = call(capsys, "model", *arguments)
        assert code in (2, 3)
        assert told in error
        assert "Traceback" not in error
    assert (tmp_path / "notes.html").read_text() == "<html>mine</html>"
