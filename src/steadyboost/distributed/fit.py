"""Fitting to Dask collections."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import dask
import numpy as np
from dask.delayed import Delayed
from distributed import default_client
from sklearn.utils.validation import validate_data

from steadyboost.distributed import worker as member
from steadyboost.distributed.backends import Abroad, Here
from steadyboost.distributed.coordinator import Team
from steadyboost.distributed.partitions import Part, Table, merged, table_of
from steadyboost.distributed.preprocessing import (
    Cut,
    Labels,
    all_labels,
    codes_of,
    columns_of,
    learn_tables,
    look,
    merge_columns,
    piece_of,
    weights_of_classes,
)
from steadyboost.distributed.remote import FarBoosting, FarRows, for_travel
from steadyboost.ensemble.callbacks import default_callbacks
from steadyboost.ensemble.history import History
from steadyboost.ensemble.loop import Seeds
from steadyboost.ensemble.sklearn_callbacks import SklearnCallbacks
from steadyboost.ensemble.validation import Sample, seed_from, set_aside
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
    crew: Any = None,
) -> "BoostingClassifier":
    """Fit a booster to collections; called by its own ``fit``, which checks its parameters.

    ``crew`` is where the rows will be: by default on the workers of the current Dask client, and
    in this process where there is none.
    """
    refuse(booster)
    going_on = booster.warm_start and hasattr(booster, "stages_")
    table = table_of(X, y, sample_weight, costs)
    watched = None if held_out is None else table_of(*held_out, suffix="_val")
    validate_data(booster, table.empty, reset=not going_on, skip_check_array=True)
    if not going_on:
        booster._seed = seed_from(booster.random_state)
    crew = current_crew(booster) if crew is None else crew
    try:
        Fitting(booster, crew, table, watched, going_on).run(X, y)
    finally:
        crew.close()
    return booster


def refuse(booster: "BoostingClassifier") -> None:
    """Say now what cannot be done on rows that are spread over machines."""
    name = type(booster).__name__
    if not booster.spreads:
        raise ValueError(
            f"{name} has to see all rows at once, but X is a Dask collection; pass X.compute() if "
            "it fits into memory, or use another booster, such as MSmoothBoostClassifier."
        )
    if not getattr(booster._learner(), "spreads", False):
        raise ValueError(
            f"estimator={booster.estimator!r} has to see all rows at once, but X is a Dask "
            "collection; pass a steadyboost.Tree or Stump, or X.compute()."
        )


def current_crew(booster: "BoostingClassifier") -> Here | Abroad:
    try:
        return Abroad(default_client())
    except ValueError:  # there is none
        return Here(n_threads=Workers(booster.n_jobs).n_threads)


class Fitting:
    """The steps of a fit: agree on tables, bring the rows to their places, and boost."""

    def __init__(
        self,
        booster: "BoostingClassifier",
        crew: Any,
        table: Table,
        watched: Table | None,
        going_on: bool,
    ):
        self.booster, self.crew, self.table, self.watched = booster, crew, table, watched
        self.going_on = going_on

    def run(self, X: Any, y: Any) -> None:
        booster = self.booster
        cuts = self.agree()
        self.gather(cuts)
        team = Team(self.crew)
        if not self.going_on:
            self.tune(team)
        callbacks = default_callbacks(booster.get_params(deep=False))
        if hasattr(booster, "_skl_callbacks"):
            callbacks.append(SklearnCallbacks(X, y))
        self.boost(team, callbacks)

    def promise(self, function: Callable[..., Any], part: Part, *arguments: Any) -> Delayed:
        """A task on one partition."""
        return dask.delayed(function, pure=False)(self.shared, part.number, *arguments)

    def share(self) -> None:
        """Let tasks have the booster as it is now."""
        self.shared = dask.delayed(for_travel(self.booster), traverse=False)

    # What all agree on

    def agree(self) -> list[Cut]:
        """Labels, categories and bins; which rows of each partition are trained on, and how.

        Labels and columns are looked at together, unless the labels say which rows count.
        """
        booster, parts = self.booster, self.table.parts
        self.share()
        looks = [self.promise(look, part, part.y, part.weights) for part in parts]
        seen: list[Delayed] = []
        if not self.going_on and booster.class_weight is None and not self.sets_aside:
            seen = [self.columns([Cut()] * len(parts))]
        found = self.crew.compute([*looks, *seen])
        cuts = self.cuts(all_labels(found[: len(parts)]))
        if not self.going_on:
            columns = found[-1] if seen else self.crew.compute([self.columns(cuts)])[0]
            booster._encoder, booster._binner = learn_tables(columns, booster.max_bins)
        return cuts

    @property
    def sets_aside(self) -> bool:
        """Whether some of the rows are taken out to stop early by."""
        return self.booster.early_stopping and self.watched is None

    def cuts(self, labels: Labels) -> list[Cut]:
        """Which rows of each partition are trained on, and how much their classes weigh."""
        booster = self.booster
        helds: Sequence[np.ndarray | None] = [None] * len(self.table.parts)
        if self.sets_aside:
            labels, helds = self.set_aside(labels)
        by_class = weights_of_classes(booster.class_weight, labels)
        if not self.going_on:
            booster.classes_ = self.classes(labels, by_class)
            booster.n_classes_ = len(booster.classes_)
            booster.prepare()
        return [Cut(labels.known, by_class, held) for held in helds]

    def classes(self, labels: Labels, by_class: np.ndarray | None) -> np.ndarray:
        if labels.n_columns:
            return self.booster.classes_in(np.zeros((1, labels.n_columns)))
        weighs = labels.counts > 0
        return self.booster.classes_in(
            labels.known[weighs if by_class is None else weighs & (by_class > 0)]
        )

    def set_aside(self, labels: Labels) -> tuple[Labels, list[np.ndarray]]:
        """The rows to stop early by: those that would be drawn if all rows were here."""
        codes = self.crew.compute(
            [self.promise(codes_of, p, p.y, p.weights, labels) for p in self.table.parts]
        )
        everyone = np.concatenate([own for own in codes if len(own)])
        rows = Sample(np.arange(len(everyone)), everyone, None)
        train, held = set_aside(rows, self.booster.validation_fraction, self.booster._seed)
        is_held = np.zeros(len(everyone), dtype=bool)
        is_held[held.X] = True
        if not labels.n_columns:
            counts = np.bincount(train.y, minlength=len(labels.known))
            labels = labels._replace(counts=counts)
        return labels, np.split(is_held, np.cumsum([len(own) for own in codes])[:-1])

    def columns(self, cuts: list[Cut]) -> Delayed:
        """What the rows to train on say of the columns."""
        categorical = categorical_mask(self.table.empty, self.booster.categorical_features)
        seen = [
            self.promise(see, part, list(part[1:]), cut, categorical)
            for part, cut in zip(self.table.parts, cuts, strict=True)
        ]
        return merged(seen, merge_seen)

    def gather(self, cuts: list[Cut]) -> None:
        """Bins of each partition, where they will stay."""
        self.share()
        parts, watched = self.table.parts, []
        train = [
            self.promise(make_piece, part, list(part[1:]), cut)
            for part, cut in zip(parts, cuts, strict=True)
        ]
        if self.watched is not None:
            plain = Cut()
            watched = [
                self.promise(make_piece, part, list(part[1:]), plain, "y_val")
                for part in self.watched.parts
            ]
        elif cuts[0].held is not None:
            watched = [
                self.promise(make_piece, part, list(part[1:]), cut, "y", True)
                for part, cut in zip(parts, cuts, strict=True)
            ]
        self.watches = bool(watched)
        self.crew.gather(train, watched)

    # Rounds

    def tune(self, team: Team) -> None:
        changed, dropped = team.everywhere(member.tune, for_travel(self.booster))[0]
        for name in dropped:
            delattr(self.booster, name)
        for name, value in changed.items():
            setattr(self.booster, name, value)

    def boost(self, team: Team, callbacks: Sequence[Any]) -> None:
        booster, going_on = self.booster, self.going_on
        k = booster.n_classes_
        run = FarBoosting(
            booster,
            booster._learner(),
            FarRows(team, "rows", k),  # type: ignore[arg-type]
            FarRows(team, "validation", k) if self.watches else None,  # type: ignore[arg-type]
            Seeds(booster._seed),
            booster.n_rounds(),
            list(booster.stages_) if going_on else [],
            booster.history_[: len(booster.stages_)] if going_on else History(),
            team=team,
        )
        booster._complete(run, callbacks, going_on)


def see(booster: Any, number: int, part: Sequence[Any], cut: Cut, categorical: np.ndarray) -> Any:
    """What the rows of a partition that are trained on say of its columns; None without rows."""
    sample = cut.sample(booster, number, part)
    return columns_of(sample, categorical) if len(sample.y) else None


def merge_seen(parts: list[Any]) -> Any:
    present = [part for part in parts if part is not None]
    return merge_columns(present) if present else None


def make_piece(
    booster: Any, number: int, part: Sequence[Any], cut: Cut, name: str = "y", held: bool = False
) -> Any:
    """A partition as bins."""
    return piece_of(booster, number, cut.sample(booster, number, part, held), name)
