"""The demo: AdaBoost and its robust relatives on digits, some of whose labels are wrong."""

import math
import re
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from rich.table import Table
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.ensemble import AdaBoostClassifier
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import get_tags

import steadyboost
from steadyboost.ensemble.callbacks import Callback
from steadyboost.ensemble.estimator import BoostingClassifier
from steadyboost.learners.tree import Tree
from steadyboost.noise import corrupt
from steadyboost.plots.svg import Line, error_chart

BASELINE = "scikit-learn AdaBoost"
DEPTH = 3
# Where the paper's name is no name in Python.
NAMES = {"ArcX4": "Arc-x4", "GDMCBoost": "GD-MCBoost"}
Tell = Callable[[str, int], None]  # what is going on, and how many rounds are newly done


@dataclass(frozen=True)
class Digits:
    """Half of the digits to train on, with wrong labels among them; the other half is clean."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray

    @classmethod
    def load(cls, noise: float, seed: int) -> "Digits":
        X, y = load_digits(return_X_y=True)
        X, X_test, y, y_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=seed)
        return cls(X, corrupt(y, noise, random_state=seed)[0], X_test, y_test)


@dataclass(frozen=True)
class Result:
    """What one method did: errors in percent by round, and which test rows it got wrong."""

    name: str
    errors: list[float]
    wrong: np.ndarray
    seconds: float
    messages: list[str] = field(default_factory=list)

    @property
    def rounds(self) -> int:
        return len(self.errors)

    @property
    def error(self) -> float:
        return self.errors[-1]

    def speed_against(self, other: "Result") -> float:
        """How many times as fast per round, as methods may stop at different rounds."""
        return (other.seconds / other.rounds) / (self.seconds / self.rounds)


class Tick(Callback):
    """Tell of each round as it is done."""

    def __init__(self, tell: Tell, name: str):
        self.tell, self.name, self.told = tell, name, 0

    def on_round(self, run: Any) -> None:
        self.tell(self.name, len(run.stages) - self.told)  # the last may have been dropped
        self.told = len(run.stages)


class StopAtTwo(Callback):
    """Two rounds run all code that more of them would."""

    def on_round(self, run: Any) -> bool:
        return len(run.stages) == 2


def boosters() -> dict[str, type[BoostingClassifier]]:
    """All public boosters that take many classes, by the names their papers give them."""
    public = [getattr(steadyboost, name) for name in steadyboost.__all__]
    return {
        display_name(cls): cls
        for cls in public
        if isinstance(cls, type)
        and issubclass(cls, BoostingClassifier)
        and cls is not BoostingClassifier
        and get_tags(cls()).classifier_tags.multi_class
    }


def display_name(cls: type) -> str:
    """``AdaBoostM1Classifier`` is called AdaBoost.M1."""
    name = cls.__name__.removesuffix("Classifier")
    return NAMES.get(name, re.sub(r"^AdaBoost(?=[A-Z])", "AdaBoost.", name))


def run(rounds: int, noise: float, seed: int, tell: Tell) -> Iterator[Result]:
    """Results of scikit-learn's AdaBoost, then of each of our boosters."""
    digits = Digits.load(noise, seed)
    tell(BASELINE, 0)
    tree = DecisionTreeClassifier(max_depth=DEPTH)
    theirs = AdaBoostClassifier(tree, n_estimators=rounds, random_state=seed)
    yield measure(BASELINE, theirs, digits)
    tell(BASELINE, rounds)
    for name, cls in boosters().items():
        ours = made(cls, rounds, seed)
        tell(f"{name}: compiling, on first use only", 0)
        warm_up(ours, digits)
        tell(name, 0)
        result = measure(name, ours.set_params(callbacks=[Tick(tell, name)]), digits)
        tell(name, rounds - result.rounds)
        yield result


def made(cls: type[BoostingClassifier], rounds: int, seed: int) -> BoostingClassifier:
    """A booster over trees of the demo's depth, if it takes a learner."""
    learner = {} if "estimator" in cls.does_without else {"estimator": Tree(max_depth=DEPTH)}
    return cls(**learner, n_estimators=rounds, random_state=seed)


