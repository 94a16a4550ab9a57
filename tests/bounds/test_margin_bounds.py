"""Theorems 1 and 2 of DMCBoost: the soft-margin problem, and the error on new rows."""

import numpy as np
import pytest
from common import problem, quiet
from scipy.optimize import linprog

from steadyboost import DMCBoostClassifier, bounds
from steadyboost.bounds.margin import divergence, inverse_divergence
from steadyboost.ensemble.workers import Workers
from steadyboost.linesearch import bottom_margin


def leads(votes, y, n_classes):
    """For each row and wrong label, what each hypothesis adds to the lead of the own label."""
    rows = []
    for i, own in enumerate(y):
        for k in range(n_classes):
            if k != own:
                rows.append([(h[i] == own) * 1.0 - (h[i] == k) for h in votes])
    return np.array(rows)


def solve_soft_margin(votes, y, n_classes, bottom, weights):
    """Problem (6) as a linear program: the value and the steps."""
    table, n, t = leads(votes, y, n_classes), len(y), len(votes)
    own = np.repeat(np.eye(n), n_classes - 1, axis=0)
    constraints = np.hstack([-table, np.ones((len(table), 1)), -own])
    cost = np.concatenate([np.zeros(t), [-1.0], weights / bottom])
    one = np.concatenate([np.ones(t), np.zeros(1 + n)])[None]
    limits = [(0, None)] * t + [(None, None)] + [(0, None)] * n
    found = linprog(cost, constraints, np.zeros(len(table)), one, [1.0], bounds=limits)
    return -found.fun, found.x[:t]


def margins_of(votes, y, n_classes, steps):
    return (leads(votes, y, n_classes) @ steps).reshape(len(y), -1).min(axis=1) / steps.sum()


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("bottom", [1, 4, 12])
def test_the_soft_margin_is_the_mean_of_the_smallest_margins(seed, bottom):
    rng = np.random.default_rng(seed)
    y, votes = rng.integers(0, 3, 12), rng.integers(0, 3, (6, 12))
    weights = rng.choice([1.0, 2.0], 12)
    value, steps = solve_soft_margin(votes, y, 3, bottom, weights)
    best = bounds.soft_margin(margins_of(votes, y, 3, steps), bottom, weights)
    assert best.value == pytest.approx(value, abs=1e-9)
    for _ in range(20):
        some = margins_of(votes, y, 3, rng.random(6))
        assert bounds.soft_margin(some, bottom, weights).value <= value + 1e-9


def test_the_soft_margin_is_the_objective_of_the_line_search():
    rng = np.random.default_rng(0)
    scores, y, weights = rng.random((30, 4)), rng.integers(0, 4, 30), rng.random(30) + 0.1
    gaps = np.array([s[c] - np.delete(s, c).max() for s, c in zip(scores, y, strict=True)])
    g, _ = bottom_margin(
        scores, y, np.full(30, -1), 0, bottom=3.3, scale=2.0, sample_weight=weights
    )
    assert bounds.soft_margin(gaps / 2, 3.3, weights).value == pytest.approx(g, abs=1e-12)


def test_phase_two_comes_near_the_optimum_for_its_hypotheses():
    X, y = problem(150)
    model = quiet(DMCBoostClassifier(max_depth=2, bottom=0.3, n_estimators=80).fit, X, y)
    data = model._data(model._encoder.encode(X), Workers(1))
    votes = [answer.votes(data) for answer in model.estimators_]
    g = bounds.soft_margin(model.margins(X, y), model.bottom_).value
    value, _ = solve_soft_margin(votes, y, 3, model.bottom_, np.ones(len(y)))
    assert value - 0.05 <= g <= value + 1e-9


@pytest.mark.parametrize(("q", "u"), [(0.0, 0.1), (0.3, 0.01), (0.3, 5.0), (1.0, 0.2)])
def test_the_inverse_of_the_divergence(q, u):
    p = inverse_divergence(q, u)
    assert q <= p <= 1
    assert divergence(q, p - 1e-9) <= u or p == q
    assert p == 1 or divergence(q, p + 1e-9) > u


def test_the_bound_holds_and_falls_with_the_margin():
    """One hypothesis of two is drawn at random for each row; the truth is the first."""
    rng = np.random.default_rng(0)
    n = 200_000
    margins = np.where(rng.random(n) < 0.1, -1.0, 1.0)  # an ensemble of one, wrong in a tenth
    found = bounds.bottom_bound(margins, n // 8, n_hypotheses=10, n_classes=3)
    assert 0.1 < found < 0.2
    weaker = [
        bounds.bottom_bound(np.full(n, theta), 1, n_hypotheses=10, n_classes=3)
        for theta in (0.9, 0.5, 0.2, 0.0)
    ]
    assert weaker == sorted(weaker)
    assert weaker[-1] == 1


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"margins": [2.0]}, "margins must be"),
        ({"bottom": 3}, "bottom=3 must be"),
        ({"n_hypotheses": 1}, "n_hypotheses=1 must be"),
        ({"n_classes": 1}, "n_classes=1 must be"),
        ({"delta": 0.0}, "delta=0.0 must be"),
    ],
)
def test_bad_input_is_named(change, complaint):
    good = {"margins": [0.1, 0.2], "bottom": 1, "n_hypotheses": 5, "n_classes": 2}
    with pytest.raises(ValueError, match=complaint):
        bounds.bottom_bound(**{**good, **change})
    with pytest.raises(ValueError, match="bottom=9"):
        bounds.soft_margin([0.1], 9)
