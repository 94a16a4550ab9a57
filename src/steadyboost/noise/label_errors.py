"""How likely each given label is wrong, from out-of-sample probabilities of the classes.

A model of given labels with two assumptions:

1. *A classifier is right where it is most confident.* Rows are ranked by the margin between their
   two most probable classes, u = 0 for the smallest and 1 for the largest margin. The most probable
   class is not the true one with probability b(u) = b_0 exp(-decay u): a coin toss at least where
   the margin is 0, and hardly ever where it is largest. Ranks, not probabilities: a classifier that
   was trained on wrong labels is less sure than it should be, or surer, but its order holds.
2. *Labels are wrong in two ways.* A label of true class j is replaced, at a rate that hardly
   depends on the row, by a class from row j of a matrix (labels drawn anew, pairs of classes mixed
   up, careless annotators). Or it is taken for a class that the row resembles, more often where
   the margin is small, with log-odds level + slope (1 - u) (labels that people find hard).

What confident rows disagree with is therefore wrong, and how the disagreement grows towards unsure
rows is shared between errors of the classifier, which grow fast, and wrong labels. The parameters
are those of the largest posterior density: the priors below decide where few rows, or rows without
any confident ones, do not. If a classifier is often wrong even where it is most confident, because
the columns do not determine the class, its errors count as wrong labels: no method that sees only
probabilities and labels can tell the two apart.

Verified rows can: there it is known whether the most probable class is the true one. They move the
log-odds of b, and their slope, as far as their number is evidence against the curve; the other
parameters are then fitted again, with b as it is. Where it is known what verified rows were given
as, they are counted like all others, so that those which were checked because they look wrong leave
no gap.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize, minimize_scalar
from scipy.special import expit, logit, softmax
from sklearn.isotonic import isotonic_regression

from steadyboost.ensemble.verified import Checked
from steadyboost.noise.noise_model import BELIEFS, MOST_ROWS, concentration, some_rows


class Prior(NamedTuple):
    """A normal distribution of a parameter, and the range that it is searched in."""

    mean: float
    deviation: float
    low: float
    high: float


# Chosen on thirteen tables with generated noise of all kinds and on eight files of networks'
# probabilities (benchmarks/audit.py); means of ``level`` from -4.2 to -4.5 change little.
PRIORS = (
    Prior(-3.2, 1.0, -10, 4),  # flat: log-odds of a replaced label of the row of largest margin
    Prior(0.0, 0.8, 0, 4),  # rise of those log-odds towards the smallest margin
    Prior(-4.5, 0.4, -10, 2),  # level: log-odds of a mix-up of the row of largest margin
    Prior(2.5, 1.0, 0, 4),  # slope of those log-odds towards the smallest margin
    Prior(-2.0, 1.0, -6, 6),  # tie: log-odds of b_0 between 1/2 and that of a guess
    Prior(np.log(4.7), 0.65, np.log(1.9), np.log(60)),  # logarithm of the decay of b
)
MEANS, DEVIATIONS, LOWS, HIGHS = (np.array(column) for column in zip(*PRIORS, strict=True))
# Where probabilities tell more, means are theirs: see ``prior_means``.
PRIOR_WEIGHT = 5.0  # how often the priors count: the curves are not exact, so doubt does not vanish
STARTS = ((-6.0, -6.0), (-1.5, -5.0), (-5.0, -2.0))  # flat, level: clean, drawn anew, mix-ups
MATRIX_ROWS = 10.0  # wrong labels' worth of belief, per class, in any other class alike
RATE_ROWS = 3.0  # the same in the same rate for all classes
# Of the log-odds of b, and of their slope, as verified rows tell them. By leave-one-set-out on the
# same tables anything from 0.5 to 1 does; the curve b is off by about so much.
SHIFT_DEVIATION = 0.7
NO_SHIFT = (0.0, 0.0)
LARGEST_OFFSET = 2.0  # of a class's log-odds from the common rate
ROUNDS = 5  # of parameters and matrix in turn; nothing moves after four
MOST_CELLS = 500_000  # of the table of rows and classes that parameters are fitted to
SMALLEST = 1e-6  # probability: a row whose margin is infinite has rank 1 all the same
TIE = 1e-3  # of the least probability: by which rows of the same one still differ
SURE = 0.5  # rank above which labels show where wrong ones go
MODEL_SHARE = 0.5  # of the model's log-odds in the order of suspects, at the most


class Rows(NamedTuple):
    """What the model looks at: labels, and probabilities by rank and direction."""

    y: np.ndarray
    top: np.ndarray  # the most probable class
    rank: np.ndarray  # of the margin, in [0, 1]
    others: np.ndarray  # (n, k): probabilities of the other classes, if it is not ``top``
    confused: np.ndarray  # (n, k): that a row of each class is taken for ``y``, if mixed up
    weights: np.ndarray

    @property
    def n_classes(self) -> int:
        return self.others.shape[1]

    @property
    def at(self) -> np.ndarray:
        return np.arange(len(self.y))

    def take(self, which: np.ndarray) -> "Rows":
        """Some of the rows."""
        return Rows(*(column[which] for column in self))


def margins_of(proba: np.ndarray) -> np.ndarray:
    """Log-odds of the most probable class against the next."""
    two = np.partition(proba, -2, axis=1)[:, -2:]
    return np.log(np.maximum(two[:, 1], SMALLEST)) - np.log(np.maximum(two[:, 0], SMALLEST))


def ranks_among(margins: np.ndarray, reference: np.ndarray) -> np.ndarray:
    """Share of the sorted reference below each margin; ties count half."""
    low, high = (np.searchsorted(reference, margins, side) for side in ("left", "right"))
    return (low + high) / (2 * len(reference))


def observe(
    proba: np.ndarray,
    y: np.ndarray,
    weights: np.ndarray,
    reference: np.ndarray,
) -> Rows:
    """Rows as the model sees them; ``reference`` are sorted margins to rank by."""
    index = np.arange(len(y))
    clipped = np.maximum(proba, SMALLEST)
    top = clipped.argmax(axis=1)
    others = clipped.copy()
    others[index, top] = 0
    others /= others.sum(axis=1, keepdims=True)
    confused = np.minimum(clipped[index, y][:, None] / np.maximum(1 - clipped, SMALLEST), 1)
    confused[index, y] = 0
    rank = ranks_among(margins_of(clipped), reference)
    return Rows(y, top, rank, others, confused, weights)


def shift_at(rank: np.ndarray, shift: Sequence[float] | np.ndarray) -> np.ndarray:
    """The shift of the log-odds of b by rank."""
    return shift[0] + shift[1] * (2 * rank - 1)


def shifted(share: np.ndarray, shift: np.ndarray) -> np.ndarray:
    """Shares whose log-odds are moved; the same shares where ``shift`` is 0."""
    factor = np.exp(shift)
    return share * factor / (1 + share * (factor - 1))


@dataclass
class LabelErrorModel:
    """Parameters of the model, in the order of ``PRIORS``, and where labels of a class go."""

    parameters: np.ndarray
    offsets: np.ndarray  # (k,): of the log-odds of each class's flat rate
    matrix: np.ndarray  # (k, k): classes that replace a label of each class; diagonal 0
    reference: np.ndarray  # sorted margins
    shift: Sequence[float] = (
        NO_SHIFT  # of the log-odds of b, and its slope: what verified rows tell
    )

    @property
    def most(self) -> float:
        """The largest rate: that of guesses."""
        k = len(self.matrix)
        return (k - 1) / k

    def flat_rates(self, rank: np.ndarray) -> np.ndarray:
        """(n, k): that a label of each true class is replaced."""
        flat, rise = self.parameters[:2]
        return self.most * expit((flat + rise * (1 - rank))[:, None] + self.offsets)

    def mix_up_rates(self, rank: np.ndarray) -> np.ndarray:
        return self.most * expit(self.parameters[2] + self.parameters[3] * (1 - rank))

    def classifier_errors(self, rank: np.ndarray) -> np.ndarray:
        """b(u), the probability that the most probable class is not the true one."""
        tie, log_decay = self.parameters[4:]
        at_tie = 0.5 + (self.most - 0.5) * expit(tie)
        return shifted(at_tie * np.exp(-np.exp(log_decay) * rank), shift_at(rank, self.shift))

    def true_proba(self, rows: Rows) -> np.ndarray:
        """(n, k): the distribution of the true class by the features alone."""
        error = self.classifier_errors(rows.rank)
        proba = error[:, None] * rows.others
        proba[rows.at, rows.top] = 1 - error
        return proba

    def joint(self, rows: Rows) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Densities of the given labels: kept (n,); replaced and mixed up, by true class (n, k)."""
        truth, mixed = self.true_proba(rows), self.mix_up_rates(rows.rank)
        flat = self.flat_rates(rows.rank)
        kept = truth[rows.at, rows.y] * (1 - flat[rows.at, rows.y]) * (1 - mixed)
        replaced = truth * flat * self.matrix[:, rows.y].T
        confused = truth * ((1 - flat) * mixed[:, None]) * rows.confused
        return kept, replaced, confused

    def posterior(self, rows: Rows) -> np.ndarray:
        """(n, k): the distribution of the true class by the features and the given label."""
        kept, replaced, confused = self.joint(rows)
        density = replaced + confused
        density[rows.at, rows.y] += kept
        return density / density.sum(axis=1, keepdims=True)


