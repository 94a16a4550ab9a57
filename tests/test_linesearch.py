"""The exact line searches: printed numbers, brute force, and what the paper proves of them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from reference import linesearch as twin

from steadyboost.linesearch import bottom_margin, maximize_margin, minimize_error

FEW = st.integers(-6, 6).map(lambda v: v / 4)  # many ties
MANY = st.floats(-3, 3, allow_subnormal=False).map(lambda v: round(v, 6))


@st.composite
def problems(draw, values=MANY, least_classes=2):
    """Scores, labels, votes and weights of a few rows."""
    n, k = draw(st.integers(1, 12)), draw(st.integers(least_classes, 4))
    scores = draw(arrays(float, (n, k), elements=values))
    y = draw(arrays(np.int64, n, elements=st.integers(0, k - 1)))
    votes = draw(arrays(np.int64, n, elements=st.integers(-1, k - 1)))
    weights = draw(arrays(float, n, elements=st.sampled_from([1.0, 1.0, 2.0, 0.5, 3.25])))
    return scores, y, votes, weights


def plain(scores, y, votes, weights):
    return scores.tolist(), y.tolist(), votes.tolist(), weights.tolist()


def test_errors_of_the_printed_example():
    found = minimize_error([[1, 0, 0], [0.5, 1, 0], [0, 0.2, 0.6]], [0, 0, 2], [1, 0, 1])
    np.testing.assert_allclose(found.intervals[:, 1], [0, 0.4, 0.5, 1, np.inf])
    np.testing.assert_allclose(3 * found.errors, [1, 1, 2, 1, 2])
    assert found.step == 0.75


@pytest.mark.parametrize(
    ("bottom", "g", "slope"), [(1, -0.6, -2 / 25), (2, -0.2, None), (3, -1 / 15, -4 / 75)]
)
def test_margins_of_the_printed_example(bottom, g, slope):
    scores, y, votes = [[3, 1, 0], [0, 2, 2], [1, 0, 3]], [0, 1, 0], [1, 1, 2]
    value, derivative = bottom_margin(scores, y, votes, 1, bottom=bottom, scale=4)
    assert value == pytest.approx(g, abs=1e-15)
    if slope is not None:
        assert derivative == pytest.approx(slope, abs=1e-15)


def test_margins_are_not_quasi_concave_across_zero():
    """The counterexample to Theorem 3 as printed."""
    g = [
        bottom_margin([[0, 1, 0]], [0], [2], step, bottom=1, scale=1)[0] for step in (-0.5, 0, 0.5)
    ]
    np.testing.assert_allclose(g, [-2 / 3, -1, -2 / 3])


@settings(deadline=None, max_examples=60)
@given(problem=st.one_of(problems(), problems(FEW)))
def test_errors_agree_with_all_differences(problem):
    scores, y, votes, weights = problem
    scale = float(np.abs(scores).max())
    found = minimize_error(scores, y, votes, weights, scale=scale)
    pieces = twin.merged_by_error(*plain(*problem), scale)
    own = [[a, b, e] for (a, b), e in zip(found.intervals, found.errors, strict=True)]
    for a, b, error in own:
        inside = 0.0 if np.isinf(a) and np.isinf(b) else (max(a, -99.0) + min(b, 99.0)) / 2
        expected = twin.error_at(*plain(*problem), inside)
        assert error * weights.sum() == pytest.approx(expected, abs=1e-9)
    assert min(found.errors) * weights.sum() == pytest.approx(min(p[2] for p in pieces), abs=1e-9)


@settings(deadline=None, max_examples=60)
@given(problem=st.one_of(problems(), problems(FEW)))
def test_the_chosen_step_is_that_of_the_twin(problem):
    scores, y, votes, weights = problem
    scale = float(np.abs(scores).max())
    found = minimize_error(scores, y, votes, weights, scale=scale)
    step, error, _ = twin.minimize_error(*plain(*problem), scale)
    assert found.step == pytest.approx(step, abs=1e-12)
    assert found.error * weights.sum() == pytest.approx(error, abs=1e-9)


@settings(deadline=None, max_examples=60)
@given(problem=problems(FEW), times=arrays(np.int64, 12, elements=st.integers(1, 3)))
def test_weights_are_counts(problem, times):
    scores, y, votes, _ = problem
    times = times[: len(y)]
    weighted = minimize_error(scores, y, votes, times.astype(float))
    repeated = minimize_error(*(np.repeat(a, times, axis=0) for a in (scores, y, votes)))
    np.testing.assert_array_equal(weighted.errors, repeated.errors)
    assert weighted.step == repeated.step


def share_of(weights, share):
    return max(float(share * weights.sum()), float(weights.min()))


@settings(deadline=None, max_examples=60)
@given(problem=problems(), share=st.floats(0.05, 1), step=st.floats(0, 4), extra=st.floats(0.1, 3))
def test_margin_and_slope_agree_with_the_twin(problem, share, step, extra):
    scores, weights = problem[0], problem[3]
    bottom, scale = share_of(weights, share), float(np.abs(scores).max()) + extra
    found = bottom_margin(*problem[:3], step, bottom=bottom, scale=scale, sample_weight=weights)
    expected = twin.bottom_margin(*plain(*problem), step, bottom, scale)
    assert found[0] == pytest.approx(expected[0], abs=1e-10)
    assert found[1] == pytest.approx(expected[1], abs=1e-7)


@settings(deadline=None, max_examples=60)
@given(
    problem=problems(), share=st.floats(0.05, 1), step=st.floats(0.01, 4), negative=st.booleans()
)
def test_slope_agrees_with_differences(problem, share, step, negative):
    scores, y, votes, weights = problem
    bottom, scale = share_of(weights, share), float(np.abs(scores).max()) + 1
    h = 1e-7

    def g(at):
        at = -at if negative else at
        return bottom_margin(
            scores, y, votes, at, bottom=bottom, scale=scale, sample_weight=weights
        )

    slope = (g(step + h)[0] - g(step)[0]) / h * (-1 if negative else 1)
    beside = sorted([g(step)[1], g(step + h)[1]])
    assert beside[0] - 1e-5 <= slope <= beside[1] + 1e-5


@settings(deadline=None, max_examples=60)
@given(problem=problems(), share=st.floats(0.05, 1), negative=st.booleans())
def test_margins_are_quasi_concave_on_a_half_line(problem, share, negative):
    """Theorem 3 where it holds: the search finds what a fine grid finds."""
    scores, y, votes, weights = problem
    options = {"bottom": share_of(weights, share), "scale": float(np.abs(scores).max()) + 1}
    options["sample_weight"] = weights
    found = maximize_margin(scores, y, votes, negative=negative, tol=1e-9, **options)
    grid = np.linspace(0, -options["scale"] if negative else options["scale"], 401)
    values = np.array([bottom_margin(scores, y, votes, step, **options)[0] for step in grid])
    assert found.margin >= values.max() - 1e-7
    top = values.argmax()
    assert (np.diff(values[: top + 1]) >= -1e-12).all()
    assert (np.diff(values[top:]) <= 1e-12).all()


@settings(deadline=None, max_examples=60)
@given(problem=problems(), share=st.floats(0.05, 1))
def test_bisection_agrees_with_the_twin(problem, share):
    scores, y, votes, weights = problem
    bottom, scale = share_of(weights, share), float(np.abs(scores).max()) + 1
    found = maximize_margin(
        scores, y, votes, bottom=bottom, scale=scale, sample_weight=weights, tol=1e-4
    )
    begin, end = twin.maximize_margin(*plain(*problem), bottom, scale, 1e-4)
    at_begin = twin.bottom_margin(*plain(*problem), begin, bottom, scale)[0]
    # Where the slope is zero but for rounding, either side of it is as good.
    assert found.bracket == pytest.approx((begin, end), abs=1e-12) or (
        found.margin == pytest.approx(at_begin, abs=1e-9)
    )


@pytest.mark.parametrize("seed", range(5))
def test_many_rows_settle_without_a_trace(seed):
    """Rows drop out of the bisection; the result is that of all rows."""
    rng = np.random.default_rng(seed)
    scores, y = rng.random((3000, 5)), rng.integers(0, 5, 3000)
    votes, weights = rng.integers(-1, 5, 3000), rng.integers(1, 4, 3000).astype(float)
    votes = np.where(rng.random(3000) < 0.4, y, votes)
    options = {"bottom": 900.0, "scale": 3.0, "sample_weight": weights}
    found = maximize_margin(scores, y, votes, tol=1e-6, **options)
    slopes = [bottom_margin(scores, y, votes, q, **options)[1] for q in found.bracket]
    assert slopes[0] > 0 >= slopes[1]
    assert found.margin == pytest.approx(
        bottom_margin(scores, y, votes, found.step, **options)[0], abs=1e-12
    )


@settings(deadline=None, max_examples=60)
@given(problem=problems(), factor=st.sampled_from([0.25, 4.0]), share=st.floats(0.05, 1))
def test_scaling_all_steps_changes_nothing(problem, factor, share):
    scores, y, votes, weights = problem
    scale, bottom = float(np.abs(scores).max()) + 1, share_of(weights, share)
    one = minimize_error(scores, y, votes, weights)
    other = minimize_error(factor * scores, y, votes, weights)
    assert one.error == other.error
    g = bottom_margin(scores, y, votes, 0.5, bottom=bottom, scale=scale, sample_weight=weights)[0]
    scaled = bottom_margin(
        factor * scores, y, votes, factor / 2, bottom=bottom, scale=factor * scale,
        sample_weight=weights,
    )[0]  # fmt: skip
    assert scaled == pytest.approx(g, abs=1e-12)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"scores": [[1.0, np.nan]]}, "scores has infinite"),
        ({"scores": [1.0, 2.0]}, "scores has shape"),
        ({"y": [2]}, "y must have a class index from 0 to 1"),
        ({"votes": [-2]}, "votes must have a class index from -1 to 1"),
        ({"sample_weight": [0.0]}, "sample_weight must have a positive weight"),
        ({"bottom": 2.0}, "bottom=2.0 must be above 0 and at most"),
        ({"scale": 0.0}, "scale=0.0 must be"),
        ({"tol": 0.0}, "tol=0.0 must be"),
    ],
)
def test_bad_input_is_named(change, complaint):
    good = {"scores": [[1.0, 0.0]], "y": [0], "votes": [1], "bottom": 1.0, "scale": 1.0}
    with pytest.raises(ValueError, match=complaint):
        maximize_margin(**{**good, **change})


def test_a_bracket_finer_than_the_numbers_themselves_is_not_sought():
    scores, y = np.array([[3e11, 0.0], [0.0, 2e11], [1e11, 0.0]]), np.array([0, 1, 0])
    found = maximize_margin(scores, y, y, bottom=2, scale=3e11, tol=1e-9)  # right in every row
    begin, end = found.bracket
    assert 0 < end - begin < 1e-10 * end
    assert end == 3e11
