"""Stumps on Reuters ApteMod, 7,770 texts of 10,175 words: ``python benchmarks/sparse.py``.

Counts of words as a sparse matrix (from the folder in STEADYBOOST_DATA), one category against the
rest, one thread. scikit-learn's AdaBoostClassifier with its own stumps does the same boosting and
takes sparse rows too. Runs alternate, so that the machine's moods hit both alike; memory is the
peak of what Python and numpy allocate during the fit, beside X itself.
"""

import argparse
import time
import tracemalloc
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from scipy.sparse import csr_matrix
from sklearn.ensemble import AdaBoostClassifier
from sklearn.metrics import f1_score
from sklearn.tree import DecisionTreeClassifier

from steadyboost import SAMMEClassifier, Stump, Tree
from steadyboost.lab.datasets import reuters


def models(n_rounds: int) -> dict[str, Any]:
    weak = DecisionTreeClassifier(max_depth=1)
    return {
        "SAMME, Stump()": SAMMEClassifier(Stump(), n_estimators=n_rounds, random_state=0),
        "SAMME, Tree(3)": SAMMEClassifier(Tree(max_depth=3), n_estimators=n_rounds, random_state=0),
        "scikit-learn, stumps": AdaBoostClassifier(weak, n_estimators=n_rounds, random_state=0),
    }


def seconds(model: Any, X: csr_matrix, y: np.ndarray) -> tuple[float, float]:
    """Time of a fit and of a prediction of the same rows."""
    start = time.perf_counter()
    model.fit(X, y)
    middle = time.perf_counter()
    model.predict(X)
    return middle - start, time.perf_counter() - middle


def peak(model: Any, X: csr_matrix, y: np.ndarray) -> float:
    """Megabytes that a fit takes at the most."""
    tracemalloc.start()
    model.fit(X, y)
    bytes_ = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return bytes_ / 2**20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--category", default="earn")
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    (X, Y, names), (X_test, Y_test, _) = reuters("train"), reuters("test")
    y, y_test = (part[:, names.index(options.category)] for part in (Y, Y_test))
    rivals = models(options.rounds)
    first = {name: seconds(model, X, y)[0] for name, model in rivals.items()}
    times = np.array([[seconds(m, X, y) for m in rivals.values()] for _ in range(options.repeats)])
    table = Table("", "first fit, s", "fit, s", "predict, ms", "memory, MB", "F1 on test")
    for (name, model), (fit, predict) in zip(rivals.items(), np.median(times, axis=0), strict=True):
        f1 = f1_score(y_test, model.predict(X_test))
        memory = peak(model, X, y)
        table.add_row(
            *(name, f"{first[name]:.2f}", f"{fit:.2f}", f"{1e3 * predict:.0f}"),
            *(f"{memory:.0f}", f"{f1:.3f}"),
        )
    Console().print(table)


if __name__ == "__main__":
    main()
