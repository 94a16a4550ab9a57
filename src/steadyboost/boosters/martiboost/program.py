"""The training of a branching program, layer by layer."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from steadyboost.boosters.families.binary import SIGNS
from steadyboost.boosters.martiboost.mass import (
    ABSENT,
    add_class_shares,
    add_mistakes,
    routes_of,
    weigh_nodes,
)
from steadyboost.ensemble.loop import answer_to
from steadyboost.ensemble.rounds import Round
from steadyboost.ensemble.training_state import RowChunk, TrainingState
from steadyboost.ensemble.workers import Workers
from steadyboost.learners.base import Answer, Learner, Question
from steadyboost.learners.tree import answers_at_once

MAX_HELD_WEIGHTS = 8_000_000  # weights that are held at a time


class Layer(NamedTuple):
    """A layer of one problem: the hypotheses, and where their votes lead."""

    answers: list[Answer | None]
    routes: np.ndarray
    mass: np.ndarray  # of each node, with the classes balanced
    error: float  # of its hypotheses, on average
    weights: np.ndarray  # of the rows, on average

    @property
    def n_hypotheses(self) -> int:
        return sum(answer is not None for answer in self.answers)


class Program(TrainingState):
    """The rows of a problem of two classes, with the mass of each as its scores.

    Their weights are class shares, a row's part of the weight of its class: each node balances the
    classes, so that their sizes never matter.
    """

    def __init__(
        self,
        rows: TrainingState,
        y: np.ndarray,
        mass: Sequence[np.ndarray],
        workers: Workers,
        is_new: bool,
    ):
        """``is_new`` says that there are no layers yet: all mass is put at the root."""
        super().__init__(rows.data, y, 2, rows.sample_weight, workers, scores=mass)
        logs = [0.0 if chunk.base is None else chunk.base.max() for chunk in self.chunks]
        top = self.allreduce(logs, max)

        def begin(chunk: RowChunk) -> np.ndarray:
            own = self.weights[chunk.rows]
            own[:] = 1.0 if chunk.base is None else np.exp(chunk.base - top)
            if is_new:
                chunk.scores[:, 0] = 1
            return np.bincount(chunk.y, weights=own, minlength=2)

        self.weights /= self.total(begin)[y]
        self._shares = np.empty((0, 2))

    def class_shares(self, n_nodes: int) -> np.ndarray:
        """Share of each class at each node of the layer that has so many, (nodes, 2)."""

        def in_chunk(chunk: RowChunk) -> np.ndarray:
            out = np.zeros((n_nodes, 2))
            add_class_shares(chunk.scores.T, chunk.y, self.weights[chunk.rows], out)
            return out

        if len(self._shares) != n_nodes:  # needed at the end of a round, and again in the next
            self._shares = self.total(in_chunk)
        return self._shares

    def is_settled(self, n_nodes: int) -> bool:
        """Whether all nodes of a layer are pure, and on the side of their class."""
        there = self.class_shares(n_nodes) > ABSENT
        right = 2 * np.arange(n_nodes) >= n_nodes - 1
        return not (there[right, 0].any() or there[~right, 1].any())

    def grow(
        self, learner: Learner, resample: bool, round_: Round, first: int, votes: np.ndarray
    ) -> Layer:
        """Train the next layer; ``first`` is the number of its first node among all problems'.

        ``votes``, (nodes, n), gets those of its hypotheses; others are zero.
        """
        n, n_nodes = len(self), round_.t + 1
        class_shares = self.class_shares(n_nodes)
        mixed = np.flatnonzero((class_shares > ABSENT).all(axis=1))
        answers: list[Answer | None] = [None] * n_nodes
        average, mistakes = np.zeros(n), np.zeros((n_nodes, 2))
        size = max(
            1, MAX_HELD_WEIGHTS // self.n_all
        )  # nodes at a time; by all rows, so as not to depend on workers
        for start in range(0, len(mixed), size):
            nodes = mixed[start : start + size]
            weights = self._weigh(nodes, class_shares, average)
            rounds = (round_.of(first + node) for node in nodes)
            given, votes[nodes] = self._ask(learner, resample, weights, rounds)
            mistakes += self._mistakes(weights, votes, nodes)
            for node, answer in zip(nodes, given, strict=True):
                answers[node] = answer
        mass = class_shares.sum(axis=1) / class_shares.sum()
        routes = routes_of(class_shares, mistakes)
        error = float(mass @ mistakes.sum(axis=1))
        return Layer(answers, routes, mass, error, average)

    def _weigh(
        self, nodes: np.ndarray, class_shares: np.ndarray, average: np.ndarray
    ) -> np.ndarray:
        """Weights of the rows at each of the nodes, (nodes, n)."""
        weights = np.empty((len(nodes), len(self)))

        def in_chunk(chunk: RowChunk) -> None:
            mass, shares, start = chunk.scores.T, self.weights[chunk.rows], chunk.rows.start
            weigh_nodes(mass, chunk.y, shares, nodes, class_shares, start, weights, average)

        self.each(in_chunk)
        return weights

    def _mistakes(self, weights: np.ndarray, votes: np.ndarray, nodes: np.ndarray) -> np.ndarray:
        """Weight of each class with a wrong vote at these nodes; zero at others."""

        def in_chunk(chunk: RowChunk) -> np.ndarray:
            out = np.zeros((len(votes), 2))
            add_mistakes(weights, votes, nodes, chunk.y, chunk.rows.start, out)
            return out

        return self.total(in_chunk)

    def _ask(
        self, learner: Learner, resample: bool, weights: np.ndarray, rounds: Iterator[Round]
    ) -> tuple[list[Any], np.ndarray]:
        """Answers to the questions with these weights, and their votes, (questions, n).

        Trees answer all of them at once; other learners, and those that draw, one by one.
        """
        if self.workers.is_distributed or not answers_at_once(learner):
            return self._ask_each(learner, resample, weights, list(rounds))
        if resample:
            counts = [own.draw_counts(self, w) for own, w in zip(rounds, weights, strict=True)]
            weights = np.array(counts, dtype=float)
        return learner.answer_each(self.data, self.y[None], weights, self.workers)

    def _ask_each(
        self, learner: Learner, resample: bool, weights: np.ndarray, rounds: list[Round]
    ) -> tuple[list[Any], np.ndarray]:
        alone = self.workers.alone()

        def ask(j: int) -> tuple[Answer, np.ndarray]:
            own, question = rounds[j], Question(self.y, weights[j], 2, SIGNS)
            return answer_to(question, self, learner, own, resample, alone)

        asked = self.workers.parallel_map(ask, range(len(rounds)))
        return [answer for answer, _ in asked], np.array([votes for _, votes in asked])
