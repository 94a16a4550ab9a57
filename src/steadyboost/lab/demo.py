"""The demo: AdaBoost, other ensembles and robust boosters on digits with wrong labels."""

import math
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from rich.table import Table
from sklearn.datasets import load_digits
from sklearn.ensemble import AdaBoostClassifier, RandomForestClassifier
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import get_tags

import steadyboost
from steadyboost.ensemble.callbacks import Callback
from steadyboost.ensemble.estimator import BoostingClassifier
from steadyboost.lab.runs import compile_kernels, fit_timed, recorded_warnings
from steadyboost.learners.tree import Tree
from steadyboost.noise import corrupt
from steadyboost.pages.svg import Line, error_chart

# Our own booster, and two that are robust to label noise in different ways: smoothed weights and a
# bounded loss. More curves could not be told apart.
FIRST = ("SteadyBoost", "MSmoothBoost", "SoftmaxBoost")
DEPTH = 3
COMPILING, TRAINING = "compiling, on first use only", "training"
# Names of papers that are not identifiers.
NAMES = {"ArcX4": "Arc-x4", "GDMCBoost": "GD-MCBoost"}
Tell = Callable[[str, str, int], None]  # a method, what it is doing, and rounds newly done


@dataclass(frozen=True)
class Digits:
    """Digits: one half with noisy labels for training, one half with clean labels for testing."""

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
    """Test errors of one method, in percent by round, and which test rows are wrong at the end."""

    name: str
    errors: list[float]
    wrong: np.ndarray
    seconds: float
    messages: list[str] = field(default_factory=list)
    is_ours: bool = True

    @property
    def rounds(self) -> int:
        return len(self.errors)

    @property
    def error(self) -> float:
        return self.errors[-1]

    def speed_against(self, other: "Result") -> float:
        """How many times as fast per round, as methods may stop at different rounds."""
        return (other.seconds / other.rounds) / (self.seconds / self.rounds)


@dataclass(frozen=True)
class DemoMethod:
    """A name, a constructor from a number of rounds and a seed, and staged predictions."""

    name: str
    build: Callable[[int, int], Any]
    staged_predict: Callable[[Any, np.ndarray], Iterable[np.ndarray]]
    is_ours: bool = False


class Tick(Callback):
    """Report each finished round."""

    def __init__(self, tell: Tell, name: str):
        self.tell, self.name, self.told = tell, name, 0

    def on_round(self, run: Any) -> None:
        self.tell(
            self.name, TRAINING, len(run.stages) - self.told
        )  # the last may have been dropped
        self.told = len(run.stages)


def boosters() -> dict[str, type[BoostingClassifier]]:
    """All public multiclass boosters, by the names in their papers."""
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


def methods(all_boosters: bool = False) -> list[DemoMethod]:
    """Ensembles of other libraries, then our boosters: those in ``FIRST``, or all."""
    others = [
        DemoMethod("scikit-learn AdaBoost", adaboost, AdaBoostClassifier.staged_predict),
        DemoMethod("random forest", random_forest, forest_stages),
    ]
    if has_lightgbm():
        others.append(DemoMethod("LightGBM", lightgbm, lightgbm_stages))
    known = boosters()
    names = [*FIRST, *(name for name in known if name not in FIRST)] if all_boosters else FIRST
    return [*others, *(our_method(name, known[name]) for name in names)]


def adaboost(rounds: int, seed: int) -> AdaBoostClassifier:
    tree = DecisionTreeClassifier(max_depth=DEPTH)
    return AdaBoostClassifier(tree, n_estimators=rounds, random_state=seed)


def random_forest(rounds: int, seed: int) -> RandomForestClassifier:
    return RandomForestClassifier(n_estimators=rounds, random_state=seed)


def forest_stages(model: RandomForestClassifier, X: np.ndarray) -> Iterator[np.ndarray]:
    """Predictions of the first tree, of the first two, and so on."""
    total = np.zeros((len(X), len(model.classes_)))
    for tree in model.estimators_:
        total += tree.predict_proba(X)
        yield model.classes_[total.argmax(axis=1)]


def has_lightgbm() -> bool:
    try:
        import lightgbm  # noqa: F401
    except (ImportError, OSError):  # OSError: it is there, but a library that it needs is not
        return False
    return True


def lightgbm(rounds: int, seed: int) -> Any:
    from lightgbm import LGBMClassifier

    # One thread, as the others have.
    return LGBMClassifier(n_estimators=rounds, n_jobs=1, random_state=seed, verbosity=-1)


def lightgbm_stages(model: Any, X: np.ndarray) -> Iterator[np.ndarray]:
    for rounds in range(1, model.booster_.current_iteration() + 1):
        shares = model.booster_.predict(X, num_iteration=rounds)
        yield model.classes_[shares.argmax(axis=1)]


def our_method(name: str, cls: type[BoostingClassifier]) -> DemoMethod:
    return DemoMethod(name, lambda rounds, seed: made(cls, rounds, seed), cls.staged_predict, True)


