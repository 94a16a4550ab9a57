"""The smallest examples of docs/errata.md: what a paper prints fails, the correction does not."""

import re
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from steadyboost.linesearch import minimize_error

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "errata.md").read_text(encoding="utf-8")


def test_the_page_names_tests_that_are_there():
    named = re.findall(r"`(tests/\S+\.py)::(test_\w+)`", PAGE)
    assert len(named) >= 20
    for file, test in named:
        assert f"def {test}(" in (ROOT / file).read_text(encoding="utf-8"), (file, test)


def test_every_example_is_on_the_page():
    own = re.findall(r"^def (test_\w+)", Path(__file__).read_text(encoding="utf-8"), re.MULTILINE)
    examples = [name for name in own if "page" not in name]
    assert not [name for name in examples if f"::{name}`" not in PAGE]


# 000: Jin and Zhang (2007)


def test_000_theorem_1_needs_its_start():
    """A row of each of four classes; one perfect hypothesis about the colours 0 0 1 1."""
    votes = np.array([[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1], [0, 0, 1, 1]])  # by row and label
    error = np.mean(votes.argmax(axis=1) != np.arange(4))  # of equals, the first
    U = 2 / 3  # two of three wrong labels have the other colour
    assert error == 0.5
    assert error > 1 - U  # as printed, with 1 - 2 error = 1
    assert error <= 3 * (1 - U)  # tau_0 = k - 1, without smoothing


def test_000_eq_6_goes_the_other_way():
    """Two wrong labels of different colours with mass 1/2 each, alpha g = 1."""
    mass, moved = np.array([0.5, 0.5]), np.array([1.0, -1.0])
    product = (mass @ np.exp(moved)) * (mass @ np.exp(-moved))
    assert product == pytest.approx(np.cosh(1) ** 2)
    assert product > mass.sum() ** 2  # printed as an upper bound


def test_000_eq_7_holds_by_another_argument():
    """F(a + b q) <= a + b + c b (q - 1), for c + lambda (a + b) = 1."""
    rng = np.random.default_rng(0)
    smoothing, q = rng.uniform(0, 3, 2000), rng.exponential(2, 2000)
    c = rng.random(2000)
    wrong = (1 - c) / np.maximum(smoothing, 1e-9)
    b = rng.random(2000) * wrong
    s = wrong - b + b * q
    assert (s / (c + smoothing * s) <= wrong + c * b * (q - 1) + 1e-9 * (1 + wrong)).all()


# 001: Jin et al. (2003)


def test_001_the_error_is_no_mean_of_signs():
    """One row right, one wrong: half are wrong, and the mean of signs is 0."""
    margins = np.array([1.0, -1.0])
    assert np.mean(np.sign(-margins)) == 0
    assert np.mean(margins <= 0) == 0.5


def test_001_signs_in_section_3_1_are_swapped():
    """One row, H = 0 and a hypothesis that is right: the loss falls to e^-alpha."""
    y, h, alpha = 1, 1, 0.7
    loss = np.exp(-y * alpha * h)
    printed = np.exp(alpha) * (h == y) + np.exp(-alpha) * (h != y)
    assert loss == pytest.approx(1 / printed)
    assert loss < 1 < printed


def test_001_eq_12_is_inverted():
    """Rows with the factor f: the best step is smaller where f is larger, not the reverse."""
    error, f = 0.2, 4.0
    steps = np.linspace(0, 3, 30_001)
    losses = (1 - error) * np.exp(-steps * f) + error * np.exp(steps * f)
    best = steps[losses.argmin()]
    assert best == pytest.approx(np.log((1 - error) / error) / (2 * f), abs=1e-3)
    assert best != pytest.approx(f * np.log((1 - error) / error) / 2, rel=0.5)


def test_001_the_growth_bound_fails_with_a_normalizer():
    """alpha = 1/2 in each of two rounds, C = 1/2: the second score is above the bound."""
    alpha, beta, normalizer = 0.5, 1.0, 0.5
    first = alpha / normalizer
    second = first + alpha * np.exp(-beta * first) / normalizer

    def bound(rise):
        return np.log(np.exp(beta * first) + beta * rise * np.exp(beta * rise)) / beta

    assert second > bound(alpha)
    assert second <= bound(alpha / normalizer)


# 002: Zhai, Xia and Wang (2014)


def test_002_the_breakpoint_of_scenario_2_has_the_other_sign():
    """Right by one vote, and the hypothesis names another label: wrong from alpha = 1 on."""
    scores, y, h = np.array([[1.0, 0.0, 0.5]]), np.array([0]), np.array([1])

    def error(alpha):
        changed = scores.copy()
        changed[0, h[0]] += alpha
        return int(changed[0].argmax() != y[0])

    assert [error(alpha) for alpha in (-1.5, -0.5, 0.5, 0.9)] == [0, 0, 0, 0]
    assert error(1.1) == 1
    assert minimize_error(scores, y, h).step < 1


