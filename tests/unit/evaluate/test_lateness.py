"""The law of a delay from labels that arrived: by hand, and against delays that are known."""

import numpy as np
import pytest

from appletaste.evaluate.lateness import Lateness, of_another_clock, seconds_of


def by_hand(delays, ages, t):
    """Return F(t) as the formula says, one delay after the other, where every delay counts."""
    share = 1.0
    for s in sorted(set(delays)):
        if s > t:
            share *= 1.0 - np.sum(delays == s) / np.sum((delays <= s) & (ages >= s))
    return share


def test_the_product_limit_is_the_formula():
    rng = np.random.default_rng(1)
    ages, delays = rng.integers(1, 30, 200).astype(float), rng.geometric(0.2, 200).astype(float)
    seen = delays <= ages
    delays, ages = delays[seen], ages[seen]
    law = Lateness.of(delays, ages, least=1)
    for t in (0.0, 0.5, 1.0, 3.0, 7.5, 12.0, 40.0):
        assert law.within(np.array([t]))[0] == pytest.approx(by_hand(delays, ages, t), rel=1e-12)


def drawn(seed, mean=20.0, n=1500, truncated=True):
    rng = np.random.default_rng([4, seed])
    ages, delays = rng.uniform(0, 120, n), rng.exponential(mean, n)
    seen = delays <= ages
    law = Lateness.of(delays[seen], ages[seen] if truncated else np.full(seen.sum(), 120.0))
    at = np.array([10.0, 20.0, 40.0])
    truth = -np.expm1(-at / mean) / -np.expm1(-120.0 / mean)
    return (np.log(law.within(at)) - np.log(truth)) / law.error(at)


def test_delays_that_are_cut_off_by_the_end_of_the_log_are_found_with_their_error():
    off = np.array([drawn(seed) for seed in range(200)])
    assert (np.abs(off.mean(axis=0)) < 0.25).all()
    assert (np.abs(off.std(axis=0) - 1.0) < 0.15).all()
    plain = np.array([drawn(seed, truncated=False) for seed in range(200)])  # the control: those that arrived, as such
    assert (plain.mean(axis=0) > 0.8).all()


def test_a_delay_that_hardly_anybody_is_old_enough_for_counts_as_never():
    ages = np.concatenate([np.full(500, 10.0), [99.0]])
    delays = np.concatenate([np.arange(500) % 5 + 1.0, [98.0]])
    assert Lateness.of(delays, ages).within(np.array([10.0]))[0] == 1.0
    assert Lateness.of(delays, ages, least=1).within(np.array([10.0]))[0] == 0.0


def test_dates_are_seconds_and_a_strange_clock_is_seen():
    assert seconds_of(np.array(["1970-01-01T00:00:05", ""]))[0] == 5.0
    decided = np.arange(40) * 86400.0
    arrived = decided + 86400.0
    assert not of_another_clock(decided, arrived).any()
    arrived[-3:] += 900 * 86400.0
    assert of_another_clock(decided, arrived).nonzero()[0].tolist() == [37, 38, 39]
