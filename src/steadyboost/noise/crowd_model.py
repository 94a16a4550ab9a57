"""The true classes of rows, and the confusion matrix of each annotator, from their answers.

The model of A. P. Dawid and A. M. Skene (1979) with four additions:

1. *Annotators shrink towards the group.* The rows of an annotator's matrix have a Dirichlet prior.
   Its mean is the group's matrix, with log-odds of right answers moved by how much better or worse
   than the group the annotator is, which itself shrinks towards the group. Who gave few answers
   is taken for an average annotator; who gave more is judged by accuracy, and then class by class.
2. *A classifier has a voice.* Where out-of-sample probabilities p_ij of the classes are given, row
   i is of class j before any answer with probability ~ exp(weight log p_ij + offset_j). Weight and
   offsets are those under which the answers are likeliest: the voice of a useless model is 0.
3. *Some rows are hard.* On these, everybody mostly guesses. Without them several wrong answers to
   one row would be taken for independent ones, and the probabilities would be far too sure.
4. *Known classes* (checked rows, golden questions) stay as they are, and judge annotators.

Fitted by expectation-maximisation.

References
----------
.. [1] A. P. Dawid, A. M. Skene (1979). Maximum likelihood estimation of observer error-rates using
   the EM algorithm. Applied Statistics 28.
.. [2] V. C. Raykar et al. (2010). Learning from crowds. JMLR 11.
.. [3] J. Whitehill et al. (2009). Whose vote should count more: optimal integration of labels from
   labelers of unknown expertise. NeurIPS.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_matrix
from scipy.special import betaincinv, expit, logit, logsumexp

from steadyboost.noise.annotations import Annotations

MOST_STEPS = 200
TOLERANCE = 1e-6  # of the log-likelihood per row, below which nothing changes any more
LEAST_PROBA = 1e-3  # that a classifier's probability is taken for: none knows better
LEAST_WEIGHT = 0.01  # of the classifier: a negative one would believe the opposite of it
NEAR = 1e-3  # by which accuracies stay away from 0 and 1, where log-odds are infinite
TAIL = 0.05  # on each side of an interval
LEAST_KNOWN = 0.05  # share of the answers that are taken for known to be right or wrong


class CrowdPriors(NamedTuple):
    """How much is believed before any answer, in answers' or rows' worth of evidence."""

    group: float = 10.0  # rows per class: in one accuracy of the group for all classes
    accuracy: float = 5.0  # answers: in the group's accuracy, of each annotator
    matrix: float = 30.0  # answers per class: in the pattern that follows from the accuracy
    classes: float = 1.0  # rows per class, in equally frequent classes
    voice: float = 4.0  # rows: in a classifier's probabilities as they are
    easy: float = 19.0  # rows: in that a row is not hard
    hard: float = 1.0  # rows: in that it is
    guesses: float = 0.9  # share of answers to a hard row that are guesses; 0: no row is hard


# Strengths of priors were chosen by leave-one-set-out on thirteen tables with made-up crowds and
# one of people's answers: all choices were the same. Results change little with the others.
PRIORS = CrowdPriors()


@dataclass
class Voice:
    """Log-probabilities of the classes by a classifier, and how much they count."""

    log_proba: np.ndarray
    weight: float
    offsets: np.ndarray

    @classmethod
    def of(cls, proba: np.ndarray) -> "Voice":
        return cls(np.log(np.maximum(proba, LEAST_PROBA)), 1.0, np.zeros(proba.shape[1]))

    def log_prior(self) -> np.ndarray:
        """(n, k): logarithms of the classes' probabilities before any answer."""
        scores = self.weight * self.log_proba + self.offsets
        return scores - logsumexp(scores, axis=1, keepdims=True)

    def update(self, posterior: np.ndarray, belief: float) -> None:
        """A Newton step of the weight and the offsets, in a problem that is concave."""
        prior, logs = np.exp(self.log_prior()), self.log_proba
        off, mean = posterior - prior, (prior * logs).sum(axis=1)
        slope = np.append(off.sum(axis=0), (off * logs).sum())
        slope -= belief * np.append(self.offsets, self.weight - 1)
        k = prior.shape[1]
        curve = np.empty((k + 1, k + 1))
        curve[:k, :k] = np.diag(prior.sum(axis=0)) - prior.T @ prior
        curve[k, :k] = curve[:k, k] = (prior * (logs - mean[:, None])).sum(axis=0)
        curve[k, k] = (prior * (logs - mean[:, None]) ** 2).sum()
        step = np.linalg.solve(curve + belief * np.eye(k + 1), slope)
        step *= min(1.0, 1.0 / max(np.abs(step).max(), 1e-300))  # far off, the curve is another
        self.offsets = self.offsets + step[:k]
        self.weight = max(self.weight + float(step[k]), LEAST_WEIGHT)


