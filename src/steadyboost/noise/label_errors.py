"""How likely each given label is wrong, from out-of-sample probabilities of the classes.

Labels are wrong in two ways.

1. *Replaced, whatever the row is like*: drawn anew, pairs of classes mixed up, careless people. The
   noise model has found q, the distribution of the true class by the features, and T, how often a
   true class is given as each. A label l is a replaced one with probability 1 - q_l T_ll / (q T)_l.
2. *More often where the row is hard*. Rows are ranked by the margin between their two most probable
   classes, from u = 0 (smallest) to u = 1. At u, the most probable class is not the true one with
   probability b(u), an error of the classifier, and a label that was not replaced is mixed up with
   probability h(u). All that can be seen is how often the two disagree, b + h - 2 b h.

How much of the disagreement is b and how much is h cannot be told from a single u, but from how it
falls with u, given what such curves look like. Where the columns determine the class, errors of a
classifier are gone long before the largest margin, while mix-ups, which fall more slowly, still
stand out there. Where the columns do not determine the class, a classifier is wrong even where it
is most confident, and nothing can be said of mix-ups. There are four hypotheses:

======================  =======================  ===========================================
columns                 b(u)                     h(u)
======================  =======================  ===========================================
determine the class     falls by DETERMINED      mix-ups are few, FEW
determine the class     falls by DETERMINED      hard rows are mixed up, HARD
determine the class     falls by DETERMINED      mix-ups are nearly as frequent for all, FLAT
do not                  falls by UNDETERMINED    none that could be told from errors
======================  =======================  ===========================================

Each is a set of curves; a curve counts by how likely it makes the disagreements. The probability
that a label is wrong, the number of wrong labels and its interval are all of this distribution.

Verified rows tell the two apart: there it is known who is wrong. Where it is known what they were
given as, they are counted like all others besides, so that those which were checked because they
look wrong leave no gap.
"""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import product
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit, logit, softmax
from sklearn.isotonic import isotonic_regression

from steadyboost.ensemble.verified import Checked
from steadyboost.noise.noise_model import TINY, Reading, log_evidence

BINS = 25  # of ranks, in which disagreements are counted
RANKS = (np.arange(BINS) + 0.5) / BINS
# Chosen on thirteen tables with generated noise of all kinds and on eight files of networks'
# probabilities (benchmarks/audit.py). Rates are shares of those of a guess, (k - 1) / k.
AT_TIE = (0.5, 0.7, 0.9)  # b(0) where the columns determine the class; b falls by exp(-decay u)
DETERMINED = (5.5, 7.0, 9.0, 14.0, 25.0)  # decays
AT_UNDETERMINED_TIE = (0.6, 0.8, 1.0)
UNDETERMINED = (0.5, 0.8, 1.1, 1.4, 1.8)
# h(u): log-odds of the row of largest margin, and how much they rise to the smallest margin.
FEW = ((-5.5,), (3.0, 4.0))
HARD = ((-3.6, -3.0, -2.4), (3.0, 4.0))
FLAT = ((-3.0, -2.0, -1.0, 0.0, 1.0), (0.0, 1.0))
DOUBT = 0.4  # that the columns determine the class; the other hypotheses are equally likely
SPREAD = 3  # decays are slower among labels that are replaced at a rate: by (1 - rate) ** SPREAD
# The curves are not exact, so that doubt does not vanish with more rows.
CURVE_ROWS = 150.0  # rows' worth of evidence of the disagreements, at the most
LEARNT = 4.0  # log-odds that a classifier has learnt more than the shares of the classes
NEVER = 1e-4  # of h where there is none
SMALLEST = 1e-6  # probability: a row whose margin is infinite has rank 1 all the same
TIE = 1e-3  # of the least probability: by which rows of the same one still differ
Z, BLUR = 1.645, 0.005  # 90 % of a normal distribution; a rate that no data tells from zero


class Curves(NamedTuple):
    """Curves of b and h at ``RANKS``, one in a line, with the logarithms of their prior."""

    errors: np.ndarray  # (curves, BINS): b
    mix_ups: np.ndarray  # (curves, BINS): h
    log_prior: np.ndarray  # (curves,)
    determined: np.ndarray  # (curves,): whether the columns determine the class

    @property
    def disagreement(self) -> np.ndarray:
        """(curves, BINS): that a label is not the most probable class."""
        return self.errors + self.mix_ups - 2 * self.errors * self.mix_ups

    @property
    def wrong_if_disagrees(self) -> np.ndarray:
        return (1 - self.errors) * self.mix_ups / self.disagreement

    @property
    def wrong_if_agrees(self) -> np.ndarray:
        """The classifier and the label name the same wrong class."""
        return self.errors * self.mix_ups / (1 - self.disagreement)