def objective(
    parameters: np.ndarray,
    rows: Rows,
    offsets: np.ndarray,
    replaced_by: np.ndarray,
    means: np.ndarray = MEANS,
    shift: Sequence[float] = NO_SHIFT,
) -> tuple[float, np.ndarray]:
    """Minus the logarithm of the posterior density, up to a constant, and its gradient.

    ``replaced_by`` (n, k) is the probability that a replaced label of each class is the given one,
    ``means`` are those of the priors.
    """
    flat, rise, level, slope, tie, log_decay = parameters
    index, y, top, most = rows.at, rows.y, rows.top, 1 - 1 / rows.n_classes
    decay, share = np.exp(log_decay), expit(tie)
    at_tie = 0.5 + (most - 0.5) * share
    unshifted = at_tie * np.exp(-decay * rows.rank)
    error = shifted(unshifted, shift_at(rows.rank, shift))
    rate = most * expit((flat + rise * (1 - rows.rank))[:, None] + offsets)
    mixed = most * expit(level + slope * (1 - rows.rank))
    # Density of the given label for each true class
    given = replaced_by * rate + rows.confused * ((1 - rate) * mixed[:, None])
    given[index, y] += (1 - rate[index, y]) * (1 - mixed)
    by_error = np.einsum("nk,nk->n", rows.others, given) - given[index, top]
    density = np.maximum(given[index, top] + error * by_error, 1e-300)
    truth = error[:, None] * rows.others
    truth[index, top] = 1 - error
    own = truth[index, y]
    rate_slope, mixed_slope = rate * (1 - rate / most), mixed * (1 - mixed / most)
    by_flat = np.einsum(
        "nk,nk->n", truth * rate_slope, replaced_by - rows.confused * mixed[:, None]
    )
    by_flat -= own * rate_slope[index, y] * (1 - mixed)
    by_mixed = np.einsum("nk,nk->n", truth * (1 - rate), rows.confused) - own * (1 - rate[index, y])
    pull = rows.weights / density
    pull_mixed = pull * by_mixed * mixed_slope
    # The slope of a shifted share, times the share
    error_slope = error * (1 - error) / (1 - unshifted)
    pull_error = pull * by_error * error_slope
    gradient = -np.array(
        [
            pull @ by_flat,
            (pull * by_flat) @ (1 - rows.rank),
            pull_mixed.sum(),
            pull_mixed @ (1 - rows.rank),
            pull_error.sum() * (most - 0.5) * share * (1 - share) / at_tie,
            -(pull_error @ rows.rank) * decay,
        ]
    )
    off = (parameters - means) / DEVIATIONS
    loss = -(rows.weights @ np.log(density)) + PRIOR_WEIGHT * (off @ off) / 2
    return float(loss), gradient + PRIOR_WEIGHT * off / DEVIATIONS


