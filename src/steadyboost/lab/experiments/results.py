"""Results of an experiment from the cache, and reasons for missing ones."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from steadyboost.lab.experiments.cells import Cache, Cell, Condition, cells_of
from steadyboost.lab.experiments.plan import (
    LAST,
    DataChoice,
    Experiment,
    Method,
    Point,
    Quantity,
)

NUMBER = re.compile(r"\d+(\.\d+)?")
NOT_RUN = "not run yet"


@dataclass
class Results:
    """Runs by condition, and reasons for conditions without runs."""

    experiment: Experiment
    runs: dict[Condition, dict[int, dict[str, Any]]] = field(default_factory=dict)
    reasons: dict[Condition, str] = field(default_factory=dict)

    @property
    def n_runs(self) -> int:
        """Most runs that any condition has in the plan."""
        experiment = self.experiment
        return max(experiment.protocol_of(data).n_runs for data in experiment.data)

    def counts(self) -> dict[str, tuple[int, int]]:
        """Runs of each data set that can be run: those that are there, and all of them."""
        found: dict[str, tuple[int, int]] = {}
        for method, data, rate in self.experiment.conditions():
            condition = Condition(method.id, data.id, rate)
            if condition not in self.reasons:
                done, planned = found.get(data.label, (0, 0))
                done += len(self.runs.get(condition, {}))
                found[data.label] = done, planned + self.experiment.protocol_of(data).n_runs
        return found

    @property
    def scale(self) -> float:
        """Errors are shown in percent."""
        return 100.0 if self.experiment.measure == "error" else 1.0

    def values(self, point: Point) -> np.ndarray:
        """The measure in each run, NaN where there is none."""
        condition = Condition(point.method, point.data, point.noise)
        out = np.full(self.n_runs, np.nan)
        for repeat, result in self.runs.get(condition, {}).items():
            at = _position(result["recorded"], point.round)
            if at is not None and point.part in result["errors"]:
                out[repeat] = self.scale * result["errors"][point.part][at]
        return out

    def read(self, point: Point, quantity: Quantity) -> np.ndarray:
        """Values of a quantity of a claim at a point."""
        if quantity.chosen:
            return self._each_run(point, lambda result: result["chosen"].get(quantity.chosen))
        if quantity.budget is not None:
            return self._within_budget(point, quantity.budget)
        return self.values(point)

    def _each_run(self, point: Point, read: Any) -> np.ndarray:
        condition = Condition(point.method, point.data, point.noise)
        out = np.full(self.n_runs, np.nan)
        for repeat, result in self.runs.get(condition, {}).items():
            value = read(result)
            out[repeat] = np.nan if value is None else value
        return out

    def _within_budget(self, point: Point, budget: Mapping[str, Any]) -> np.ndarray:
        """The error at the last recorded round that ends within a share of a method's time."""
        rival = self.runs.get(Condition(budget["method"], point.data, point.noise), {})
        if not rival:
            return np.full(self.n_runs, np.nan)
        seconds = budget["share"] * float(np.mean([r["clock"][-1] for r in rival.values()]))

        def read(result: dict[str, Any]) -> float:
            at = max(0, int(np.searchsorted(result["clock"], seconds, side="right")) - 1)
            return self.scale * result["errors"][point.part][at]

        return self._each_run(point, read)

    def summary(self, found: dict[str, np.ndarray], best: bool) -> np.ndarray:
        """The runs of the best of several methods, or the spread of their means."""
        return summary_of_runs(found, best)

    def curve(self, method: str, data: str, noise: float, part: str) -> Curve | None:
        """Mean errors by recorded round, with the mean time until then."""
        runs = self.runs.get(Condition(method, data, noise))
        if not runs:
            return None
        records = list(runs.values())
        errors = self.scale * np.array([record["errors"][part] for record in records])
        clocks = [record["clock"] for record in records if record["clock"]]
        seconds = np.mean(clocks, axis=0).tolist() if clocks else []
        return Curve(records[0]["recorded"], errors.mean(axis=0).tolist(), seconds)

    def test_share(self, data: str) -> float:
        """Test rows over training rows; 0 where each run draws rows of its own."""
        choice = next(choice for choice in self.experiment.data if choice.id == data)
        if self.experiment.protocol_of(choice).kind == "generated":
            return 0.0
        for condition, runs in self.runs.items():
            if condition.data == data and runs:
                result = next(iter(runs.values()))
                return result["n_test"] / result["n_train"]
        return np.nan

    def reason(self, point: Point) -> str:
        """Reason why a point has no value."""
        condition = Condition(point.method, point.data, point.noise)
        return self.reasons.get(condition, "" if self.runs.get(condition) else NOT_RUN)

    def lacking(self) -> list[str]:
        """A line for each data set or method that was left out, and why."""
        lines: dict[str, None] = {}
        for condition, reason in self.reasons.items():
            lines[_lacking_line(self.experiment, condition, reason)] = None
        return list(lines)

    def warnings(self) -> list[str]:
        """First warnings of the methods, with the number of runs that raised them.

        Warnings that differ in their numbers alone are one.
        """
        found: dict[tuple[str, str], list[str]] = {}
        for condition, runs in self.runs.items():
            for message in (m for run in runs.values() for m in run["warnings"]):
                key = self.experiment.method(condition.method).label, NUMBER.sub("#", message)
                found.setdefault(key, []).append(message)
        return [f"{key[0]}, in {len(own)} runs: {own[0]}" for key, own in found.items()]


def summary_of_runs(found: dict[str, np.ndarray], best: bool) -> np.ndarray:
    """The values of the best method, or the spread of the means; unknown if any of them is."""
    means = {name: float(np.nanmean(v)) for name, v in found.items() if not np.isnan(v).all()}
    first = next(iter(found.values()))
    if len(means) < len(found):
        return np.full(len(first), np.nan)
    if best:
        return found[min(means, key=lambda name: means[name])]
    return np.full(len(first), max(means.values()) - min(means.values()))