def curves_of(n_classes: int, replaced: float) -> Curves:
    """The curves of all hypotheses, where a share of the labels is replaced."""
    most = 1 - 1 / n_classes
    slower = (1 - replaced) ** SPREAD
    determined = [
        most * tie * np.exp(-decay * slower * RANKS) for tie, decay in product(AT_TIE, DETERMINED)
    ]
    undetermined = [
        most * tie * np.exp(-decay * RANKS)
        for tie, decay in product(AT_UNDETERMINED_TIE, UNDETERMINED)
    ]
    mix_ups = [
        [most * expit(level + rise * (1 - RANKS)) for level, rise in product(*form)]
        for form in (FEW, HARD, FLAT)
    ]
    pairs = [(determined, form, (1 - DOUBT) / len(mix_ups), True) for form in mix_ups]
    pairs.append((undetermined, [np.full(BINS, NEVER)], DOUBT, False))
    parts = []
    for errors, forms, chance, is_determined in pairs:
        n_curves = len(errors) * len(forms)
        b = np.repeat(errors, len(forms), axis=0).clip(NEVER)
        h = np.tile(forms, (len(errors), 1))
        log_prior = np.full(n_curves, np.log(chance / n_curves))
        parts.append(Curves(b, h, log_prior, np.full(n_curves, is_determined)))
    return Curves(*map(np.concatenate, zip(*parts, strict=True)))


def margins_of(proba: np.ndarray) -> np.ndarray:
    """Log-odds of the most probable class against the next."""
    two = np.partition(proba, -2, axis=1)[:, -2:]
    return np.log(np.maximum(two[:, 1], SMALLEST)) - np.log(np.maximum(two[:, 0], SMALLEST))


def ranks_among(margins: np.ndarray) -> np.ndarray:
    """Share of the margins below each; ties count half."""
    reference = np.sort(margins)
    low, high = (np.searchsorted(reference, margins, side) for side in ("left", "right"))
    return (low + high) / (2 * len(reference))


class Labels(NamedTuple):
    """Labels of rows, with weights that are 1 on average."""

    given: np.ndarray  # the right ones of verified rows where it is not known what they were
    right: np.ndarray  # bool: that of a verified row was right
    weights: np.ndarray
    verified: np.ndarray  # bool
    told: np.ndarray  # bool: it is known what the row was given as

    @classmethod
    def of(cls, y: np.ndarray, weights: np.ndarray, checked: Checked | None = None) -> "Labels":
        known = Checked.of(y, None, None) if checked is None else checked
        given = np.where(known.is_known, known.given, y)
        return cls(given, given == y, weights, known.verified, known.is_known)

    @property
    def at(self) -> np.ndarray:
        return np.arange(len(self.given))


class Rows(NamedTuple):
    """What a reading says of each label."""

    rank: np.ndarray
    disagrees: np.ndarray  # bool: another class is the most probable one
    replaced: np.ndarray  # probability that the label was replaced

    def by_bin(self, of_rows: np.ndarray) -> np.ndarray:
        """(BINS,): sums of what rows have."""
        bins = np.minimum((BINS * self.rank).astype(int), BINS - 1)
        return np.bincount(bins, weights=of_rows, minlength=BINS)


class View(NamedTuple):
    """What follows from one reading."""

    log_likelihood: float
    mixes: bool
    rows: Rows
    curves: Curves
    evidence: np.ndarray  # (curves,): log-likelihood of what is seen of these labels
    chances: np.ndarray  # (curves,): posterior
    wrong: np.ndarray  # (n,)
    sources: np.ndarray  # (n, k): by true class, probability that it was and the label is wrong

    @property
    def determined(self) -> float:
        """Probability that the columns determine the class."""
        return float(self.chances @ self.curves.determined)

    def rates(self, labels: Labels, some: np.ndarray) -> np.ndarray:
        """(curves,): the share of wrong labels among some rows, a mask, under each curve."""
        mass = labels.weights * some
        doubted = mass * ~labels.verified
        kept, rows = doubted * (1 - self.rows.replaced), self.rows
        disagree, agree = rows.by_bin(kept * rows.disagrees), rows.by_bin(kept * ~rows.disagrees)
        wrong = self.curves.wrong_if_disagrees @ disagree + self.curves.wrong_if_agrees @ agree
        return (wrong + doubted @ rows.replaced) / mass.sum()


