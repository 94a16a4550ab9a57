"""Are the models of two versions the same, bit for bit? ``python benchmarks/same_models.py``

Fits every booster on ten small problems and on three larger ones, and other weak learners and
options on two of the small ones, each with one thread and with two. It prints a fingerprint of each
model: hashes of the class probabilities of the training rows, of the estimators' weights and
errors, and of the importances of the features. To compare two versions of the package, run one with
``--write FILE`` and the other with ``--compare FILE``: it lists what differs, with the largest
difference of the probabilities, and exits with 1. Both need the same machine and the same versions
of the libraries.

Only public names are used, so that this file runs with old and new versions of the package.
"""

import argparse
import json
import platform
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numba
import numpy as np
import scipy
import scipy.sparse as sp
import sklearn
from sklearn.datasets import (
    load_breast_cancer,
    load_digits,
    load_iris,
    load_wine,
    make_classification,
)
from sklearn.tree import DecisionTreeClassifier

import steadyboost

Arrays = dict[str, np.ndarray]
PROBABILITIES = "probabilities"
ATTRIBUTES = (
    "estimator_weights_",
    "estimator_errors_",
    "feature_importances_",
    "label_scores_",  # of SteadyBoostClassifier alone
)


@dataclass(frozen=True)
class Model:
    """A booster by its public name, with parameters other than the number of rounds."""

    booster: str
    params: dict[str, Any] = field(default_factory=dict)


def short(name: str) -> str:
    return name.removesuffix("Classifier")


BOOSTERS = {
    short(name): Model(name)
    for name in sorted(steadyboost.__all__)
    if name.endswith("Classifier") and name != "BoostingClassifier"
}
BEST_FIRST = steadyboost.Tree(None, max_leaf_nodes=12, max_features=0.6, max_samples=0.8)
LEARNERS = {
    "stumps": steadyboost.Stump(criterion="entropy"),
    "best-first trees": BEST_FIRST,
    "C4.5": steadyboost.C45(),
    "decision rules": steadyboost.DecisionRule(),
    "attribute tests": steadyboost.AttributeTest(),
    "scikit-learn's trees": DecisionTreeClassifier(max_depth=3),
}
VARIANTS = {
    **{
        f"SAMME, {name}": Model("SAMMEClassifier", {"estimator": e}) for name, e in LEARNERS.items()
    },
    "SAMME, resampled": Model("SAMMEClassifier", {"resample": True}),
    "SAMME, early stopping": Model("SAMMEClassifier", {"early_stopping": True}),
    "SAMME, 16 bins": Model("SAMMEClassifier", {"max_bins": 16}),
    "AdaBoostM2, C4.5": Model("AdaBoostM2Classifier", {"estimator": steadyboost.C45()}),
    "AdaBoostMH, one tree": Model("AdaBoostMHClassifier", {"tree": "shared"}),
    "AdaBoostOC, maximum cut": Model("AdaBoostOCClassifier", {"coloring": "maxcut"}),
    "Bagging, best-first trees": Model("BaggingClassifier", {"estimator": BEST_FIRST}),
    "GDMCBoost, vectors": Model("GDMCBoostClassifier", {"leaves": "vector"}),
    "SoftmaxBoost, all pairs": Model("SoftmaxBoostClassifier", {"n_samples": "all"}),
}


@dataclass(frozen=True)
class Problem:
    """Rows, labels, and what else is passed to the booster or to its ``fit``."""

    X: Any
    y: np.ndarray
    sample_weight: np.ndarray | None = None
    params: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Case:
    """A problem, and the models that are fitted to it for so many rounds."""

    make: Callable[[], Problem]
    models: dict[str, Model]
    n_rounds: int


def bundled(load: Callable[..., Any], flips: float = 0.0) -> Problem:
    """One of scikit-learn's data sets, at most 600 rows of it."""
    X, y = load(return_X_y=True)
    return Problem(X[:600], flipped(y[:600], flips))


def flipped(y: np.ndarray, rate: float) -> np.ndarray:
    """The labels, some of them replaced by a label drawn at random."""
    rng = np.random.default_rng(7)
    return np.where(rng.random(len(y)) < rate, rng.permutation(y), y)