def own_decay(proba: np.ndarray, rank: np.ndarray) -> float:
    """The logarithm of the decay of b that fits what the classifier says of its own errors."""
    k, said = proba.shape[1], 1 - proba.max(axis=1)
    at_tie = 0.5 + (0.5 - 1 / k) * expit(MEANS[4])

    def gap(log_decay: float) -> float:
        off = at_tie * np.exp(-np.exp(log_decay) * rank) - said
        return float(off @ off)

    return float(minimize_scalar(gap, bounds=(LOWS[-1], HIGHS[-1]), method="bounded").x)


def prior_means(proba: np.ndarray, rank: np.ndarray, drawn_anew: float) -> np.ndarray:
    """Means of the priors: a classifier's own errors, and a share of labels drawn anew, if known.

    The share that the likelihood of the given labels finds is exact where labels are indeed drawn
    anew, and too small otherwise: it raises the prior, but never lowers it.
    """
    means = MEANS.copy()
    means[0] = max(means[0], logit(min(max(drawn_anew, 1e-9), 0.99)))
    means[-1] = own_decay(proba, rank)
    return means


def fit_label_errors(
    proba: np.ndarray,
    y: np.ndarray,
    weights: np.ndarray | None = None,
    drawn_anew: float = 0.0,
    checked: Checked | None = None,
) -> LabelErrorModel:
    """The most probable parameters, given out-of-sample probabilities (n, k) and labels."""
    n, k = proba.shape
    weights = np.ones(n) if weights is None else weights / weights.mean()
    checked = Checked.of(y, None, None) if checked is None else checked
    some = some_rows(n, min(MOST_ROWS, max(MOST_CELLS // k, 1000)))
    some = np.union1d(some, np.flatnonzero(checked.verified))
    reference = np.sort(margins_of(proba[some]))
    rows = observe(proba[some], checked.given[some], weights[some], reference)
    means = prior_means(proba[some], rows.rank, drawn_anew)
    anyone = (1 - np.eye(k)) / (k - 1)
    model = LabelErrorModel(means.copy(), np.zeros(k), anyone, reference)
    judged = rows.take(np.flatnonzero(checked.is_known[some]))
    if not len(judged.y):
        return model
    starts = [np.array([flat, 0.0, level, *means[3:]]) for flat, level in STARTS]
    bounds = list(zip(LOWS, HIGHS, strict=True))
    _climb(model, judged, starts, means, bounds)
    right = np.flatnonzero(checked.verified[some])
    if len(right):
        model.shift = verified_shift(model, rows.take(right), y[some][right])
        b_stays = [*bounds[:4], *((own, own) for own in model.parameters[4:])]
        _climb(model, judged, [model.parameters], means, b_stays)
    return model


def verified_shift(model: LabelErrorModel, rows: Rows, true: np.ndarray) -> tuple[float, ...]:
    """The likeliest shift of b, by how often the most probable class of verified rows is wrong.

    Where the given label is known, it counts as well: rows may have been checked because of it.
    As odds of b are a factor of the odds after the label was seen, these move by the same shift.
    """
    error = model.classifier_errors(rows.rank)
    known = np.flatnonzero(rows.y >= 0)
    error[known] = 1 - model.posterior(rows.take(known))[np.arange(len(known)), rows.top[known]]
    error, wrong = np.clip(error, SMALLEST, 1 - SMALLEST), rows.top != true

    def loss(shift: np.ndarray) -> tuple[float, np.ndarray]:
        own = shifted(error, shift_at(rows.rank, shift))
        off = rows.weights * (own - wrong)
        held = shift / SHIFT_DEVIATION**2
        fit = rows.weights @ np.log(np.where(wrong, own, 1 - own))
        slope = np.array([off.sum(), off @ (2 * rows.rank - 1)])
        return float(held @ shift / 2 - fit), held + slope

    return tuple(minimize(loss, NO_SHIFT, jac=True, method="BFGS").x.tolist())


def _climb(
    model: LabelErrorModel,
    rows: Rows,
    starts: list[np.ndarray],
    means: np.ndarray,
    bounds: list[tuple[float, float]],
) -> None:
    """Parameters of the largest posterior density, and the matrix, in turn."""
    k = rows.n_classes
    anyone = (1 - np.eye(k)) / (k - 1)
    for _ in range(ROUNDS):
        known = rows, model.offsets, model.matrix[:, rows.y].T, means, model.shift
        tries = [
            minimize(objective, start, known, jac=True, method="L-BFGS-B", bounds=bounds)
            for start in starts
        ]
        model.parameters = min(tries, key=lambda found: found.fun).x
        starts = [model.parameters]
        _update_classes(model, rows, anyone)


def _update_classes(model: LabelErrorModel, rows: Rows, anyone: np.ndarray) -> None:
    """Expected counts of replaced labels: where they went, and how often by class."""
    kept, replaced, confused = model.joint(rows)
    share = rows.weights / (kept + replaced.sum(axis=1) + confused.sum(axis=1))
    replaced *= share[:, None]
    counts = MATRIX_ROWS * anyone
    np.add.at(counts.T, rows.y, replaced)
    model.matrix = counts / counts.sum(axis=1, keepdims=True)
    of_class = replaced + confused * share[:, None]
    of_class[rows.at, rows.y] += kept * share
    mass = of_class.sum(axis=0)
    expected = (of_class * model.flat_rates(rows.rank)).sum(axis=0)
    offsets = model.offsets + np.log((replaced.sum(axis=0) + RATE_ROWS) / (expected + RATE_ROWS))
    offsets -= np.average(offsets, weights=mass)
    model.offsets = np.clip(offsets, -LARGEST_OFFSET, LARGEST_OFFSET)


def wrong_proba(model: LabelErrorModel, rows: Rows, proba: np.ndarray) -> np.ndarray:
    """Calibrated probability that each given label is wrong: the model's, in a robust order.

    The model's probabilities, made monotone in that order, keep their sum.
    """
    kept, replaced, confused = model.joint(rows)
    wrong = replaced.sum(axis=1) + confused.sum(axis=1)
    total = wrong + kept
    wrong /= total
    surely = replaced / total[:, None] * (rows.weights * (rows.rank >= SURE))[:, None]
    counts = np.zeros((rows.n_classes, rows.n_classes))
    np.add.at(counts.T, rows.y, surely)
    by_order = np.argsort(suspicion(proba, rows.y, counts, wrong), kind="stable")
    fitted = np.empty(len(wrong))
    fitted[by_order] = isotonic_regression(
        wrong[by_order], sample_weight=rows.weights[by_order], y_min=0, y_max=1
    )
    # Equal probabilities in the order that they came from, so that a list has an order.
    place = np.empty(len(wrong))
    n = len(wrong)
    place[by_order] = np.arange(n) / n
    least = 1 / (2 * n + 4)  # no probability is known better than so many rows can tell
    return np.clip(fitted, least, 1 - least) + TIE * least * (place - 0.5)


def suspicion(
    proba: np.ndarray, y: np.ndarray, counts: np.ndarray, wrong: np.ndarray
) -> np.ndarray:
    """What rows are ordered by: log-odds that another class was given as this one.

    Where labels of sure rows went (``counts``) decides how much it matters which other class is
    likely: if they went anywhere, nothing but the probability of the given label counts, which is
    then the better order; if they went to few classes, the model's log-odds help as well.
    """
    k, index = proba.shape[1], np.arange(len(y))
    anyone = (1 - np.eye(k)) / (k - 1)
    belief = concentration(counts, anyone) if k > 2 else BELIEFS[-1]  # two go to the other
    matrix = counts + belief * anyone
    matrix /= matrix.sum(axis=1, keepdims=True)
    clipped = np.maximum(proba, SMALLEST)
    came = clipped * matrix[:, y].T
    came[index, y] = 0
    informed = MODEL_SHARE * BELIEFS[1] / (BELIEFS[1] + belief)
    odds = logit(np.clip(wrong, 1e-12, 1 - 1e-12))
    return np.log(came.sum(axis=1)) - np.log(clipped[index, y]) + informed * odds


# The interval of the rate: what counts as wrong may be errors of the classifier, up to two thirds
# of it (but a quarter of what the likelihood says was drawn anew), and most of the other
# disagreements may be wrong labels. The truth is inside in nine of ten cases of the benchmark whose
# errors the features do not explain.
LEAST_SHARE, SURE_SHARE, MOST_OTHERS, MARGIN = 1 / 3, 0.75, 0.75, 0.1
BLUR = 0.005  # a rate that no data tells from zero
Z = 1.645  # of a normal distribution: 90 % two-sided


class Rate(NamedTuple):
    """An estimated share of wrong labels, with a 90 % interval."""

    rate: float
    low: float
    high: float

    @classmethod
    def of(
        cls,
        wrong: np.ndarray,
        disagrees: np.ndarray,
        weights: np.ndarray,
        sure: float = LEAST_SHARE,
    ) -> "Rate":
        """From the probabilities of being wrong of some rows; none: nothing is known.

        ``sure`` is the share of the rate that is no error of the classifier.
        """
        if len(wrong) == 0 or weights.sum() == 0:
            return cls(0.0, 0.0, 1.0)
        rate = float(np.average(wrong, weights=weights))
        others = max(float(np.average(disagrees, weights=weights)) - rate, 0.0)
        n = weights.sum() ** 2 / (weights @ weights)  # rows' worth of information
        error = Z * np.sqrt(max(rate * (1 - rate), 1 / n) / n)
        low = sure * rate - error - BLUR
        high = (1 + MARGIN) * rate + MOST_OTHERS * others + error
        return cls(rate, max(float(low), 0.0), min(float(high), 1.0))


class LabelErrors(NamedTuple):
    """What out-of-sample probabilities tell of given labels."""

    wrong: np.ndarray  # (n,): calibrated probability that the label is wrong
    other: np.ndarray  # (n,): the most probable class that is not the given one
    rate: Rate
    class_rates: list[Rate]  # by given class
    transition: np.ndarray  # (k, k): estimated probability that a true class is given as each


def without_weights(proba: np.ndarray, y: np.ndarray, by_row: np.ndarray) -> np.ndarray:
    """What probabilities of a model with weights of classes, given row by row, would be without.

    Class weights change the model, not the labels: counts must not depend on them.
    """
    of_class = np.ones(proba.shape[1])
    of_class[y] = by_row
    plain = proba / of_class
    return plain / plain.sum(axis=1, keepdims=True)


def is_flagged(wrong: np.ndarray, flag: Any = "auto", precision: float | None = None) -> np.ndarray:
    """Mask of the rows to list.

    Those more likely wrong than right; or the most suspicious ones: a number or a share of the
    rows, or as many as the expected ``precision`` allows.
    """
    order = np.argsort(-wrong, kind="stable")
    if precision is not None:
        expected = np.cumsum(wrong[order]) / np.arange(1, len(order) + 1)
        n_listed = int((expected >= precision).sum())  # the mean of a falling sequence falls
    elif isinstance(flag, str):
        n_listed = int((wrong > 0.5).sum())
    elif isinstance(flag, Integral):
        n_listed = min(int(flag), len(order))
    else:
        n_listed = round(float(flag) * len(order))
    mask = np.zeros(len(order), dtype=bool)
    mask[order[:n_listed]] = True
    return mask


class View(NamedTuple):
    """What one distribution of true classes says of given labels."""

    log_likelihood: float
    wrong: np.ndarray  # (n,)
    posterior: np.ndarray  # (n, k)
    disagrees: np.ndarray  # (n,)


def judge_labels(
    proba: np.ndarray,
    y: np.ndarray,
    weights: np.ndarray | None = None,
    order_by: np.ndarray | None = None,
    drawn_anew: float = 0.0,
    pooled: np.ndarray | None = None,
    checked: Checked | None = None,
) -> LabelErrors:
    """Judge labels by out-of-sample probabilities (n, k); all weights are positive.

    Labels of verified rows are right: they show how often the classifier is wrong, and so how many
    of the other rows that it disagrees with have a wrong label.
    Rows are ordered by ``order_by``, the probabilities before a noise model changed them, if given.
    ``drawn_anew`` is the rate that the noise model found, and ``pooled`` the probabilities from
    which it has not taken out a matrix: what follows from each counts by how likely it makes the
    given labels.
    """
    k = proba.shape[1]
    mass = np.ones(len(y)) if weights is None else weights / weights.mean()
    if k == 1:
        nothing = np.zeros(len(y))
        rate = Rate.of(nothing, nothing, mass)
        return LabelErrors(nothing, np.zeros(len(y), dtype=int), rate, [rate], np.ones((1, 1)))
    both = [proba] if pooled is None or np.array_equal(proba, pooled) else [proba, pooled]
    checked = Checked.of(y, None, None) if checked is None else checked
    views = [view_of(own, y, mass, order_by, drawn_anew, checked) for own in both]
    shares = softmax([view.log_likelihood for view in views])
    wrong, posterior, disagrees = (
        sum(share * values for share, values in zip(shares, parts, strict=True))
        for parts in list(zip(*views, strict=True))[1:]
    )
    posterior[checked.verified] = np.eye(k)[y[checked.verified]]
    counts, known = np.eye(k) * SMALLEST, checked.is_known
    np.add.at(counts.T, checked.given[known], posterior[known] * mass[known, None])
    posterior[np.arange(len(y)), y] = -1
    drawn = drawn_anew * (1 - 1 / k) / max(float(np.average(wrong, weights=mass)), SMALLEST)
    sure = max(LEAST_SHARE, SURE_SHARE * min(drawn, 1.0))
    of_class = [y == j for j in range(k)]
    return LabelErrors(
        wrong,
        posterior.argmax(axis=1),
        Rate.of(wrong, disagrees, mass, sure),
        [Rate.of(wrong[own], disagrees[own], mass[own], sure) for own in of_class],
        counts / counts.sum(axis=1, keepdims=True),
    )


def view_of(
    proba: np.ndarray,
    y: np.ndarray,
    mass: np.ndarray,
    order_by: np.ndarray | None,
    drawn_anew: float,
    checked: Checked,
) -> View:
    """The model fitted to one distribution of true classes."""
    model = fit_label_errors(proba, y, mass, drawn_anew, checked)
    rows = observe(proba, checked.given, mass, model.reference)
    doubted, wrong = np.flatnonzero(~checked.verified), np.zeros(len(y))
    order_by = proba if order_by is None else order_by
    if len(doubted):
        wrong[doubted] = wrong_proba(model, rows.take(doubted), order_by[doubted])
    kept, replaced, confused = model.joint(rows)
    density = kept + replaced.sum(axis=1) + confused.sum(axis=1)
    known = checked.is_known
    likelihood = float(mass[known] @ np.log(np.maximum(density[known], 1e-300)))
    disagrees = (rows.top != y) & ~checked.verified
    return View(likelihood, wrong, model.posterior(rows), disagrees.astype(float))