def view_of(reading: Reading, labels: Labels, known: np.ndarray | None = None) -> View:
    """Weigh all curves by the disagreements, and judge each label by their posterior.

    ``known`` is evidence that is taken in place of that of these labels.
    """
    proba, transition = np.maximum(reading.proba, TINY), reading.transition
    at, y = labels.at, labels.given
    came = proba * transition[:, y].T
    given = came.sum(axis=1)
    replaced = (1 - came[at, y] / given) * labels.told
    rows = Rows(ranks_among(margins_of(proba)), proba.argmax(axis=1) != y, replaced)
    rate = float(np.average(replaced, weights=labels.weights))
    curves = curves_of(proba.shape[1], rate)
    seen = evidence(curves, rows, labels)
    chances = softmax(curves.log_prior + (seen if known is None else known))
    if_disagrees, if_agrees = (
        np.interp(rows.rank, RANKS, chances @ part)
        for part in (curves.wrong_if_disagrees, curves.wrong_if_agrees)
    )
    mixed_up = (1 - replaced) * np.where(rows.disagrees, if_disagrees, if_agrees)
    came[at, y] = 0
    looks = proba.copy()
    looks[at, y] = 0
    sources = came * (replaced / np.maximum(came.sum(axis=1), TINY))[:, None]
    sources += looks * (mixed_up / np.maximum(looks.sum(axis=1), TINY))[:, None]
    likelihood = float((labels.weights * labels.told) @ np.log(np.maximum(given, TINY)))
    wrong = replaced + mixed_up
    return View(likelihood, reading.mixes, rows, curves, seen, chances, wrong, sources)


def evidence(curves: Curves, rows: Rows, labels: Labels) -> np.ndarray:
    """(curves,): log-likelihood of the disagreements, and of what verified rows have shown.

    Each as that of ``CURVE_ROWS`` rows at the most. Labels that were replaced tell nothing of
    either curve.
    """
    kept, shown = labels.weights * (1 - rows.replaced), labels.verified & labels.told
    answers = (  # the chance of yes, the rows that are asked, and what they say
        (curves.disagreement, labels.told, rows.disagrees),
        (curves.errors, ~labels.told, rows.disagrees),
        (curves.wrong_if_disagrees, shown & rows.disagrees, ~labels.right),
        (curves.wrong_if_agrees, shown & ~rows.disagrees, ~labels.right),
    )
    total = np.zeros(len(curves.log_prior))
    for chance, asked, yes in answers:
        counts = (rows.by_bin(kept * (asked & said)) for said in (yes, ~yes))
        total += log_likelihood(chance, *counts)
    return total


def log_likelihood(chance: np.ndarray, yes: np.ndarray, no: np.ndarray) -> np.ndarray:
    """(curves,): of counts in bins, as that of ``CURVE_ROWS`` rows at the most."""
    seen = np.log(chance) @ yes + np.log1p(-chance) @ no
    return min(1.0, CURVE_ROWS / max(float(yes.sum() + no.sum()), 1.0)) * seen


def shares_of(views: list[View]) -> np.ndarray:
    """How much each of the views counts, by the likelihood of the given labels."""
    n_rows, k = views[0].sources.shape
    return softmax([log_evidence(view.log_likelihood, n_rows, k * view.mixes) for view in views])


def has_learnt(views: list[View], labels: Labels) -> bool:
    """Whether given labels are likelier than by the shares of the classes alone, beyond chance."""
    told = labels.weights * labels.told
    share = np.bincount(labels.given, weights=told) / max(told.sum(), TINY)
    by_shares = float(told @ np.log(np.maximum(share[labels.given], TINY)))
    return max(view.log_likelihood for view in views) > by_shares + LEARNT


