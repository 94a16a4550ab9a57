"""Verdicts: whether a claim of a paper holds for our numbers, and for the printed ones."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from steadyboost.lab.experiments.plan import Claim, Experiment, Point, Printed, Quantity
from steadyboost.lab.experiments.reading import label_of, point_at
from steadyboost.lab.experiments.results import NOT_RUN, Draws, Results, summary_of_runs
from steadyboost.lab.runs import LEVEL, corrected_t_test

UNDECIDED = "undecided"  # chance alone may have decided it
OPEN = ("data", "noise", "round", "part")
_SHARE = re.compile(r"^(\d+) of (\d+)$")


class Reader(Protocol):
    """Source of values: our runs, the paper, or means that our runs could have had."""

    @property
    def n_runs(self) -> int: ...
    def read(self, point: Point, quantity: Quantity) -> np.ndarray: ...
    def summary(self, found: dict[str, np.ndarray], best: bool) -> np.ndarray: ...
    def test_share(self, data: str) -> float: ...


@dataclass(frozen=True)
class PrintedReader:
    """The printed numbers, treated as one run."""

    numbers: dict[Point, Printed]
    n_runs: int = 1

    def read(self, point: Point, quantity: Quantity) -> np.ndarray:
        printed = self.numbers.get(point)
        unknown = printed is None or printed.mean is None or quantity.chosen or quantity.budget
        return np.array([np.nan if unknown or printed is None else printed.mean])

    def summary(self, found: dict[str, np.ndarray], best: bool) -> np.ndarray:
        return summary_of_runs(found, best)

    def test_share(self, data: str) -> float:
        return np.nan


@dataclass(frozen=True)
class Count:
    """Number of points at which a claim holds, those at which it fails, and unknown ones."""

    holds: int
    total: int
    fails: tuple[str, ...]
    unknown: int


@dataclass(frozen=True)
class ClaimVerdict:
    """``state`` is "reproduces", "does not", "undecided", "cannot be run" or "not run yet".

    ``confidence`` is the share of resamples of the runs in which the claim holds; None where it is
    about significance, which minds chance already. ``plain`` is the state by the t-test without
    the correction for resampled runs, where that differs.
    """

    claim: Claim
    state: str
    ours: Count
    needed: int
    printed: Count
    reason: str = ""
    quick: bool = False
    confidence: float | None = None
    plain: str = ""

    @property
    def sentence(self) -> str:
        """The verdict in words."""
        if self.state == NOT_RUN:
            return NOT_RUN
        if self.state == "cannot be run":
            return f"cannot be run: {self.reason}"
        state = f"{self.state} in the quick version" if self.quick else self.state
        state += ", as far as it was run" if self.ours.unknown else ""
        return f"{state}: holds in {self.ours.holds} of {self.ours.total}" + self._details()

    def _details(self) -> str:
        needed = f", needs {self.needed}" if self.needed < self.ours.total else ""
        but = f"; not for {_listed(self.ours.fails)}" if self.ours.fails else ""
        left = f"; {self.ours.unknown} could not be evaluated" if self.ours.unknown else ""
        own = self.printed
        theirs = f"; the paper's own numbers: {own.holds} of {own.total}" if own.total else ""
        if self.contradicts_itself:
            theirs += ", which is not what it says"
        chance = ""
        if self.confidence is not None and not self.is_certain:
            chance = f"; {self._chance()} of the resamples of the runs agree with the claim"
        plain = f"; by the plain t-test: {self.plain}" if self.plain else ""
        return needed + but + left + chance + plain + theirs

    @property
    def is_certain(self) -> bool:
        """Whether every resample says the same."""
        return self.confidence in (0.0, 1.0)

    def _chance(self) -> str:
        assert self.confidence is not None
        percent = min(99, max(1, round(100 * self.confidence)))
        return f"{percent} %"

    @property
    def contradicts_itself(self) -> bool:
        """Whether the claim fails on the numbers that the paper prints."""
        own = self.printed
        return own.total > 0 and own.holds < n_needed(self.claim.at_least, own.total)


def _listed(names: tuple[str, ...], most: int = 8) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def judge(claim: Claim, results: Results) -> ClaimVerdict:
    """The verdict on a claim, from our results."""
    experiment = results.experiment
    ours = count(claim, experiment, results)
    printed = count(claim, experiment, PrintedReader(dict(experiment.printed)))
    needed = n_needed(claim.at_least, ours.total)
    if not ours.total or _has_idle_method(claim, results):
        reason = claim.cannot or _why_not(claim, results)
        state = NOT_RUN if reason == NOT_RUN else "cannot be run"
        return ClaimVerdict(claim, state, ours, needed, printed, reason)
    quick = experiment.is_quick
    if is_tested(claim):
        state = _state(ours.holds >= needed)
        plain = _state(count(claim, experiment, PlainReader(results)).holds >= needed)
        other = "" if plain == state else plain
        return ClaimVerdict(claim, state, ours, needed, printed, quick=quick, plain=other)
    confidence = share_of_draws(claim, experiment, Draws(results), needed)
    state = (
        _state(confidence > 0.5) if confidence <= LEVEL or confidence >= 1 - LEVEL else UNDECIDED
    )
    return ClaimVerdict(claim, state, ours, needed, printed, quick=quick, confidence=confidence)


def _state(holds: bool) -> str:
    return "reproduces" if holds else "does not"


def is_tested(claim: Claim) -> bool:
    """Whether a claim is about significance, and so minds chance itself."""
    return claim.significant or claim.relation == "not_lower"


@dataclass(frozen=True)
class PlainReader:
    """Our runs as if they were independent, which is what the papers' t-tests took them for."""

    results: Results

    @property
    def n_runs(self) -> int:
        return self.results.n_runs

    def read(self, point: Point, quantity: Quantity) -> np.ndarray:
        return self.results.read(point, quantity)

    def summary(self, found: dict[str, np.ndarray], best: bool) -> np.ndarray:
        return self.results.summary(found, best)

    def test_share(self, data: str) -> float:
        return 0.0


