"""What all pictures share: colours, bands, the best few, and files that do not change from run to run."""

import numpy as np
import pytest

from appletaste.pages.charts import BOXED, COLOURS, colours_of, draw_regret, regret_axes, save_figure, shade

pytest.importorskip("matplotlib")
POLICIES = ("pg-ts", "pg-ids", "greedy", "cbp-side", "suplogistic")


def figure_of_regret():
    figure, axes = regret_axes(2, 3.0)
    rounds = np.arange(1, 11)
    bands = {name: (rounds, k + rounds, k + 2 * rounds, k + 3 * rounds) for k, name in enumerate(POLICIES)}
    final = {name: np.array([20.0 - k, 30.0 - k]) for k, name in enumerate(POLICIES)}
    for pair in axes:
        draw_regret(pair, bands, final)
    return figure, axes


def test_a_problem_is_drawn_as_curves_and_boxes_of_the_best():
    figure, axes = figure_of_regret()
    assert axes.shape == (2, 2)
    assert figure.get_size_inches().tolist() == [10.0, 6.0]
    for curves, boxes in axes:
        legend = curves.get_legend()
        assert [text.get_text() for text in legend.get_texts()] == list(POLICIES)
        assert {text.get_fontsize() for text in legend.get_texts()} == {8.0}
        assert not legend.get_frame_on()
        for line, name in zip(curves.lines, POLICIES, strict=True):
            assert line.get_color() == COLOURS[name]
        assert len(curves.collections) == len(POLICIES)
        best = [label.get_text() for label in boxes.get_xticklabels()]
        assert best == list(POLICIES[::-1][:BOXED])  # the last ends lowest
    save_figure(figure, [])


def test_a_band_lies_between_its_ends_behind_the_line():
    figure, axes = regret_axes(1, 3.0)
    axis = axes[0][0]
    shade(axis, [1.0, 2.0], [3.0, 4.0], [5.0, 8.0], "#0072B2")
    (band,) = axis.collections
    corners = {tuple(corner) for corner in band.get_paths()[0].vertices.tolist()}
    assert {(1.0, 3.0), (2.0, 4.0), (1.0, 5.0), (2.0, 8.0)} <= corners
    assert band.get_alpha() < 0.5
    save_figure(figure, [])


def test_no_two_labels_share_a_colour():
    labels = ["pg-ts", "pg-ts[sweeps=1]", "greedy", "of-my-own", "another"]
    chosen = colours_of(labels)
    assert len(set(chosen.values())) == len(labels)
    assert (chosen["pg-ts"], chosen["greedy"]) == (COLOURS["pg-ts"], COLOURS["greedy"])


def test_the_same_figure_is_the_same_file(tmp_path):
    import matplotlib.pyplot as plt

    for name in ("one.svg", "two.svg"):
        figure, _ = figure_of_regret()
        save_figure(figure, [tmp_path / name])
        assert figure.number not in plt.get_fignums()
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()
    assert b"<text" in (tmp_path / "one.svg").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one.svg", "two.svg"]