def in_order(wrong: np.ndarray, suspicion: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Probabilities of being wrong, made monotone in an order; they keep their sum."""
    order, n = np.argsort(suspicion, kind="stable"), len(wrong)
    fitted, place = np.empty(n), np.empty(n)
    fitted[order] = isotonic_regression(
        wrong[order], sample_weight=weights[order], y_min=0, y_max=1
    )
    place[order] = np.arange(n) / n
    # No probability is known better than so many rows can tell; equal ones keep their order.
    least = 1 / (2 * n + 4)
    return least + (1 - 2 * least) * fitted + TIE * least * (place - 0.5)


def suspicion_of(
    proba: np.ndarray, labels: Labels, wrong: np.ndarray, replaced: np.ndarray
) -> np.ndarray:
    """What rows are ordered by: log-odds against the given label.

    Where labels were replaced, the model's log-odds say more, as it knows by which classes: they
    are added as far as the wrong labels are replaced ones.
    """
    total = max(float(labels.weights @ wrong), TINY)
    share = min(float(labels.weights @ replaced) / total, 1.0)
    own = proba[labels.at, labels.given].clip(TINY, 1 - TINY)
    return share**2 * logit(wrong.clip(SMALLEST, 1 - SMALLEST)) - logit(own)


class Rate(NamedTuple):
    """An estimated share of wrong labels, with a 90 % interval."""

    rate: float
    low: float
    high: float

    @classmethod
    def of(cls, rate: float, weights: np.ndarray, rates: np.ndarray, chances: np.ndarray) -> "Rate":
        """From the rates of all curves and their chances, and the chance of so many rows."""
        order = np.argsort(rates)
        reached = np.cumsum(chances[order]) / chances.sum()
        low, high = rates[order][np.searchsorted(reached, (0.05, 0.95)).clip(max=len(rates) - 1)]
        n = weights.sum() ** 2 / (weights @ weights)  # rows' worth of information
        error = Z * np.sqrt(max(rate * (1 - rate), 1 / n) / n)
        low, high = min(low, rate) - error - BLUR, max(high, rate) + error
        return cls(rate, max(float(low), 0.0), min(float(high), 1.0))


UNKNOWN = Rate(0.0, 0.0, 1.0)  # of no rows


class LabelErrors(NamedTuple):
    """What out-of-sample probabilities tell of given labels."""

    wrong: np.ndarray  # (n,): calibrated probability that the label is wrong
    other: np.ndarray  # (n,): the most probable class that is not the given one
    rate: Rate
    class_rates: list[Rate]  # by given class
    transition: np.ndarray  # (k, k): estimated probability that a true class is given as each
    learnt: bool  # whether the classifier tells more of the labels than the shares of classes
    determined: float  # probability that the columns determine the class
    evidence: np.ndarray  # (curves,): log-likelihood of what was seen
    judge_by: Callable[[np.ndarray], "LabelErrors"]  # the same labels by other evidence


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


def judge_labels(
    readings: Sequence[Reading],
    y: np.ndarray,
    weights: np.ndarray | None = None,
    order_by: np.ndarray | None = None,
    checked: Checked | None = None,
    evidence: np.ndarray | None = None,
) -> LabelErrors:
    """Judge labels by what the noise model reads from out-of-sample probabilities.

    All weights are positive. Labels of verified rows are right: they show how often the classifier
    is wrong, and so how many of the other rows that it disagrees with have a wrong label. Rows are
    ordered by ``order_by``, the probabilities before the noise model changed them, if given.
    ``evidence`` is what other labels of the same table, and these, tell of the curves.
    """
    again = partial(judge_labels, readings, y, weights, order_by, checked)
    (n, k) = readings[0].proba.shape
    mass = np.ones(n) if weights is None else weights / weights.mean()
    if k == 1:
        rate = Rate.of(0.0, mass, np.zeros(1), np.ones(1))
        nobody = np.zeros(n, dtype=int)
        one = np.ones((1, 1))
        return LabelErrors(np.zeros(n), nobody, rate, [rate], one, True, 1.0, np.zeros(0), again)
    labels = Labels.of(y, mass, checked)
    views = [view_of(reading, labels, evidence) for reading in readings]
    shares, learnt = shares_of(views), has_learnt(views, labels)
    by_rows = zip(*((v.wrong, v.rows.replaced, v.sources) for v in views), strict=True)
    wrong, replaced, sources = (np.tensordot(shares, parts, 1) for parts in by_rows)
    if not learnt:  # then rows that are unlike the others of their class look wrong, and no more
        wrong, replaced = np.zeros(n), np.zeros(n)
    doubted, judged = np.flatnonzero(~labels.verified), np.zeros(n)
    if len(doubted):
        if order_by is None:
            order_by = np.tensordot(shares, [reading.proba for reading in readings], 1)
        order = suspicion_of(order_by, labels, wrong, replaced)
        judged[doubted] = in_order(wrong[doubted], order[doubted], mass[doubted])

    def rate_of(some: np.ndarray) -> Rate:
        if not some.any():
            return UNKNOWN
        rate = float(np.average(judged[some], weights=mass[some]))
        if not learnt:
            return UNKNOWN._replace(rate=rate)
        rates = np.concatenate([view.rates(labels, some) for view in views])
        chances = [share * view.chances for share, view in zip(shares, views, strict=True)]
        return Rate.of(rate, mass[some], rates, np.concatenate(chances))

    sources *= (judged / np.where(wrong > 0, wrong, 1.0))[:, None]
    transition = transition_of(sources, judged, y, labels)
    sources[labels.at, y] = -1
    return LabelErrors(
        judged,
        sources.argmax(axis=1),
        rate_of(np.ones(n, dtype=bool)),
        [rate_of(y == j) for j in range(k)],
        transition,
        learnt,
        float(shares @ [view.determined for view in views]),
        shares @ [view.evidence for view in views],
        again,
    )


def transition_of(
    sources: np.ndarray, judged: np.ndarray, y: np.ndarray, labels: Labels
) -> np.ndarray:
    """(k, k): how often a true class was given as each, as far as that is known."""
    k = sources.shape[1]
    true = sources.copy()
    true[labels.at, y] += 1 - judged
    true[labels.verified] = np.eye(k)[y[labels.verified]]
    counts = np.eye(k) * SMALLEST
    told = labels.told
    np.add.at(counts.T, labels.given[told], true[told] * labels.weights[told, None])
    return counts / counts.sum(axis=1, keepdims=True)
