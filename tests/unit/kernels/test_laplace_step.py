"""One label at a Gaussian score: the step ends at the mode, however far the label is from what was believed."""

import numpy as np
import pytest

from appletaste.kernels.gaussian import laplace_step


@pytest.mark.parametrize("label", [0.0, 1.0])
def test_the_step_ends_at_the_mode(label):
    """pull = y - sigma(r) at r = f + v pull; f = 2.97, v = 86.58 jumped to and fro over the root for ever."""
    means = [2.97, -2.97, *np.linspace(-30.0, 30.0, 121)]
    for v in (86.58, *np.geomspace(1e-3, 1e6, 46)):
        for f in means:
            pull, shrink = laplace_step(float(f), float(v), label)
            chance = label - pull
            assert chance == pytest.approx(1.0 / (1.0 + np.exp(-(f + v * pull))), rel=1e-5, abs=1e-9), (f, v)
            weight = chance * (1.0 - chance)
            assert shrink == pytest.approx(weight / (1.0 + v * weight), rel=1e-6)