@contextmanager
def compiling_ahead(noise: float, seed: int) -> Iterator[None]:
    """Let a second process compile meanwhile, in another order.

    Compiled code is kept on disk, so that what one process has compiled the other only loads; one
    process cannot compile two functions at once.
    """
    code = f"from steadyboost.lab.demo import warm_all; warm_all({noise!r}, {seed!r})"
    command, silent = [sys.executable, "-c", code], subprocess.DEVNULL
    with subprocess.Popen(command, stdout=silent, stderr=silent) as process:
        try:
            yield
        finally:
            process.kill()


def warm_all(noise: float, seed: int) -> None:
    """Warm up all boosters, the last first, but those before all that share least with the others.

    These grow trees of their own.
    """
    digits = Digits.load(noise, seed)
    backwards = reversed(boosters().values())
    for cls in sorted(backwards, key=lambda cls: "estimator" not in cls.does_without):
        warm_up(made(cls, 2, seed), digits)


def warm_up(model: BoostingClassifier, digits: Digits) -> None:
    """Compile what the booster needs, so that its time is that of training alone."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        clone(model).set_params(callbacks=[StopAtTwo()]).fit(digits.X, digits.y)


def measure(name: str, model: Any, digits: Digits) -> Result:
    """Fit and test a model; what it warns of is kept for the reader, not shown over the bar."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        start = time.perf_counter()
        model.fit(digits.X, digits.y)
        seconds = time.perf_counter() - start
        wrong = [labels != digits.y_test for labels in model.staged_predict(digits.X_test)]
    errors = [100 * float(row.mean()) for row in wrong]
    return Result(name, errors, wrong[-1], seconds, [str(w.message) for w in caught])


def table(results: list[Result]) -> Table:
    """The results, the lowest errors in bold."""
    baseline, lowest = results[0], min(result.error for result in results)
    grid = Table(caption="* lowest error; speed: training time per round against scikit-learn's")
    grid.add_column("method")
    for title in ("rounds", "clean-test error", "fit time", "speed"):
        grid.add_column(title, justify="right")
    for result in results:
        best = result.error == lowest
        grid.add_row(
            result.name + " *" * best,
            str(result.rounds),
            f"{result.error:.1f} %",
            f"{result.seconds:.2f} s",
            f"{result.speed_against(baseline):.1f}x",
            style="bold green" if best else None,
        )
    return grid


def conclusions(results: list[Result], rounds: int) -> list[str]:
    """Sentences that the measured numbers bear out, and no others."""
    baseline, *ours = results
    best = min(ours, key=lambda result: result.error)
    gain, margin = paired_difference(baseline.wrong, best.wrong)
    verdict = "more" if abs(gain) > margin else "no more"
    sentences = [
        f"Of our {len(ours)} methods {best.name} makes the fewest errors on clean labels: "
        f"{best.error:.1f} %, against {baseline.error:.1f} % for {BASELINE}.",
        f"On the same {len(best.wrong)} test rows it is right {abs(gain):.1f} ± {margin:.1f} "
        f"points {'more' if gain >= 0 else 'less'} often (95 % interval): {verdict} than the "
        "choice of test rows explains.",
    ]
    for result in results:
        sentences += remarks(result, rounds)
    return [*sentences, "This is one split and one draw of the noise: try other values of --seed."]


def remarks(result: Result, rounds: int) -> list[str]:
    """That a method stopped early, and what it warned of."""
    stopped = [f"stopped at round {result.rounds}."] if result.rounds < rounds else []
    return [f"{result.name}: {words}" for words in (*stopped, *dict.fromkeys(result.messages))]


def paired_difference(wrong: np.ndarray, other: np.ndarray) -> tuple[float, float]:
    """How many points the other is better, and half the width of its 95 % interval."""
    points = 100.0 * (wrong.astype(float) - other)
    return float(points.mean()), float(1.96 * points.std(ddof=1) / math.sqrt(len(points)))


def picture(results: list[Result], rounds: int, noise: float, seed: int) -> str:
    """The clean-test error by round, as SVG text."""
    lowest = min(result.error for result in results)
    lines = [
        Line(r.name, r.errors, baseline=r is results[0], bold=r.error == lowest) for r in results
    ]
    return error_chart(
        lines,
        f"Clean-test error when {100 * noise:g} % of the training labels are wrong",
        f"Handwritten digits, {len(results[0].wrong)} test rows, trees of depth {DEPTH}; "
        f"steadyboost demo --rounds {rounds} --noise {noise:g} --seed {seed}",
    )