def made(n: int, n_features: int, k: int, n_informative: int, **options: Any) -> Problem:
    """A problem of scikit-learn's generator."""
    X, y = make_classification(
        n,
        n_features,
        n_informative=n_informative,
        n_redundant=0,
        n_classes=k,
        n_clusters_per_class=1,
        random_state=0,
        **options,
    )
    return Problem(X, y)


def mixed_table() -> Problem:
    """Numbers with missing values, and two columns of categories, one of them of many."""
    rng = np.random.default_rng(1)
    n = 500
    numbers, few, many = rng.normal(size=(n, 4)), rng.integers(5, size=n), rng.integers(40, size=n)
    y = (numbers[:, 0] > 0).astype(int) + (few % 2) * (numbers[:, 1] > 0) + (many % 3 == 0)
    numbers[rng.random(numbers.shape) < 0.15] = np.nan
    categories = np.column_stack([few, many]).astype(float)
    categories[rng.random(categories.shape) < 0.05] = np.nan
    table = np.column_stack([numbers, categories])
    return Problem(table, flipped(y, 0.1), params={"categorical_features": [4, 5]})


def sparse_matrix(n: int, n_features: int, k: int) -> Problem:
    """Counts of words, most of them 0."""
    rng = np.random.default_rng(2)
    y = rng.integers(k, size=n)
    often = rng.gamma(0.4, 0.5, size=(k, n_features))
    return Problem(sp.csr_matrix(rng.poisson(often[y]).astype(float)), flipped(y, 0.1))


def weighted() -> Problem:
    """Weights of several magnitudes, some of them 0."""
    problem = made(400, 8, 3, 5, flip_y=0.1)
    weights = np.random.default_rng(3).gamma(0.5, size=400)
    weights[::19] = 0
    return Problem(problem.X, problem.y, weights)


def ties() -> Problem:
    """Small whole numbers in single precision, and texts for labels of unequal frequency."""
    problem = made(600, 8, 4, 5, flip_y=0.1, weights=[0.6, 0.25, 0.1])
    X = np.clip(np.rint(2 * problem.X), -4, 4).astype(np.float32)
    return Problem(X, np.array(["common", "usual", "rare", "very rare"])[problem.y])


CASES = {
    "iris": Case(lambda: bundled(load_iris), BOOSTERS, 10),
    "wine, 10 % noise": Case(lambda: bundled(load_wine, 0.1), BOOSTERS, 10),
    "breast cancer": Case(lambda: bundled(load_breast_cancer), BOOSTERS, 10),
    "digits": Case(lambda: bundled(load_digits), BOOSTERS, 8),
    "mixed table": Case(mixed_table, BOOSTERS, 8),
    "sparse matrix": Case(lambda: sparse_matrix(400, 60, 4), BOOSTERS, 8),
    "two classes, 20 % noise": Case(lambda: made(600, 10, 2, 6, flip_y=0.4), BOOSTERS, 10),
    "weights": Case(weighted, BOOSTERS, 8),
    "26 classes": Case(lambda: made(600, 12, 26, 10), BOOSTERS, 8),
    "ties": Case(ties, BOOSTERS, 8),
    "mixed table, other models": Case(mixed_table, VARIANTS, 6),
    "sparse matrix, other models": Case(lambda: sparse_matrix(400, 60, 4), VARIANTS, 6),
    "20,000 rows": Case(lambda: made(20_000, 10, 3, 8, flip_y=0.1), BOOSTERS, 3),
    # Large enough for several threads to share the rows of one tree.
    "150,000 rows": Case(lambda: made(150_000, 10, 3, 8, flip_y=0.1), BOOSTERS, 3),
    "60,000 sparse rows": Case(lambda: sparse_matrix(60_000, 50, 3), BOOSTERS, 3),
}


def fitted(problem: Problem, model: Model, **options: int) -> Arrays:
    """What tells one model from another: probabilities, and the attributes that there are."""
    booster = getattr(steadyboost, model.booster)(**options, **problem.params, **model.params)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a booster may stop early, and says so
        booster.fit(problem.X, problem.y, sample_weight=problem.sample_weight)
    values = {name: getattr(booster, name) for name in ATTRIBUTES if hasattr(booster, name)}
    values[PROBABILITIES] = booster.predict_proba(problem.X)
    return {name: np.asarray(value) for name, value in values.items()}


