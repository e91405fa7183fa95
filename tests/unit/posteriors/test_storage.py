"""Storage that grows: nothing lost, nothing stale, with pages that move and with copies."""

import numpy as np
import pytest

from appletaste.kernels.linear import BLOCK
from appletaste.posteriors import label_table as storage
from appletaste.posteriors.label_table import Growing, Labels


@pytest.fixture(params=["pages move", "pages are copied"])
def way(request, monkeypatch):
    if request.param == "pages are copied":
        monkeypatch.setattr(storage, "CAN_MOVE", False)
    return request.param


def test_what_is_there_stays_and_what_is_new_is_zero(way, rng):
    grown = Growing(2, 3)
    grown.array[:] = first = rng.normal(size=(2, 3))
    for length in (5, 700, 20_000):
        before = len(grown.array)
        kept = grown.array.copy()
        grown.grow(length)
        assert grown.array.shape == (length, 3)
        assert (grown.array[:before] == kept).all()
        assert not grown.array[before:].any()
        grown.array[-1] = length
    assert (grown.array[:2] == first).all()
    assert grown.array.ctypes.data % 64 == 0  # vector loads do not straddle cache lines


def test_a_view_that_somebody_holds_stays_what_it_was(way):
    grown = Growing(4)
    grown.array[:] = 1.0
    view = grown.array[1:3]
    grown.grow(100_000)
    assert view.tolist() == [1.0, 1.0]
    grown.array[1] = 5.0
    assert grown.array[:4].tolist() == [1.0, 5.0, 1.0, 1.0]
    assert view[0] in (1.0, 5.0)  # it may be the old memory, never freed memory


def test_labels_over_many_blocks(way, rng):
    labels, n = Labels(2), 5 * BLOCK + 7
    items = rng.normal(size=(n, 2))
    for i, x in enumerate(items):
        labels.add(x, i % 2)
    assert labels.features.shape == (8, 2, BLOCK)
    assert (labels.features[3, :, 5] == items[3 * BLOCK + 5]).all()
    arrays = labels.arrays()
    assert (arrays["items"] == items).all()
    again = Labels.from_arrays(arrays, 2)
    assert (again.features[:6] == labels.features[:6]).all()
    again.add(np.ones(2), 1)
    assert (again.arrays()["items"][-1] == 1.0).all()
    with pytest.raises(ValueError, match="do not fit"):
        Labels.from_arrays(arrays, 3)