@dataclass
class CrowdModel:
    """What answers tell.

    Attributes
    ----------
    posterior : ndarray of shape (n, k)
        Distribution of each item's true class.
    hard : ndarray of shape (n,)
        Probability that the item is hard.
    confusion : ndarray of shape (annotators, k, k)
        Probability of each annotator's answers (columns) to items of each class (rows).
    group : ndarray of shape (k, k)
        The same of a typical annotator.
    counts : ndarray of shape (annotators, k, k)
        Expected number of answers by true class.
    shares : ndarray of shape (k,)
        Estimated frequencies of the classes.
    weight : float
        How much the classifier counts; 0 if there is none.
    """

    posterior: np.ndarray
    hard: np.ndarray
    confusion: np.ndarray
    group: np.ndarray
    counts: np.ndarray
    shares: np.ndarray
    weight: float
    log_likelihood: float

    def accuracy(self, answers: Annotations, priors: CrowdPriors = PRIORS) -> np.ndarray:
        """(annotators, 3): estimated share of right answers, and the ends of its 90 % interval.

        As it is not known which answers are right, they count for fewer: the information that is
        missing is subtracted (T. A. Louis, 1982).
        """
        is_right = self.posterior[answers.item, answers.label]
        n, right, unsure = (
            np.bincount(answers.annotator, weights=weights, minlength=answers.n_annotators)
            for weights in (np.ones(len(is_right)), is_right, is_right * (1 - is_right))
        )
        typical = np.clip(is_right.mean(), NEAR, 1 - NEAR)
        a, b = right + priors.accuracy * typical, n - right + priors.accuracy * (1 - typical)
        mean = a / (a + b)
        known = np.clip(1 - unsure / (np.maximum(n, 1) * mean * (1 - mean)), LEAST_KNOWN, 1)
        mass = known * n + priors.accuracy
        ends = (betaincinv(mass * mean, mass * (1 - mean), q) for q in (TAIL, 1 - TAIL))
        return np.column_stack([mean, *ends])


def fit_crowd(
    answers: Annotations,
    proba: np.ndarray | None = None,
    known: np.ndarray | None = None,
    priors: CrowdPriors = PRIORS,
) -> CrowdModel:
    """The likeliest model of answers.

    ``proba`` (n, k) are out-of-sample probabilities of a classifier; ``known`` (n,) the classes of
    checked items, -1 for others.
    """
    starts = [Expectation(answers, proba, known, priors)]
    if known is not None and (known >= 0).any():
        # Where most annotators err alike, only known classes can tell: begin with these alone.
        checked = Expectation(answers, proba, known, priors)
        checked.own[known[answers.item] < 0] = 0
        starts.append(checked)
    models = [_converged(em) for em in starts]
    return max(models, key=lambda model: model.log_likelihood)


def _converged(em: "Expectation") -> CrowdModel:
    """The model that steps from here lead to."""
    last = -np.inf
    for _ in range(MOST_STEPS):
        em.maximise()
        found = em.expect()
        if abs(found - last) < TOLERANCE * max(em.answers.n_items, 1):
            break
        last = found
    return em.model(found)


