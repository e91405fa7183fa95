"""Vector exp and log against NumPy's, to the last digits and at the ends."""

import numpy as np
import pytest

from appletaste.kernels.linear import BLOCK
from appletaste.kernels.logistic import exp_minus_abs, log_product


@pytest.mark.parametrize("scale", [1e-300, 1e-8, 0.3, 3.0, 50.0, 600.0])
def test_exp_to_the_last_digits(rng, scale):
    z, out, spare = scale * rng.normal(size=BLOCK), np.empty(BLOCK), np.empty(BLOCK)
    z = np.clip(z, -700, 700)
    exp_minus_abs(z, 8, BLOCK - 8, out, spare)
    np.testing.assert_allclose(out[: BLOCK - 8], np.exp(-np.abs(z[8:])), rtol=5e-16, atol=0)


def test_exp_at_the_ends():
    z = np.array([0.0, -0.0, 700.0, -1e5, np.inf, 1e300])
    out = np.empty(6)
    exp_minus_abs(z, 0, 6, out, np.empty(6))
    assert out[:2].tolist() == [1.0, 1.0]
    assert (out[2:] == out[2]).all()
    assert 0 < out[2] < 1e-303


@pytest.mark.parametrize("n", [0, 1, 7, 8, 9, 383])
def test_log_of_a_product(rng, n):
    factors = rng.random(BLOCK)
    assert log_product(factors, n) == pytest.approx(np.log1p(factors[:n]).sum(), rel=1e-14, abs=1e-15)
    tiny = np.full(BLOCK, 1e-12)
    assert log_product(tiny, n) == pytest.approx(n * 1e-12, rel=1e-3)