def test_002_theorem_3_fails_across_zero():
    """K = 3, a = (0, 1, 0), y = 0, h = 2, c = 1, n' = 1: a valley at 0 between two hills."""

    def worst_margin(alpha):
        scores = np.array([0.0, 1.0, alpha])
        return (scores[0] - scores[1:].max()) / (1 + abs(alpha))

    left, middle, right = map(worst_margin, (-0.5, 0.0, 0.5))
    assert left == right == pytest.approx(-2 / 3)
    assert middle == -1


def test_002_phase_1_stalls_where_zero_is_inside_an_interval():
    """After one tree with step 1, the same tree again: the error is the same from -1 to 1."""
    labels, said = np.array([0, 1, 1]), np.array([0, 1, 0])
    scores = np.eye(2)[said]

    def error(alpha):
        return np.mean((scores + alpha * np.eye(2)[said]).argmax(axis=1) != labels)

    assert len({error(alpha) for alpha in np.linspace(-0.99, 0.99, 199)}) == 1
    assert (-1 + 1) / 2 == 0  # the middle: the scores stay as they are, for ever


# 003: Schapire (1997)


@pytest.mark.parametrize("k", [3, 4, 5, 6, 7])
def test_003_an_even_split_separates_odd_numbers_of_labels_less_often(k):
    splits = list(combinations(range(k), k // 2))
    share = np.mean([(0 in split) != (1 in split) for split in splits])
    printed = 0.5 * (1 + 1 / (k - 1))
    assert share == pytest.approx(0.5 * (1 + 1 / (k - 1 if k % 2 == 0 else k)))
    assert (share == pytest.approx(printed)) == (k % 2 == 0)


def test_003_an_advantage_of_zero_leaves_the_bound_where_it_was():
    """gamma = 0 is bounded away from 1/2, and the product never falls."""
    assert 2 * np.sqrt((0.5 - 0.0) * (0.5 + 0.0)) == 1


def test_003_a_label_of_the_own_colour_is_no_mistake_of_the_third_case():
    """Eq. (3): h says the other colour than y's; labels of y's own colour are as wrong as y is."""
    colors, y = np.array([1, 1, 0]), 0
    said = 0  # the hypothesis names the other colour
    soft = (colors == said).astype(float)  # what it says of each label
    losses = (1 - soft[y] + soft) / 2
    assert losses[1] == 0.5  # same colour as y: undecided, whatever it says
    assert losses[2] == 1  # the other colour, mu(y) != mu(l): the full loss


# 004: Geist (2015)


def soft_cost(u, costs):
    rule = np.exp(u - u.max())
    return float(rule @ costs / rule.sum())


def hessian(u, costs, eps=1e-4):
    steps = eps * np.eye(len(u))
    return np.array(
        [
            [
                sum(
                    sign * soft_cost(u + a + b, costs)
                    for sign, a, b in ((1, p, q), (-1, p, -q), (-1, -p, q), (1, -p, -q))
                )
                / (4 * eps**2)
                for q in steps
            ]
            for p in steps
        ]
    )


def test_004_the_hessian_of_lemma_1_is_not_diagonal():
    """Two labels, scores (ln 3, 0) and costs (0, 1)."""
    u, costs = np.array([np.log(3), 0.0]), np.array([0.0, 1.0])
    rule = np.array([0.75, 0.25])
    found, d = hessian(u, costs), costs - rule @ costs
    assert found[0, 1] == pytest.approx(-3 / 32, abs=1e-5)
    fd = rule * d
    ours = np.diag(fd) - np.outer(fd, rule) - np.outer(rule, fd)
    np.testing.assert_allclose(found, ours, atol=1e-5)


def test_004_the_risk_is_half_as_curved_as_lemma_1_says():
    rng = np.random.default_rng(0)
    curves = []
    for _ in range(300):
        k = rng.integers(2, 6)
        rule, costs = rng.dirichlet(np.full(k, 0.5)), rng.integers(0, 2, k).astype(float)
        fd = rule * (costs - rule @ costs)
        matrix = np.diag(fd) - np.outer(fd, rule) - np.outer(rule, fd)
        curves.append(np.abs(np.linalg.eigvalsh(matrix)).max())
    assert max(curves) <= 0.5


@pytest.mark.parametrize(("k", "falls"), [(2, True), (3, True), (4, False), (10, False)])
def test_004_the_step_of_section_5_1_promises_a_decrease_for_three_labels(k, falls):
    """It is K times that of Theorem 1: alpha (1 - alpha L / 2) with alpha = K and L = 1/2."""
    assert (k * (1 - k * 0.5 / 2) > 0) == falls
    assert k * (1 - k * 1.0 / 2) <= 0  # with the printed L = 1 for none


def test_004_signs_of_scores_are_tied():
    """AdaBoost.MH predicts by the scores: two labels are said yes to, one of them more firmly."""
    scores = np.array([0.1, 0.9, -1.0])
    assert np.sign(scores).argmax() == 0
    assert scores.argmax() == 1
