"""Rules against brute force: the probabilities minimise what they claim to, whatever the numbers."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from appletaste import Costs
from appletaste.errors import OptionError
from appletaste.kernels import information
from appletaste.posteriors import DrawnScore
from appletaste.rules import EpsilonGreedy, InformationDirected, Thompson, Traditional
from appletaste.rules.information_directed import traditional_probability, tunable_probability

GRID = np.linspace(0, 1, 20_001)
regrets = st.floats(0, 5)
score_lists = st.lists(st.floats(-30, 30), min_size=1, max_size=20)
sheets = st.builds(
    lambda hit, gain, price: Costs(hit + gain, price, hit), st.floats(-2, 2), st.floats(0.01, 5), st.floats(0.01, 5)
)


class Points(DrawnScore):
    """A score given by equally likely points."""

    def __init__(self, scores, likelihood=None):
        points = (np.asarray(scores, dtype=float), np.full(len(scores), 1 / len(scores)))
        super().__init__(points, points)
        self.likelihood = likelihood

    def likelihood_weights(self):
        return self.likelihood


def judge(rule, score, costs):
    return rule.start(1).judge(score, costs, np.ones(1), 1)


@given(regret_pass=regrets, regret_act=regrets, gain=st.floats(0, 2), weight=st.floats(0, 2))
def test_tunable_minimises_its_objective(regret_pass, regret_act, gain, weight):
    p = tunable_probability(regret_pass, regret_act, gain, weight)
    assert 0 <= p <= 1

    def objective(q):
        return (regret_pass + q * (regret_act - regret_pass)) ** 2 - weight * q * gain

    assert objective(p) <= objective(GRID).min() + 1e-12
    if abs(regret_act - regret_pass) > 1e-3:  # strictly convex: the minimiser is unique
        assert abs(p - GRID[objective(GRID).argmin()]) < 1e-3


@given(regret_pass=st.floats(1e-6, 5), regret_act=regrets)
def test_traditional_minimises_the_information_ratio(regret_pass, regret_act):
    p = traditional_probability(regret_pass, regret_act)
    assert 0 < p <= 1
    q = GRID[1:]
    ratio = (regret_pass + q * (regret_act - regret_pass)) ** 2 / q
    assert (regret_pass + p * (regret_act - regret_pass)) ** 2 / p <= ratio.min() * (1 + 1e-9) + 1e-12


def test_degenerate_cases_are_defined():
    assert tunable_probability(0.2, 0.2, 0.1, 0.05) == 1.0  # Delta(0) = Delta(1): information decides
    assert tunable_probability(0.2, 0.2, 0.0, 0.0) == 1.0  # a tie acts
    assert tunable_probability(0.0, 0.0, 0.0, 0.05) == 1.0
    assert tunable_probability(0.0, 1e-200, 0.1, 0.05) == 1.0
    assert tunable_probability(0.0, 0.3, 0.1, 0.0) == 0.0  # no weight on information: greedy
    assert tunable_probability(0.3, 0.0, 0.1, 0.0) == 1.0
    assert traditional_probability(0.0, 0.4) == 0.0
    assert traditional_probability(0.0, 0.0) == 0.0
    assert traditional_probability(0.3, 0.3) == 1.0
    assert traditional_probability(0.3, 0.0) == 1.0
    # acting is certain until Delta(1) exceeds twice Delta(0), and favoured until three times (Remark)
    assert traditional_probability(0.1, 0.2) == 1.0
    assert traditional_probability(0.1, 0.3) == pytest.approx(0.5)


@given(scores=score_lists, costs=sheets)
def test_expected_regrets_are_averages(scores, costs):
    weights = np.full(len(scores), 1 / len(scores))
    regret_pass, regret_act, chance, slope = information.expected_regrets(
        np.array(scores), weights, costs.alarm_price, costs.catch_gain
    )
    chances = [1 / (1 + math.exp(-z)) for z in scores]
    assert regret_pass == pytest.approx(np.mean([costs.regret(False, p) for p in chances]), abs=1e-9)
    assert regret_act == pytest.approx(np.mean([costs.regret(True, p) for p in chances]), abs=1e-9)
    assert chance == pytest.approx(np.mean(chances), abs=1e-12)
    assert slope == pytest.approx(np.mean([p * (1 - p) for p in chances]), abs=1e-12)


def kl_of_label(prior, label_chance):
    """Brute force on a discrete theta: KL(posterior, prior) and KL(prior, posterior) averaged over the label."""
    forward = backward = 0.0
    for likelihood in (label_chance, 1 - label_chance):
        marginal = prior @ likelihood
        posterior = prior * likelihood / marginal
        forward += marginal * np.sum(posterior * np.log(posterior / prior))
        backward += marginal * np.sum(prior * np.log(prior / posterior))
    return forward, backward


@given(scores=st.lists(st.floats(-8, 8), min_size=2, max_size=12))
def test_information_is_the_divergence_it_says(scores):
    z = np.array(scores)
    weights = np.full(z.size, 1 / z.size)
    forward, backward = kl_of_label(weights, 1 / (1 + np.exp(-z)))
    assert information.mutual_information(z, weights) == pytest.approx(forward, abs=1e-9)
    assert information.reversed_information(z, weights, weights) == pytest.approx(backward, abs=1e-9)
    assert 0 <= information.mutual_information(z, weights) <= math.log(2)


def test_the_printed_estimator_is_the_papers(rng):
    """Line by line from eq. InfEst, with the likelihood products that the estimator keeps in logs."""
    z, log_likelihood = rng.normal(size=6), rng.normal(size=6)
    products = np.exp(log_likelihood)
    total = 0.0
    for likelihood in (1 / (1 + np.exp(-z)), 1 / (1 + np.exp(z))):
        d_next, d_now = np.mean(likelihood * products), np.mean(products)
        total += np.mean(likelihood) * np.mean(np.log(d_next / (d_now * likelihood)))
    rule = InformationDirected(estimator="printed")
    assert rule.information(Points(z, products / products.sum())) == pytest.approx(total)
    assert InformationDirected(estimator="corrected").information(Points(z)) != pytest.approx(total)


@given(scores=score_lists, costs=sheets)
def test_every_rule_gives_a_probability(scores, costs):
    score = Points(scores)
    for rule in (Thompson(), Traditional(), EpsilonGreedy(0.2), InformationDirected(0.3)):
        p, why, chance, *_ = judge(rule, score, costs)
        assert 0 <= chance <= 1 or math.isnan(chance)
        assert 0 <= p <= 1
        assert all(isinstance(value, float) for value in why.values())


def test_thompson_and_greedy_by_hand():
    costs = Costs(1, 1, 0)  # threshold 1/2: score 0
    assert judge(Thompson(), Points([-1.0, 0.0, 2.0, 3.0]), costs)[0] == 0.75
    assert judge(EpsilonGreedy(0.1), Points([0.5]), costs)[0] == 0.95
    assert judge(EpsilonGreedy(0.1), Points([-0.5]), costs)[0] == 0.05
    assert judge(EpsilonGreedy(0.0), Points([0.0]), costs)[0] == 1.0  # a tie acts


@pytest.mark.parametrize(
    "make",
    [
        lambda: InformationDirected(weight=-1),
        lambda: InformationDirected(weight=math.nan),
        lambda: InformationDirected(estimator="best"),
        lambda: EpsilonGreedy(1.5),
        lambda: EpsilonGreedy(math.nan),
    ],
)
def test_impossible_settings_are_refused(make):
    with pytest.raises(OptionError):
        make()
