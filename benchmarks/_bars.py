"""The bars that a release must clear: ratios in one run, and seconds of a start."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from _models import OURS
from _results import Results, ratio, typical
from _sets import SETS

ADABOOST_ROUND = {"letter": 35, "poker": 100, "synthetic": 400, "small": 3}
LIGHTGBM_TREE = {"letter": 0.8, "poker": 0.5, "synthetic": 0.6}
TWO_THREADS = {"synthetic": 1.3, "large": 1.3}
TWO_THREADS_ANYWHERE = 0.95
START_SECONDS = {
    "compile": ("first SAMME fit ever: compile, seconds of processor time", 15),
    "compile SteadyBoost": ("first SteadyBoost fit ever: compile, seconds of processor time", 25),
    "first fit of a process": ("first fit of a process: seconds", 1),
    "import steadyboost": ("import steadyboost: seconds", 1),
}
OUR_IMPORT, BASE_IMPORT = "import SAMMEClassifier", "import scikit-learn's AdaBoost"


@dataclass(frozen=True)
class Bar:
    """A figure and the limit on its right side; None where it was not measured."""

    what: str
    measured: float | None
    limit: float
    at_least: bool

    @property
    def passed(self) -> bool | None:
        if self.measured is None:
            return None
        return self.measured >= self.limit if self.at_least else self.measured <= self.limit

    @property
    def verdict(self) -> str:
        return {True: "PASS", False: "FAIL", None: "not measured"}[self.passed]

    @property
    def wanted(self) -> str:
        return f"{'≥' if self.at_least else '≤'} {self.limit:g}"

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "verdict": self.verdict}


def all_bars(results: Results) -> list[Bar]:
    """The bars of the data sets that were measured, and of the start."""
    return [
        *_adaboost_bars(results),
        *_lightgbm_bars(results),
        *_thread_bars(results),
        *_prediction_bars(results),
        *_memory_bars(results),
        *_start_bars(results),
    ]


def fit_ratio(
    results: Results, name: str, above: tuple[str, int], below: tuple[str, int], figure: str
) -> float | None:
    """Ratio of a figure of two (model, threads) on a data set."""
    fits = [results.fits_of(name, *which) for which in (above, below)]
    if None in fits:
        return None
    return ratio(*(getattr(record, figure) for record in fits))


def prediction_ratio(results: Results, name: str, model: str, threads: int) -> float | None:
    """Our rows per second over another model's."""
    ours = results.predictions_of(name, OURS, threads)
    theirs = results.predictions_of(name, model, threads)
    if ours is None or theirs is None:
        return None
    return ratio(ours.rows_per_second, theirs.rows_per_second)


def _adaboost_bars(results: Results) -> Iterator[Bar]:
    for name in _measured(results, ADABOOST_ROUND):
        measured = fit_ratio(results, name, ("adaboost", 1), (OURS, 1), "per_round")
        what = f"{SETS[name].title}: round of scikit-learn AdaBoost over ours"
        yield Bar(what, measured, ADABOOST_ROUND[name], at_least=True)


def _lightgbm_bars(results: Results) -> Iterator[Bar]:
    for name in _measured(results, LIGHTGBM_TREE):
        measured = fit_ratio(results, name, (OURS, 1), ("lightgbm", 1), "per_tree")
        what = f"{SETS[name].title}: our tree over LightGBM's"
        yield Bar(what, measured, LIGHTGBM_TREE[name], at_least=False)


def _thread_bars(results: Results) -> Iterator[Bar]:
    for name in results.shapes:
        measured = fit_ratio(results, name, (OURS, 1), (OURS, 2), "per_round")
        what = f"{SETS[name].title}: our round with 1 thread over 2 threads"
        yield Bar(what, measured, TWO_THREADS.get(name, TWO_THREADS_ANYWHERE), at_least=True)


def _prediction_bars(results: Results) -> Iterator[Bar]:
    for name in results.shapes:
        what = f"{SETS[name].title}: our rows/s in prediction over XGBoost's"
        yield Bar(what, prediction_ratio(results, name, "xgboost", 1), 1, at_least=True)


def _memory_bars(results: Results) -> Iterator[Bar]:
    for name in results.shapes:
        ours, theirs = (results.fits_of(name, model, 1) for model in (OURS, "lightgbm"))
        measured = None
        if ours and theirs and ours.memory and theirs.memory:
            measured = ours.memory / theirs.memory
        what = f"{SETS[name].title}: our peak memory over the data, over LightGBM's"
        yield Bar(what, measured, 1, at_least=False)


def _start_bars(results: Results) -> Iterator[Bar]:
    for key, (what, limit) in START_SECONDS.items():
        yield Bar(what, typical(results.startup.get(key, [])), limit, at_least=False)
    # `import steadyboost` defers nearly everything, so that its bar alone would say little.
    ours, base = (results.startup.get(key, []) for key in (OUR_IMPORT, BASE_IMPORT))
    own = typical([a - b for a, b in zip(ours, base, strict=False)])
    what = "import SAMMEClassifier, less scikit-learn's AdaBoost: seconds"
    yield Bar(what, own, START_SECONDS["import steadyboost"][1], at_least=False)


def _measured(results: Results, limits: Mapping[str, float]) -> list[str]:
    return [name for name in limits if name in results.shapes]
