"""Fitting to Dask collections."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import dask
import numpy as np
from dask.delayed import Delayed
from distributed import default_client
from sklearn.utils.validation import validate_data

from steadyboost.distributed import worker
from steadyboost.distributed.coordinator import ClusterBackend, Coordinator, InProcessBackend
from steadyboost.distributed.gather import gathered_rows
from steadyboost.distributed.partitions import (
    DelayedPartition,
    DelayedTable,
    delayed_table,
    tree_reduce,
)
from steadyboost.distributed.preprocessing import (
    RowSelection,
    binned_partition,
    count_labels,
    encode_labels,
    learn_encoder_and_binner,
    merge_labels,
    merge_summaries,
    summarize_columns,
)
from steadyboost.distributed.remote import RemoteBoosting, RemoteRows, without_run
from steadyboost.ensemble.callbacks import SklearnCallbacks, default_callbacks
from steadyboost.ensemble.history import History
from steadyboost.ensemble.rounds import Seeds
from steadyboost.ensemble.validation import (
    LabelSet,
    Sample,
    class_weights_of,
    seed_from,
    set_aside,
)
from steadyboost.ensemble.workers import Workers
from steadyboost.preprocessing.encoder import categorical_mask

if TYPE_CHECKING:
    from steadyboost.ensemble.estimator import BoostingClassifier


def fit(
    booster: "BoostingClassifier",
    X: Any,
    y: Any,
    sample_weight: Any = None,
    held_out: Any = None,
    costs: Any = None,
    backend: Any = None,
) -> "BoostingClassifier":
    """Fit a booster to collections; called by its own ``fit``, which checks its parameters.

    ``backend`` says where the rows are kept: by default on the workers of the current Dask client,
    and in this process where there is none.
    """
    refuse(booster)
    resumes = booster.warm_start and hasattr(booster, "stages_")
    table = delayed_table(X, y, sample_weight, costs)
    validation = None if held_out is None else delayed_table(*held_out, suffix="_val")
    validate_data(booster, table.empty, reset=not resumes, skip_check_array=True)
    if not resumes:
        booster._seed = seed_from(booster.random_state)
    backend = current_backend(booster) if backend is None else backend
    # Boosters that must see all rows at once do so by their bins.
    spreads = booster.spreads and getattr(booster._learner(), "spreads", False)
    steps = DistributedFit if spreads else GatheredFit
    try:
        steps(booster, backend, table, validation, resumes).run(X, y)
    finally:
        backend.close()
    return booster


def refuse(booster: "BoostingClassifier") -> None:
    """Raise an error if the learner cannot be trained on distributed rows."""
    if not booster._learner().uses_bins:
        raise ValueError(
            f"estimator={booster.estimator!r} needs all rows in memory, but X is a Dask "
            "collection; pass a learner that works on bins, such as steadyboost.Tree, or "
            "X.compute()."
        )


def current_backend(booster: "BoostingClassifier") -> InProcessBackend | ClusterBackend:
    try:
        return ClusterBackend(default_client())
    except ValueError:  # there is none
        return InProcessBackend(n_threads=Workers.of_jobs(booster.n_jobs).n_threads)


class DistributedFit:
    """The steps of a fit: learn the preprocessing, load rows on the workers, and boost."""

    def __init__(
        self,
        booster: "BoostingClassifier",
        backend: Any,
        table: DelayedTable,
        validation: DelayedTable | None,
        resumes: bool,
    ):
        self.booster, self.backend, self.resumes = booster, backend, resumes
        self.table, self.validation = table, validation

    def run(self, X: Any, y: Any) -> None:
        booster = self.booster
        selections = self.learn_preprocessing()
        self.load(selections)
        coordinator = Coordinator(self.backend)
        if not self.resumes:
            self.tune(coordinator)
        callbacks = default_callbacks(booster.get_params(deep=False))
        if hasattr(booster, "_skl_callbacks"):
            callbacks.append(SklearnCallbacks(X, y))
        self.run_rounds(coordinator, callbacks)

    def task(
        self, function: Callable[..., Any], part: DelayedPartition, *arguments: Any
    ) -> Delayed:
        """A task on one partition."""
        # Not pure: Dask would hash the arguments to find out whether it knows the result.
        return dask.delayed(function, pure=False)(self.sent_booster, part.number, *arguments)

    def refresh_booster(self) -> None:
        """Send the booster as it is now with the tasks that follow."""
        # Not traversed: Dask would look for collections in all attributes of the booster.
        self.sent_booster = dask.delayed(without_run(self.booster), traverse=False)

    # Before the first round

    def learn_preprocessing(self) -> list[RowSelection]:
        """Learn classes, encoder and binner; which rows of each partition are trained on.

        Labels and columns are read in one pass, unless the labels decide which rows count.
        """
        booster, parts = self.booster, self.table.parts
        self.refresh_booster()
        counts = [self.task(count_labels, part, part.y, part.weights) for part in parts]
        summaries: list[Delayed] = []
        if not self.resumes and booster.class_weight is None and not self.holds_out:
            summaries = [self.column_summaries([RowSelection()] * len(parts))]
        found = self.backend.compute([*counts, *summaries])
        self.n_passed = [own.n_passed for own in found[: len(parts)]]
        selections = self.select_rows(merge_labels(found[: len(parts)]))
        if not self.resumes:
            if not summaries:
                found += self.backend.compute([self.column_summaries(selections)])
            booster._encoder, booster._binner = learn_encoder_and_binner(
                found[-1], booster.max_bins
            )
        return selections

    @property
    def holds_out(self) -> bool:
        """Whether some of the training rows are held out for early stopping."""
        return self.booster.early_stopping and self.validation is None

    def select_rows(self, labels: LabelSet) -> list[RowSelection]:
        """Which rows of each partition are trained on, and how much their classes weigh."""
        booster = self.booster
        held_out: Sequence[np.ndarray | None] = [None] * len(self.table.parts)
        if self.holds_out:
            labels, held_out = self.hold_out(labels)
        by_class = class_weights_of(booster.class_weight, labels)
        if not self.resumes:
            booster.classes_ = self.classes(labels, by_class)
            booster.n_classes_ = len(booster.classes_)
            booster.prepare()
        booster.check_cost_matrix()
        return [RowSelection(labels.known, by_class, held) for held in held_out]

    def classes(self, labels: LabelSet, by_class: np.ndarray | None) -> np.ndarray:
        if labels.n_columns:
            return self.booster.classes_in(np.zeros((1, labels.n_columns)))
        weighs = labels.counts > 0
        return self.booster.classes_in(
            labels.known[weighs if by_class is None else weighs & (by_class > 0)]
        )

    def hold_out(self, labels: LabelSet) -> tuple[LabelSet, list[np.ndarray]]:
        """Hold out rows for early stopping: those that a fit on one machine would draw."""
        codes = self.backend.compute(
            [self.task(encode_labels, p, p.y, p.weights, labels) for p in self.table.parts]
        )
        all_codes = np.concatenate([own for own in codes if len(own)])
        rows = Sample(np.arange(len(all_codes)), all_codes, None)
        train, held = set_aside(rows, self.booster.validation_fraction, self.booster._seed)
        is_held = np.zeros(len(all_codes), dtype=bool)
        is_held[held.X] = True
        if not labels.n_columns:
            counts = np.bincount(train.y, minlength=len(labels.known))
            labels = labels._replace(counts=counts)
        return labels, np.split(is_held, np.cumsum([len(own) for own in codes])[:-1])

    def column_summaries(self, selections: list[RowSelection]) -> Delayed:
        """Summaries of the columns over all training rows."""
        categorical = categorical_mask(self.table.empty, self.booster.categorical_features)
        summaries = [
            self.task(summarize_partition, part, list(part[1:]), selection, categorical)
            for part, selection in zip(self.table.parts, selections, strict=True)
        ]
        return tree_reduce(summaries, merge_partitions)

    def load(self, selections: list[RowSelection]) -> None:
        """Bin each partition on a worker, where it stays."""
        train, validation = self.partitions(selections)
        self.validates = bool(validation)
        self.backend.load(train, validation)

    def partitions(self, selections: list[RowSelection]) -> tuple[list[Delayed], list[Delayed]]:
        """Tasks that bin the training rows of each partition, and the validation rows."""
        self.refresh_booster()
        parts, validation = self.table.parts, []
        train = [
            self.task(make_partition, part, list(part[1:]), selection)
            for part, selection in zip(parts, selections, strict=True)
        ]
        if self.validation is not None:
            plain = RowSelection()
            validation = [
                self.task(make_partition, part, list(part[1:]), plain, "y_val")
                for part in self.validation.parts
            ]
        elif selections[0].held is not None:
            validation = [
                self.task(make_partition, part, list(part[1:]), selection, "y", True)
                for part, selection in zip(parts, selections, strict=True)
            ]
        return train, validation

    # Rounds

    def tune(self, coordinator: Coordinator) -> None:
        changed, dropped = coordinator.run_on_all(worker.tune, without_run(self.booster))[0]
        for name in dropped:
            delattr(self.booster, name)
        for name, value in changed.items():
            setattr(self.booster, name, value)

    def run_rounds(self, coordinator: Coordinator, callbacks: Sequence[Any]) -> None:
        booster, resumes = self.booster, self.resumes
        k = booster.n_classes_
        run = RemoteBoosting(
            booster,
            booster._learner(),
            RemoteRows(coordinator, "rows", k),  # type: ignore[arg-type]
            RemoteRows(coordinator, "validation", k) if self.validates else None,  # type: ignore[arg-type]
            Seeds(booster._seed),
            booster.n_rounds(),
            list(booster.stages_) if resumes else [],
            booster.history_[: len(booster.stages_)] if resumes else History(),
            coordinator=coordinator,
        )
        booster._complete(run, callbacks, resumes)


class GatheredFit(DistributedFit):
    """The same for boosters that must see all rows at once: here, by their bins."""

    def run(self, X: Any, y: Any) -> None:
        booster = self.booster
        train, validation = self.partitions(self.learn_preprocessing())
        with Workers.of_jobs(booster.n_jobs) as workers:
            rows = gathered_rows(booster, self.backend, train, self.n_passed, workers)
            held_out = None
            if validation:
                n_passed = [0] * len(validation)  # the indices of validation rows are not needed
                held_out = gathered_rows(booster, self.backend, validation, n_passed, workers)
            self.backend.close()
            booster._train(rows, held_out, booster._learner(), (X, y), self.resumes)


def summarize_partition(
    booster: Any, number: int, part: Sequence[Any], selection: RowSelection, categorical: np.ndarray
) -> Any:
    """Summaries of the columns over the training rows of a partition; None without rows."""
    sample = selection.sample(booster, number, part)
    return summarize_columns(sample, categorical) if len(sample.y) else None


def merge_partitions(parts: list[Any]) -> Any:
    present = [part for part in parts if part is not None]
    return merge_summaries(present) if present else None


def make_partition(
    booster: Any,
    number: int,
    part: Sequence[Any],
    selection: RowSelection,
    name: str = "y",
    held: bool = False,
) -> Any:
    """A partition as bins."""
    return binned_partition(booster, number, selection.sample(booster, number, part, held), name)