def run(
    chosen: Sequence[DemoMethod], rounds: int, noise: float, seed: int, tell: Tell
) -> Iterator[Result]:
    """Train and test the methods, one after the other."""
    digits = Digits.load(noise, seed)
    for method in chosen:
        model = method.build(rounds, seed)
        if method.is_ours:
            tell(method.name, COMPILING, 0)
            compile_kernels(model, digits.X, digits.y)
            model.set_params(callbacks=[Tick(tell, method.name)])
        tell(method.name, TRAINING, 0)
        result = measure(method, model, digits)
        # Our boosters have told of the rounds that they did; some do fewer than they may.
        tell(method.name, TRAINING, rounds - result.rounds if method.is_ours else rounds)
        yield result


def made(cls: type[BoostingClassifier], rounds: int, seed: int) -> BoostingClassifier:
    """A booster of trees of the demo's depth, if it takes a weak learner."""
    learner = {} if "estimator" in cls.does_without else {"estimator": Tree(max_depth=DEPTH)}
    return cls(**learner, n_estimators=rounds, random_state=seed)


@contextmanager
def compiling_ahead(all_boosters: bool, noise: float, seed: int) -> Iterator[None]:
    """Compile in a second process at the same time, in the opposite order.

    Kernels are cached on disk, so that one process loads what the other has compiled; one process
    cannot compile two functions at once.
    """
    code = (
        f"from steadyboost.lab.demo import warm_all; warm_all({all_boosters}, {noise!r}, {seed!r})"
    )
    command, silent = [sys.executable, "-c", code], subprocess.DEVNULL
    with subprocess.Popen(command, stdout=silent, stderr=silent) as process:
        try:
            yield
        finally:
            process.kill()


def warm_all(all_boosters: bool, noise: float, seed: int) -> None:
    """Compile what our boosters need, beginning with the last."""
    digits = Digits.load(noise, seed)
    for method in reversed(methods(all_boosters)):
        if method.is_ours:
            compile_kernels(method.build(2, seed), digits.X, digits.y)


def measure(method: DemoMethod, model: Any, digits: Digits) -> Result:
    """Fit and test a model; warnings are recorded, so that they do not break the progress bar."""
    with recorded_warnings() as messages:
        seconds = fit_timed(model, digits.X, digits.y)
        stages = method.staged_predict(model, digits.X_test)
        wrong = [labels != digits.y_test for labels in stages]
    errors = [100 * float(row.mean()) for row in wrong]
    return Result(method.name, errors, wrong[-1], seconds, messages, method.is_ours)


def table(results: list[Result]) -> Table:
    """The results, the lowest errors in bold."""
    baseline, lowest = results[0], min(result.error for result in results)
    grid = Table(caption="* lowest error; speed: rounds per second, relative to the first line")
    grid.add_column("method")
    for title in ("rounds", "test error", "training time", "speed"):
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
    """Confidence intervals for our first booster against other libraries, and remarks.

    It is the first booster, not the best one, whose interval would have to allow for selection.
    """
    first = next(result for result in results if result.is_ours)
    sentences = [comparison(first, result) for result in results if not result.is_ours]
    for result in results:
        sentences += remarks(result, rounds)
    return [
        *sentences,
        "The intervals allow for the choice of the test rows only; other values of --seed draw "
        "another split and other wrong labels.",
    ]


def comparison(ours: Result, other: Result) -> str:
    """The difference of two test errors, with a confidence interval."""
    difference, half_width = paired_difference(ours.wrong, other.wrong)
    low, high = difference - half_width, difference + half_width
    return (
        f"Test error, {ours.name} minus {other.name}: {difference:+.1f} percentage points "
        f"(95 % confidence interval {low:+.1f} to {high:+.1f})."
    )


def remarks(result: Result, rounds: int) -> list[str]:
    """That a method stopped early, and what it warned of."""
    stopped = [f"stopped at round {result.rounds}."] if result.rounds < rounds else []
    return [f"{result.name}: {words}" for words in (*stopped, *result.messages)]


def paired_difference(wrong: np.ndarray, other: np.ndarray) -> tuple[float, float]:
    """The difference of two errors on the same rows, and half the width of its 95 % interval."""
    points = 100.0 * (wrong.astype(float) - other)
    return float(points.mean()), float(1.96 * points.std(ddof=1) / math.sqrt(len(points)))


def picture(results: list[Result], rounds: int, noise: float, seed: int) -> str:
    """The test error by round, as SVG text."""
    lowest = min(result.error for result in results)
    lines = [
        Line(r.name, r.errors, baseline=r is results[0], bold=r.error == lowest) for r in results
    ]
    all_boosters = " --all" if sum(r.is_ours for r in results) > len(FIRST) else ""
    return error_chart(
        lines,
        f"Test error when {100 * noise:g} % of the training labels are wrong",
        f"Handwritten digits, {len(results[0].wrong)} test rows with correct labels; "
        f"steadyboost demo{all_boosters} --rounds {rounds} --noise {noise:g} --seed {seed}",
    )