def share_of_draws(claim: Claim, experiment: Experiment, draws: Draws, needed: int) -> float:
    """In which share of the draws a claim holds at as many points as it needs."""
    holding = np.zeros(draws.n_runs)
    for place in places(claim, experiment):
        if claim.count == "problems":
            own = count(claim, experiment, draws.results)
            return draws.share_of_counts(own.holds, own.total, needed)
        left = values_of(claim.left, experiment, draws, place)
        right = values_of(claim.right, experiment, draws, place)
        by_method = [[_each_holds(claim, a, b) for b in right.values()] for a in left.values()]
        groups = by_method if claim.each else [[one for own in by_method for one in own]]
        for group in groups:
            # A point that could not be evaluated is NaN in every draw, and does not count.
            holding += np.nan_to_num(np.min(group, axis=0))
    return float(np.mean(holding >= needed))


def _each_holds(claim: Claim, one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """1 for each draw in which the relation holds, 0 where not, NaN where it is unknown."""
    difference = one - other
    holds = {
        "lower": difference < -1e-12,
        "at_most": difference <= 1e-12,
        "higher": difference > 1e-12,
    }[claim.relation]
    return np.where(np.isnan(difference), np.nan, holds)


def _methods(claim: Claim) -> list[str]:
    sides = [claim.left, claim.right]
    return [m for side in [*sides, *(s.minus for s in sides if s.minus)] for m in side.method]


def _has_idle_method(claim: Claim, results: Results) -> bool:
    """Whether the claim is about a method that was not run."""
    ran = {condition.method for condition, runs in results.runs.items() if runs}
    return not ran.issuperset(_methods(claim))


def n_needed(at_least: str, total: int) -> int:
    """Number of points at which a claim must hold; a share if some points are missing."""
    if at_least == "all":
        return total
    if at_least == "most":
        return total // 2 + 1
    if at_least == "almost all":
        return math.ceil(0.75 * total)
    match = _SHARE.match(at_least)
    if match is None:
        raise ValueError(f"at_least={at_least!r} is none of all, most, almost all, '3 of 7'")
    return math.ceil(int(match[1]) / int(match[2]) * total - 1e-9)


def count(claim: Claim, experiment: Experiment, reader: Reader) -> Count:
    """Evaluate a claim at all of its points."""
    answers: list[tuple[str, bool | None]] = []
    for place in places(claim, experiment):
        label = " / ".join(label_of(experiment, key, value) for key, value in place.items())
        answers += _answers(claim, experiment, reader, place, label)
    known = [(label, answer) for label, answer in answers if answer is not None]
    fails = () if claim.count == "problems" else tuple(label for label, ok in known if not ok)
    return Count(sum(bool(ok) for _, ok in known), len(known), fails, len(answers) - len(known))


def places(claim: Claim, experiment: Experiment) -> list[dict[str, Any]]:
    """The points of a claim: all values of the dimensions that it leaves open."""
    quantities = [claim.left, claim.right]
    quantities += [quantity.minus for quantity in quantities if quantity.minus]
    pinned = {
        dimension
        for dimension in ("noise", "round", "part")
        for quantity in quantities
        if getattr(quantity, dimension) is not None
    }
    free = tuple(d for d in OPEN if d not in pinned and _is_open(claim, experiment, d))
    return [place for place in experiment.points(free) if _is_meant(claim, place)]


def _is_open(claim: Claim, experiment: Experiment, dimension: str) -> bool:
    """Whether a dimension has several values, or is named by the claim."""
    named = bool(getattr(claim, dimension, ()))
    return dimension == "data" or named or len(experiment.values(dimension)) > 1


def _is_meant(claim: Claim, place: dict[str, Any]) -> bool:
    wanted = {"data": claim.data, "noise": claim.noise, "round": claim.round}
    return all(not wanted.get(key) or value in wanted[key] for key, value in place.items())


def _answers(
    claim: Claim, experiment: Experiment, reader: Reader, place: dict[str, Any], label: str
) -> list[tuple[str, bool | None]]:
    left = values_of(claim.left, experiment, reader, place)
    right = values_of(claim.right, experiment, reader, place)
    if claim.count == "problems":
        (one,), (other,) = left.values(), right.values()
        return [(label, _holds(claim, *pair)) for pair in zip(one, other, strict=True)]
    share = reader.test_share(place["data"])
    by_method = {
        name: [_compare(claim, one, other, share) for other in right.values()]
        for name, one in left.items()
    }
    if claim.each:
        return [(f"{label} / {name}", _all(found)) for name, found in by_method.items()]
    return [(label, _all([answer for found in by_method.values() for answer in found]))]


def _all(answers: list[bool | None]) -> bool | None:
    """Conjunction; unknown if one of the answers is."""
    return None if any(answer is None for answer in answers) else all(answers)


def _holds(claim: Claim, one: float, other: float) -> bool | None:
    if math.isnan(one) or math.isnan(other):
        return None
    difference = one - other
    return {
        "lower": difference < -1e-12,
        "at_most": difference <= 1e-12,
        "higher": difference > 1e-12,
    }[claim.relation]


def _compare(claim: Claim, one: np.ndarray, other: np.ndarray, share: float) -> bool | None:
    """Whether the relation holds between means over the same runs."""
    differences = (one - other)[~np.isnan(one - other)]
    if not len(differences):
        return None
    if not is_tested(claim):
        return _holds(claim, float(differences.mean()), 0.0)
    if len(differences) < 2:
        return None
    statistic, p = corrected_t_test(differences, share)
    if claim.relation == "not_lower":
        return not (statistic < 0 and p < LEVEL)
    return p < LEVEL and bool(_holds(claim, statistic, 0.0))


def values_of(
    quantity: Quantity, experiment: Experiment, reader: Reader, place: dict[str, Any]
) -> dict[str, np.ndarray]:
    """Values of a quantity at a point, by method, in each run."""
    if quantity.value is not None or quantity.noise_level:
        value = 100 * place["noise"] if quantity.noise_level else quantity.value
        return {"": np.full(reader.n_runs, value)}
    pinned = {"noise": quantity.noise, "round": quantity.round, "part": quantity.part}
    given = {key: value for key, value in pinned.items() if value is not None}
    found = {
        method: reader.read(point_at(experiment, place, given, {"method": method}), quantity)
        for method in quantity.method
    }
    if quantity.best or quantity.spread:
        found = {"": reader.summary(found, quantity.best)}
    if quantity.minus is None:
        return found
    other = values_of(quantity.minus, experiment, reader, place)
    return {name: values - other.get(name, _only(other)) for name, values in found.items()}


def _only(found: dict[str, np.ndarray]) -> np.ndarray:
    return next(iter(found.values()))


def _why_not(claim: Claim, results: Results) -> str:
    """Why no point of the claim could be evaluated."""
    experiment, lacks = results.experiment, []
    for place in places(claim, experiment):
        points = [point_at(experiment, place, {"method": method}) for method in _methods(claim)]
        # That a cell cannot be run is a better reason than that it has not been run yet.
        reasons = sorted(filter(None, map(results.reason, points)), key=NOT_RUN.__eq__)
        lacks.append(reasons[0] if reasons else "")
    if lacks and all(lacks):
        return sorted(lacks, key=NOT_RUN.__eq__)[0]
    if experiment.is_quick:
        return "the quick version leaves out what it needs"
    return "it needs more than one run to test significance"