def models(wanted: str) -> Iterator[tuple[str, Arrays, str]]:
    """Name and values of each model, and in what two threads differ from one."""
    for problem_name, case in CASES.items():
        names = [name for name in case.models if wanted in f"{problem_name}: {name}"]
        if not names:
            continue
        problem, options = case.make(), {"n_estimators": case.n_rounds, "random_state": 0}
        for name in names:
            one, two = (fitted(problem, case.models[name], n_jobs=n, **options) for n in (1, 2))
            yield f"{problem_name}: {name}", one, differences(one, two)


def fingerprint(values: Arrays) -> dict[str, str]:
    return {
        name: blake2b(value.tobytes(), digest_size=16).hexdigest() for name, value in values.items()
    }


def differences(one: Arrays, other: Arrays) -> str:
    """What is not the same in two models, in words; empty where they are the same bits."""
    names = [n for n in {**one, **other} if n not in one or n not in other or differ(one, other, n)]
    if not names:
        return ""
    p, q = one[PROBABILITIES], other[PROBABILITIES]
    by = f"{np.abs(p - q).max():.3g}" if p.shape == q.shape else f"{p.shape} is now {q.shape}"
    return f"{', '.join(sorted(names))} (largest difference of the probabilities: {by})"


def differ(one: Arrays, other: Arrays, name: str) -> bool:
    a, b = one[name], other[name]
    return a.shape != b.shape or a.dtype != b.dtype or a.tobytes() != b.tobytes()


def environment() -> dict[str, str]:
    """What else the bits of a model may depend on."""
    return {
        "python": platform.python_version(),
        "machine": platform.machine(),
        **{package.__name__: package.__version__ for package in (np, scipy, sklearn, numba)},
    }


def write(path: Path, found: dict[str, Arrays], summary: dict[str, Any]) -> None:
    """The values as ``FILE`` (.npz) and the fingerprints beside it (.json)."""
    arrays = {f"{model}/{name}": a for model, values in found.items() for name, a in values.items()}
    np.savez(path, **arrays)  # type: ignore[arg-type]  # no array is called "allow_pickle"
    path.with_suffix(".json").write_text(json.dumps(summary, indent=1) + "\n", encoding="utf-8")


def read(path: Path) -> dict[str, Arrays]:
    found: dict[str, Arrays] = {}
    with np.load(path) as arrays:
        for key in arrays.files:
            model, name = key.rsplit("/", 1)
            found.setdefault(model, {})[name] = arrays[key]
    return found


def compared(path: Path, found: dict[str, Arrays], wanted: str) -> list[str]:
    """A line for each model that is not what was kept, and for libraries of other versions."""
    kept = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))["environment"]
    lines = [f"other versions: {kept} were kept"] if kept != environment() else []
    before = {model: values for model, values in read(path).items() if wanted in model}
    lines += [f"{model}: only before" for model in before if model not in found]
    for model, values in found.items():
        what = differences(before[model], values) if model in before else "only now"
        lines += [f"{model}: {what}"] if what else []
    return lines


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--write", type=Path, metavar="FILE.npz", help="keep the models' values")
    parser.add_argument("--compare", type=Path, metavar="FILE.npz", help="compare with kept ones")
    parser.add_argument("--only", default="", metavar="WORDS", help="models named like this")
    options = parser.parse_args()
    start, found, lines = time.perf_counter(), {}, []
    for model, values, by_threads in models(options.only):
        found[model] = values
        lines += [f"{model}: two threads differ in {by_threads}"] if by_threads else []
        print(f"{time.perf_counter() - start:5.0f} s  {model}", file=sys.stderr)
    summary = {
        "environment": environment(),
        "models": {m: fingerprint(v) for m, v in found.items()},
    }
    print(json.dumps(summary, indent=1))
    if options.write:
        write(options.write, found, summary)
    if options.compare:
        lines += compared(options.compare, found, options.only)
    print(*lines, f"{len(found)} models, {len(lines)} differences.", sep="\n", file=sys.stderr)
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