N_DRAWS = 1000


class Draws:
    """Means that the runs could have had: of resamples of the runs, with replacement.

    All methods on a data set share a resample, as their runs are paired. Deviations from the mean
    are stretched so that their variance is that of Nadeau and Bengio (2003) for training sets that
    overlap, and by a quantile of Student's distribution over the normal one, as runs are few. Of a
    single run the test rows are the only chance that is known: errors vary as shares of so many
    rows do; a single value of another measure could be anything.
    """

    def __init__(self, results: Results):
        self.results, self.n_runs = results, N_DRAWS
        self._rng = np.random.default_rng(0)
        self._resamples: dict[str, np.ndarray] = {}

    def read(self, point: Point, quantity: Quantity) -> np.ndarray:
        values = self.results.read(point, quantity)
        known = np.flatnonzero(~np.isnan(values))
        if not len(known):
            return np.full(N_DRAWS, np.nan)
        mean = float(values[known].mean())
        if len(known) == 1:
            sd = 1e6 if quantity.chosen else self._chance_of_one(point, mean)
            return mean + sd * self._rng.normal(size=N_DRAWS)
        shared = self._resample(point.data)[:, known]
        weights = shared / np.maximum(shared.sum(axis=1, keepdims=True), 1e-300)
        return mean + self._stretch(point.data, len(known)) * (weights @ values[known] - mean)

    def summary(self, found: dict[str, np.ndarray], best: bool) -> np.ndarray:
        """The least, or the spread, of each draw."""
        every = np.stack(list(found.values()))
        return every.min(axis=0) if best else np.ptp(every, axis=0)

    def test_share(self, data: str) -> float:
        return self.results.test_share(data)

    def share_of_counts(self, holds: int, total: int, needed: int) -> float:
        """In which share of the draws a claim holds for enough problems, of so many."""
        return float(np.mean(self._rng.binomial(total, holds / total, N_DRAWS) >= needed))

    def _resample(self, data: str) -> np.ndarray:
        """How much each run of a data set weighs in each draw, (draws, runs).

        Weights of the Bayesian bootstrap: no draw is without the runs that a method has.
        """
        if data not in self._resamples:
            self._resamples[data] = self._rng.exponential(size=(N_DRAWS, self.results.n_runs))
        return self._resamples[data]

    def _stretch(self, data: str, n: int) -> float:
        """From the spread of resampled means to that of the corrected t-test."""
        from scipy.stats import norm, t

        share = self.results.test_share(data)
        fewness = t.ppf(0.975, n - 1) / norm.ppf(0.975)
        return float(fewness * np.sqrt((1 + n * share) * (n + 1) / (n - 1)))

    def _chance_of_one(self, point: Point, value: float) -> float:
        """The standard deviation of a single value, as far as its test rows tell."""
        results = self.results
        if results.experiment.measure != "error" or point.part != "test":
            return 1e6
        runs = results.runs[Condition(point.method, point.data, point.noise)]
        share, n = value / results.scale, next(iter(runs.values()))["n_test"]
        return results.scale * float(np.sqrt(max(share * (1 - share), 1 / n) / n))


@dataclass(frozen=True)
class Curve:
    """Mean error by round."""

    rounds: list[int]
    errors: list[float]
    seconds: list[float]


def _position(recorded: list[int], round_: int) -> int | None:
    """Where a round was recorded, if it was."""
    if round_ == LAST:
        return len(recorded) - 1
    return recorded.index(round_) if round_ in recorded else None


def _lacking_line(experiment: Experiment, condition: Condition, reason: str) -> str:
    data = next(choice for choice in experiment.data if choice.id == condition.data)
    method = experiment.method(condition.method)
    if reason == obstacle(method):
        return f"{method.label} was not run: {reason}."
    if data.missing == reason or not reason.startswith("failed"):
        return f"{data.label} was left out: {reason}."
    return f"{method.label} on {data.label} {reason}."


def obstacle(method: Method) -> str:
    """Why a method cannot be run in this version of the package."""
    from steadyboost.lab.experiments.work import why_unavailable

    return why_unavailable(method.estimator)


def obstacles(experiment: Experiment, skipped: Iterable[str]) -> dict[Condition, str]:
    """Conditions that cannot be run, known before anything runs."""
    left_out = {data.id: _why_left_out(data, skipped) for data in experiment.data}
    reasons = {}
    for method, data, rate in experiment.conditions():
        reason = left_out[data.id] or obstacle(method)
        if reason:
            reasons[Condition(method.id, data.id, rate)] = reason
    return reasons


def _why_left_out(data: DataChoice, skipped: Iterable[str]) -> str:
    from steadyboost.lab.experiments.problems import why_missing

    if data.missing:
        return data.missing
    if {data.id, data.set} & set(skipped):
        return "it was to be skipped"
    return why_missing(data.set)


def gather(
    experiment: Experiment,
    cache: Cache,
    reasons: Mapping[Condition, str],
    failures: Mapping[str, str],
) -> Results:
    """The results that are in the cache; what failed in this run says why."""
    results = Results(experiment, reasons=dict(reasons))
    for cell in cells_of(experiment):
        if cell.condition not in reasons:
            _collect(results, cell, cache, failures)
    return results


def _collect(results: Results, cell: Cell, cache: Cache, failures: Mapping[str, str]) -> None:
    result = cache.get(cell.key)
    if result is not None:
        results.runs.setdefault(cell.condition, {})[cell.repeat] = result
    elif cell.key in failures:
        results.reasons.setdefault(cell.condition, f"failed: {failures[cell.key]}")
