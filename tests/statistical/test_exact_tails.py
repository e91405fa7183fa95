"""The tails of ``Exact`` against quadrature, round after round on labels that stay as they are.

``make bench ARGS=exact`` runs the same cases for longer, and the paper's problem (ii) beside them.
"""

import functools

import numpy as np
import pytest
from bench.exact import case, shares, tails_by_gibbs, tails_by_quadrature

from appletaste.posteriors import exact as exact_module

CHAINS, ROUNDS = 16, 15_000


@functools.cache
def reference(name):
    data = case(name)
    return data, tails_by_quadrature(data)


def distances(name):
    """How far the shares beyond the 95, 98 and 99.5 % points of either side are off, in standard errors."""
    means, errors = shares(*reference(name), CHAINS, ROUNDS)
    return np.abs(means - 1) / errors


@pytest.mark.parametrize("name", ["large", "separable"])
def test_tails_match_quadrature(name):
    assert distances(name).max() < 4


def test_steps_that_follow_the_chain_would_lose_the_tails(monkeypatch):
    """The control: without wide steps, rounds that take more steps while proposals have lately been rejected."""
    monkeypatch.setattr(exact_module, "WIDE_EVERY", 10**9)
    commit = exact_module.ExactChain.commit

    def follow(chain, round_):
        if chain.regime == "gibbs":
            return commit(chain, round_)
        states = np.vstack([chain._start(round_), chain.draws(round_)])
        accepted = (states[1:] != states[:-1]).any(1).mean()
        chain.acceptance += 0.03 * (accepted - chain.acceptance)
        return commit(chain, round_)

    monkeypatch.setattr(exact_module.ExactChain, "commit", follow)
    assert distances("separable").max() > 4


def test_tails_match_gibbs_on_the_papers_problem():
    data = case("ii")
    tails, reference_errors = tails_by_gibbs(data, 60_000)
    means, errors = shares(data, tails, 8, 2_500)
    assert (np.abs(means - 1) / np.hypot(errors, reference_errors)).max() < 4.5
