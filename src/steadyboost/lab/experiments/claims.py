"""Does a claim of the paper hold on our numbers, and on the paper's own?"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from steadyboost.lab.experiments.plan import Claim, Experiment, Point, Printed, Quantity
from steadyboost.lab.experiments.printed import label_of, point_at
from steadyboost.lab.experiments.results import NOT_RUN, Results
from steadyboost.lab.experiments.statistics import LEVEL, corrected_t_test

OPEN = ("data", "noise", "round", "part")
_SHARE = re.compile(r"^(\d+) of (\d+)$")


class Reader(Protocol):
    """Where values come from: our runs, or the paper."""

    @property
    def n_runs(self) -> int: ...
    def read(self, point: Point, quantity: Quantity) -> np.ndarray: ...
    def test_share(self, data: str) -> float: ...


@dataclass(frozen=True)
class PrintedReader:
    """The paper's numbers, as if they were one run."""

    numbers: dict[Point, Printed]
    n_runs: int = 1

    def read(self, point: Point, quantity: Quantity) -> np.ndarray:
        printed = self.numbers.get(point)
        unknown = printed is None or printed.mean is None or quantity.chosen or quantity.budget
        return np.array([np.nan if unknown or printed is None else printed.mean])

    def test_share(self, data: str) -> float:
        return np.nan


@dataclass(frozen=True)
class Count:
    """On how many points something holds; where it does not, and where that is unknown."""

    holds: int
    total: int
    fails: tuple[str, ...]
    unknown: int


@dataclass(frozen=True)
class Verdict:
    """``state`` is "reproduces", "does not", "cannot be run" or "not run yet"."""

    claim: Claim
    state: str
    ours: Count
    needed: int
    printed: Count
    reason: str = ""
    quick: bool = False

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
        left = f"; {self.ours.unknown} could not be judged" if self.ours.unknown else ""
        own = self.printed
        theirs = f"; the paper's own numbers: {own.holds} of {own.total}" if own.total else ""
        return needed + but + left + theirs


def _listed(names: tuple[str, ...], most: int = 8) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def judge(claim: Claim, results: Results) -> Verdict:
    """What our numbers say of a claim."""
    experiment = results.experiment
    ours = count(claim, experiment, results)
    printed = count(claim, experiment, PrintedReader(dict(experiment.printed)))
    needed = n_needed(claim.at_least, ours.total)
    if not ours.total or _has_idle_method(claim, results):
        reason = claim.cannot or _why_not(claim, results)
        state = NOT_RUN if reason == NOT_RUN else "cannot be run"
        return Verdict(claim, state, ours, needed, printed, reason)
    state = "reproduces" if ours.holds >= needed else "does not"
    return Verdict(claim, state, ours, needed, printed, quick=experiment.is_quick)


def _methods(claim: Claim) -> list[str]:
    sides = [claim.left, claim.right]
    return [m for side in [*sides, *(s.minus for s in sides if s.minus)] for m in side.method]


def _has_idle_method(claim: Claim, results: Results) -> bool:
    """Of a claim about a method that was never run, nothing is known."""
    ran = {condition.method for condition, runs in results.runs.items() if runs}
    return not ran.issuperset(_methods(claim))


def n_needed(at_least: str, total: int) -> int:
    """How many of the points must hold; a share is kept where points are missing."""
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
    """Go through the points of a claim."""
    answers: list[tuple[str, bool | None]] = []
    for place in places(claim, experiment):
        label = " / ".join(label_of(experiment, key, value) for key, value in place.items())
        answers += _answers(claim, experiment, reader, place, label)
    known = [(label, answer) for label, answer in answers if answer is not None]
    fails = () if claim.count == "problems" else tuple(label for label, ok in known if not ok)
    return Count(sum(bool(ok) for _, ok in known), len(known), fails, len(answers) - len(known))


def places(claim: Claim, experiment: Experiment) -> list[dict[str, Any]]:
    """What the claim leaves open, within what it is restricted to."""
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
    """Of one value alone there is nothing to say, unless the claim names it."""
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
    """Unknown if one is: to count only what fails without it would be unfair."""
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
    tested = claim.significant or claim.relation == "not_lower"
    if not tested:
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
    """A quantity at a place, by method, in each run."""
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
        found = _summary(found, quantity.best)
    if quantity.minus is None:
        return found
    other = values_of(quantity.minus, experiment, reader, place)
    return {name: values - other.get(name, _only(other)) for name, values in found.items()}


def _only(found: dict[str, np.ndarray]) -> np.ndarray:
    return next(iter(found.values()))


def _summary(found: dict[str, np.ndarray], best: bool) -> dict[str, np.ndarray]:
    """The values of the best method, or the spread of the means; unknown if any of them is."""
    means = {name: float(np.nanmean(v)) for name, v in found.items() if not np.isnan(v).all()}
    if len(means) < len(found):
        return {"": np.full(len(_only(found)), np.nan)}
    if best:
        return {"": found[min(means, key=lambda name: means[name])]}
    spread = max(means.values()) - min(means.values())
    return {"": np.full(len(_only(found)), spread)}


def _why_not(claim: Claim, results: Results) -> str:
    """Why no point of the claim could be judged: the first thing that one of them lacks."""
    experiment, lacks = results.experiment, []
    for place in places(claim, experiment):
        points = [point_at(experiment, place, {"method": method}) for method in _methods(claim)]
        # What cannot be run weighs more than what could be, and has not been.
        reasons = sorted(filter(None, map(results.reason, points)), key=NOT_RUN.__eq__)
        lacks.append(reasons[0] if reasons else "")
    if lacks and all(lacks):
        return sorted(lacks, key=NOT_RUN.__eq__)[0]
    if experiment.is_quick:
        return "the quick version leaves out what it needs"
    return "it needs more than one run to test significance"