class Expectation:
    """State of expectation-maximisation: what rows and answers are expected to be."""

    def __init__(
        self,
        answers: Annotations,
        proba: np.ndarray | None,
        known: np.ndarray | None,
        priors: CrowdPriors,
    ):
        self.answers, self.priors, self.known = answers, priors, known
        self.voice = None if proba is None else Voice.of(proba)
        n, m, k = answers.n_items, len(answers.item), answers.n_classes
        # Adds up what answers say, item by item.
        self.by_item = csr_matrix((np.ones(m), (answers.item, np.arange(m))), shape=(n, m))
        start = answers.votes() + (1 / k if proba is None else proba)
        self.posterior = self._with_known(start / start.sum(axis=1, keepdims=True))
        self.own = self.posterior[answers.item]  # (m, k): by true class, no guess
        self.hard = np.zeros(n)
        self.hard_share = priors.hard / (priors.hard + priors.easy) if priors.guesses else 0.0

    def _with_known(self, posterior: np.ndarray) -> np.ndarray:
        if self.known is not None:
            rows = np.flatnonzero(self.known >= 0)
            posterior[rows] = np.eye(posterior.shape[1])[self.known[rows]]
        return posterior

    def maximise(self) -> None:
        """Parameters, given what rows and answers are expected to be."""
        answers, priors = self.answers, self.priors
        self.counts = _expected_counts(answers, self.own)
        self.group = group_matrix(self.counts.sum(axis=0), priors)
        self.confusion = annotator_matrices(self.counts, self.group, priors)
        mass = self.posterior.sum(axis=0) + priors.classes
        self.shares = mass / mass.sum()
        if self.voice is not None:
            self.voice.update(self.posterior, priors.voice)
        if priors.guesses:
            mass = self.hard.sum() + priors.hard
            self.hard_share = mass / (answers.n_items + priors.hard + priors.easy)

    def expect(self) -> float:
        """What rows and answers are, given the parameters; the log-likelihood."""
        answers, share = self.answers, self.priors.guesses
        own = self.confusion[answers.annotator, :, answers.label]  # (m, k)
        guessed = (1 - share) * own + share / answers.n_classes
        prior = np.log(self.shares) if self.voice is None else self.voice.log_prior()
        with np.errstate(divide="ignore"):  # log 0 where no row is hard
            states = np.stack([
                prior + np.log1p(-self.hard_share) + self.by_item @ np.log(own),
                prior + np.log(self.hard_share) + self.by_item @ np.log(guessed),
            ])  # fmt: skip
        if self.known is not None:
            rows = np.flatnonzero(self.known >= 0)
            others = np.ones((len(rows), answers.n_classes), dtype=bool)
            others[np.arange(len(rows)), self.known[rows]] = False
            states[:, rows] = np.where(others, -np.inf, states[:, rows])
        logs = logsumexp(states, axis=(0, 2))
        easy, hard = np.exp(states - logs[:, None])
        self.posterior, self.hard = easy + hard, hard.sum(axis=1)
        not_guessed = (1 - share) * own / guessed
        self.own = easy[answers.item] + hard[answers.item] * not_guessed
        return float(logs.sum())

    def model(self, log_likelihood: float) -> CrowdModel:
        return CrowdModel(
            self.posterior,
            self.hard,
            self.confusion,
            self.group,
            self.counts,
            self.shares,
            0.0 if self.voice is None else self.voice.weight,
            log_likelihood,
        )


def _expected_counts(answers: Annotations, own: np.ndarray) -> np.ndarray:
    """(annotators, true classes, answers): how often each is expected to have happened."""
    a, k = answers.n_annotators, answers.n_classes
    place = answers.annotator * k + answers.label
    columns = [np.bincount(place, weights=own[:, j], minlength=a * k) for j in range(k)]
    return np.stack([column.reshape(a, k) for column in columns], axis=1)


def group_matrix(counts: np.ndarray, priors: CrowdPriors) -> np.ndarray:
    """The matrix of all answers, whose rows shrink towards one accuracy for all classes."""
    k = len(counts)
    accuracy = (np.trace(counts) + 1) / (counts.sum() + k)
    prior = np.full((k, k), (1 - accuracy) / max(k - 1, 1))
    np.fill_diagonal(prior, accuracy)
    sums = counts + (priors.group + NEAR) * prior
    return sums / sums.sum(axis=1, keepdims=True)


def annotator_matrices(counts: np.ndarray, group: np.ndarray, priors: CrowdPriors) -> np.ndarray:
    """Matrices of all annotators, which shrink towards the group's with their own accuracies."""
    k = len(group)
    diagonal = np.clip(np.diag(group), NEAR, 1 - NEAR)
    by_class = counts.sum(axis=2)
    n, right = by_class.sum(axis=1), np.einsum("ajj->a", counts)
    expected = np.where(n > 0, by_class @ diagonal / np.maximum(n, NEAR), diagonal.mean())
    expected = np.clip(expected, NEAR, 1 - NEAR)
    accuracy = (right + priors.accuracy * expected) / np.maximum(n + priors.accuracy, NEAR)
    better = logit(np.clip(accuracy, NEAR, 1 - NEAR)) - logit(expected)
    own = expit(logit(diagonal) + better[:, None])  # (annotators, k)
    wrong = group * (1 - np.eye(k))
    base = (1 - own)[:, :, None] * (wrong / wrong.sum(axis=1, keepdims=True))
    base[:, np.arange(k), np.arange(k)] = own
    sums = counts + (priors.matrix + NEAR) * base
    return sums / sums.sum(axis=2, keepdims=True)
