"""Fitting to a table that is read in batches: two passes, then the ordinary loop."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import validate_data

from steadyboost.ensemble.costs import weighted_by_stakes
from steadyboost.ensemble.training_state import TrainingState
from steadyboost.ensemble.validation import (
    LabelSet,
    Sample,
    class_weights_of,
    drop_zero_weights,
    is_stream,
    seed_from,
    set_aside,
)
from steadyboost.ensemble.workers import Workers
from steadyboost.learners.base import Data
from steadyboost.preprocessing.encoder import categorical_mask
from steadyboost.preprocessing.running import RunningTable
from steadyboost.preprocessing.scratch import mapped_array, scratch_folder
from steadyboost.streaming.labels import LabelReader, Roles, StreamLabels, labels_of
from steadyboost.streaming.source import Source
from steadyboost.trees.data.binned import Binned

if TYPE_CHECKING:
    from steadyboost.ensemble.estimator import BoostingClassifier


def fit(
    booster: "BoostingClassifier",
    X: Any,
    y: Any,
    sample_weight: Any = None,
    held_out: Any = None,
    costs: Any = None,
) -> "BoostingClassifier":
    """Fit a booster to a stream; called by its own ``fit``, which checks its parameters.

    ``y`` and ``sample_weight`` name columns of ``X``. Validation rows may be a stream as well, or
    rows in memory.
    """
    refuse(booster, costs)
    scratch_folder()  # an error now, rather than after a pass over the rows
    resumes = booster.warm_start and hasattr(booster, "stages_")
    source = Source(X)
    roles = Roles.of(source, y, sample_weight)
    validate_data(booster, empty_table(source, roles), reset=not resumes, skip_check_array=True)
    if not resumes:
        booster._seed = seed_from(booster.random_state)
    with Workers.of_jobs(booster.n_jobs) as workers:
        rows, validation = StreamedFit(booster, workers, resumes).load(source, roles, held_out)
        del source  # it may have a copy on disk
        booster._train(rows, validation, booster._learner(), (X, y), resumes)
    return booster


def refuse(booster: "BoostingClassifier", costs: Any) -> None:
    """Raise an error if the booster cannot be trained on a stream."""
    if not booster._learner().uses_bins:
        raise ValueError(
            f"estimator={booster.estimator!r} needs all rows in memory, but X is read as a stream; "
            "pass a learner that works on bins, such as steadyboost.Tree, or a table in memory."
        )
    if costs is not None:
        raise ValueError(
            "costs of rows need rows in memory, but X is read as a stream; pass cost_matrix."
        )


def empty_table(source: Source, roles: Roles) -> Any:
    """The features of a source without rows, for their names and types."""
    return source.schema.empty_table().select(roles.features)


class StreamedFit:
    """The steps of a fit before the first round: what to learn from the rows, and their bins."""

    def __init__(self, booster: "BoostingClassifier", workers: Workers, resumes: bool):
        self.booster, self.workers, self.resumes = booster, workers, resumes

    def load(
        self, source: Source, roles: Roles, held_out: Any
    ) -> tuple[TrainingState, TrainingState | None]:
        """Training and validation rows."""
        booster, running = self.booster, None
        holds_out = held_out is None and booster.early_stopping
        if self.resumes or holds_out or booster.class_weight is not None:
            labels = labels_of(source, roles)  # they decide which rows count
        else:
            labels, running = self._summarized(source, roles)
        train, held = self._selected(labels, holds_out)
        if not self.resumes:
            running = self._summary_of(source, roles, train, labels) if running is None else running
            booster._encoder, booster._binner = running.learn()
        rows = self._state(source, roles, train, labels, "y")
        rows.n_passed = len(labels.codes)
        if len(rows) < rows.n_passed:
            rows.numbers = train.X
        if held is not None:
            return rows, self._state(source, roles, held, labels, "y_val")
        return rows, None if held_out is None else self._validation(roles.features, *held_out)

    # The first pass

    def _running(self, source: Source, roles: Roles) -> RunningTable:
        booster, empty = self.booster, empty_table(source, roles)
        return RunningTable(categorical_mask(empty, booster.categorical_features), booster.max_bins)

    def _summarized(self, source: Source, roles: Roles) -> tuple[StreamLabels, RunningTable]:
        """Labels and columns, in one pass over all rows."""
        reader, running = LabelReader(roles), self._running(source, roles)
        for batch in source.batches():
            weights, X = reader.add(batch), batch.select(roles.features)
            if weights is not None and not weights.all():
                X, weights = X.take(np.flatnonzero(weights)), weights[weights > 0]
            running.add(X, weights)
        return reader.labels(), running

    def _summary_of(
        self, source: Source, roles: Roles, chosen: Sample, labels: StreamLabels
    ) -> RunningTable:
        """Columns of some of the rows."""
        running = self._running(source, roles)
        for at, X in self._parts(source, roles, chosen.X, labels):
            running.add(X, None if chosen.weights is None else chosen.weights[at])
        return running

    def _selected(self, labels: StreamLabels, holds_out: bool) -> tuple[Sample, Sample | None]:
        """Rows for training, of positive weight, and for validation; ``X`` are their places."""
        booster, found = self.booster, labels.label_set
        places = np.arange(len(labels.codes), dtype=np.int32)
        train = drop_zero_weights(Sample(places, labels.codes, labels.weights))
        held = None
        if holds_out:
            train, held = set_aside(train, booster.validation_fraction, booster._seed)
        by_class = class_weights_of(booster.class_weight, counted(train.y, found))
        if by_class is not None:
            own = by_class[train.y]
            weights = own if train.weights is None else train.weights * own
            train = drop_zero_weights(train._replace(weights=weights))
        if not self.resumes:
            present = counted(train.y, found).counts > 0
            booster.classes_ = booster.classes_in(found.known[present])
            booster.n_classes_ = len(booster.classes_)
            booster.prepare()
        booster.check_cost_matrix()
        return train, held

    # The second pass

    def _parts(
        self, source: Source, roles: Roles, places: np.ndarray, labels: StreamLabels
    ) -> Iterator[tuple[slice, Any]]:
        """The features of the rows at these places, batch by batch, and their part of the rows."""
        start = 0
        for batch in source.batches([*roles.features, roles.target]):
            labels.check_same(batch[roles.target], start, source.name)
            first, last = np.searchsorted(places, [start, start + len(batch)]).tolist()
            X = batch.select(roles.features)
            if 0 < last - first < len(X):
                X = X.take(places[first:last] - start)
            if first < last:
                yield slice(first, last), X
            start += len(batch)
        labels.check_number(start, source.name)

    def _state(
        self, source: Source, roles: Roles, chosen: Sample, labels: StreamLabels, name: str
    ) -> TrainingState:
        """Rows as bins on disk, with their labels and weights in memory."""
        booster, n = self.booster, len(chosen.y)
        y = self._classes_of(chosen.y, labels.known, name)
        binner, encoder = booster._binner, booster._encoder
        assert binner is not None
        n_words = (len(roles.features) + 3) // 4
        packed = mapped_array((n_words, n), np.uint32, f"the bins of {n:,} rows")
        missing = binner.has_missing
        for at, X in self._parts(source, roles, chosen.X, labels):
            part = binner.bin(encoder.encode(X), self.workers.run)
            assert isinstance(part, Binned)  # a stream has no sparse rows
            packed[:, at] = part.packed
            missing = missing | part.has_missing
        binned = Binned(packed, binner.n_bins, missing, binner.categorical)
        data = Data(None, binned, encoder.n_values)
        weights = weighted_by_stakes(chosen.weights, booster.row_stakes(y))
        k, columns = booster.n_classes_, booster.n_columns()
        return TrainingState(data, y, k, weights, self.workers, columns)

    def _classes_of(self, codes: np.ndarray, known: np.ndarray, name: str) -> np.ndarray:
        """The class of each row, from the indices of the labels."""
        present = np.flatnonzero(np.bincount(codes, minlength=len(known)))
        classes = self.booster._class_indices(known[present], name)
        if np.array_equal(present, classes):
            return codes
        index_of = np.zeros(len(known), dtype=np.int32)
        index_of[present] = classes
        return index_of[codes]

    def _validation(self, features: list[str], X: Any, y: Any, weights: Any) -> TrainingState:
        """Validation rows of their own, from a stream or from memory."""
        booster = self.booster
        if not is_stream(X, y):
            _, watched = booster._split(Sample(None, np.empty(0), None), (X, y, weights))
            assert watched is not None
            return booster._validation_rows(watched, self.workers)
        source = Source(X, "X_val")
        roles = Roles.of(source, y, weights, "_val")
        source.need(features, "The feature")
        labels = labels_of(source, roles)
        places = np.arange(len(labels.codes), dtype=np.int32)
        every = drop_zero_weights(Sample(places, labels.codes, labels.weights))
        return self._state(source, roles._replace(features=features), every, labels, "y_val")


def counted(codes: np.ndarray, labels: LabelSet) -> LabelSet:
    """The same labels, with how often each occurs in some rows."""
    return labels._replace(counts=np.bincount(codes, minlength=len(labels.known)))
