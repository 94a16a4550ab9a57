"""Costs of answers to new rows, by set and cost matrix: ``python benchmarks/costs.py``.

Every method sees the same splits and matrices; nothing is tuned on test rows. A cost is normalised
by that of the cheapest constant answer to the same test rows. Results are kept as soon as they are
there, one file for each set, seed and method, so that a run can be stopped and taken up again.
``--write-docs`` renews the tables of docs/costs.md.
"""

import argparse
import json
import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from _cost_rivals import BINARY_ONLY, RIVALS, Matrices
from _docs import replace_section
from _noisy_sets import clean_rows
from sklearn.model_selection import train_test_split

from steadyboost.costs import mean_cost

SETS = (
    *("german", "pima", "ionosphere", "wdbc", "breast_cancer_wisconsin", "spambase"),
    *(
        "contraceptive",
        "vehicle",
        "car",
        "yeast",
        "segmentation",
        "waveform",
        "satimage",
    ),
)
KEPT = Path(__file__).parent / "results" / "costs.json"
DOCS = Path(__file__).parents[1] / "docs" / "costs.md"


def matrices(y: np.ndarray) -> Matrices:
    """Cost matrices of a set, from its classes alone; the first is german's official one."""
    k, shares = y.max() + 1, np.bincount(y) / len(y)
    rare, common = shares.argmin(), shares.argmax()
    wrong = 1.0 - np.eye(k)
    by_class = np.ones(k)
    by_class[rare] = 5
    dear = np.ones(k)
    dear[rare] = 20
    opposite = np.ones(k)
    opposite[common] = 5
    drawn = np.random.default_rng(0).choice([1.0, 2.0, 5.0, 10.0], size=(k, k))
    return {
        "rare 5:1": wrong * by_class[:, None],
        "rare 20:1": wrong * dear[:, None],
        "common 5:1": wrong * opposite[:, None],
        "by rarity": wrong / (k * shares[:, None]),
        "random": wrong * drawn,
    }


def measure(name: str, seed: int, method: str, n_rows: int) -> dict[str, float]:
    """Normalised cost of a method on a set, by matrix."""
    X, y = clean_rows(name)
    at = train_test_split(
        np.arange(len(y)),
        train_size=min(n_rows, round(0.6 * len(y))),
        random_state=seed,
        stratify=y,
    )
    train, test = at[0], at[1][:5000]
    known = matrices(y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        answers = RIVALS[method]((X[train], y[train]), X[test], known, seed)
    labels = np.arange(y.max() + 1)
    return {
        name: mean_cost(y[test], answers[name], costs, labels=labels)
        / min(costs[y[test], p].mean() for p in labels)
        for name, costs in known.items()
    }


Key = tuple[str, int, str]  # set, seed, method


def read(path: Path) -> dict[Key, dict[str, float]]:
    if not path.exists():
        return {}
    return {(r["set"], r["seed"], r["method"]): r["cost"] for r in json.loads(path.read_text())}


def write(path: Path, results: dict[Key, dict[str, float]]) -> None:
    """A line for each result, so that a difference of two files can be read."""
    lines = [
        json.dumps({"set": key[0], "seed": key[1], "method": key[2], "cost": cost})
        for key, cost in sorted(results.items())
    ]
    partial = path.with_suffix(f".{os.getpid()}.tmp")
    partial.write_text("[\n" + ",\n".join(lines) + "\n]\n")
    partial.rename(path)


def run(wanted: argparse.Namespace) -> dict[Key, dict[str, float]]:
    """Seed by seed, so that an early stop leaves whole tables."""
    results = read(wanted.keep)
    for seed in range(wanted.seeds):
        for name in wanted.sets:
            is_binary = clean_rows(name)[1].max() == 1
            for method in wanted.methods:
                key = (name, seed, method)
                if key in results or (method in BINARY_ONLY and not is_binary):
                    continue
                results[key] = cost = measure(*key, wanted.rows)
                print(*key, {m: round(c, 3) for m, c in cost.items()}, flush=True)
                write(wanted.keep, results)
    return results


# Tables


def by_case(results: dict[Key, dict[str, float]]) -> dict[tuple[str, str], dict[str, float]]:
    """Mean over the seeds that all methods have, by (set, matrix) and method."""
    methods_of: dict[tuple[str, int], set[str]] = {}
    for name, seed, method in results:
        methods_of.setdefault((name, seed), set()).add(method)
    whole = [key for key, own in methods_of.items() if own >= set(RIVALS) - BINARY_ONLY]
    gathered: dict[tuple[str, str], dict[str, list[float]]] = {}
    for (name, seed, method), costs in results.items():
        if (name, seed) in whole:
            for matrix, cost in costs.items():
                gathered.setdefault((name, matrix), {}).setdefault(method, []).append(cost)
    return {
        case: {method: float(np.mean(values)) for method, values in own.items()}
        for case, own in gathered.items()
    }


def mean_of(cases: dict[Any, dict[str, float]], method: str) -> float:
    """Mean over the sets of the mean over their matrices: a set counts once."""
    by_set: dict[str, list[float]] = {}
    for (name, _), own in cases.items():
        if method in own:
            by_set.setdefault(name, []).append(own[method])
    return float(np.mean([np.mean(values) for values in by_set.values()]))


def wins(cases: dict[Any, dict[str, float]], one: str, other: str) -> str:
    """On how many sets one method costs less than another, over the matrices of each."""
    names = sorted({name for name, _ in cases})
    lower = [
        np.mean([own[one] - own[other] for (name, _), own in cases.items() if name == set_]) < 0
        for set_ in names
    ]
    return f"{sum(lower)} of {len(lower)}"


def summary(cases: dict[Any, dict[str, float]]) -> list[str]:
    """Means over all sets, over those of two classes, and by matrix."""
    two = {case: own for case, own in cases.items() if own.keys() >= BINARY_ONLY}
    named = list(dict.fromkeys(matrix for _, matrix in cases))
    lines = [
        "| method | all sets | two classes | " + " | ".join(named) + " |",
        "|---|" + "---:|" * (len(named) + 2),
    ]
    for method in RIVALS:
        whole = "–" if method in BINARY_ONLY else f"{mean_of(cases, method):.3f}"
        own = [
            "–" if method in BINARY_ONLY else f"{mean_of(part(cases, m), method):.3f}"
            for m in named
        ]
        cells = [whole, f"{mean_of(two, method):.3f}", *own]
        lines.append(f"| {method} | " + " | ".join(cells) + " |")
    return lines


def part(cases: dict[Any, dict[str, float]], matrix: str) -> dict[Any, dict[str, float]]:
    return {case: own for case, own in cases.items() if case[1] == matrix}


def by_set(cases: dict[Any, dict[str, float]]) -> list[str]:
    """The mean over the matrices of each set."""
    names = list(dict.fromkeys(name for name, _ in cases))
    methods = [method for method in RIVALS if method not in BINARY_ONLY]
    lines = ["| set | " + " | ".join(methods) + " |", "|---|" + "---:|" * len(methods)]
    for name in names:
        own = {case: costs for case, costs in cases.items() if case[0] == name}
        costs = [mean_of(own, method) for method in methods]
        least = min(costs)
        marked = [f"**{c:.3f}**" if c == least else f"{c:.3f}" for c in costs]
        lines.append(f"| {name} | " + " | ".join(marked) + " |")
    return lines


def duels(cases: dict[Any, dict[str, float]]) -> list[str]:
    pairs = (
        ("soft-max, costs", "soft-max, costs in predict"),
        ("soft-max, costs", "soft-max as printed"),
        ("SteadyBoost, costs in fit", "SteadyBoost, costs in predict"),
        ("SteadyBoost, costs in fit", "LightGBM, costs in predict"),
        ("SteadyBoost, costs in fit", "LightGBM, weights + threshold"),
        ("SteadyBoost, costs in fit", "soft-max, costs"),
    )
    return [
        f"- {one} costs less than {other} on {wins(cases, one, other)} sets."
        for one, other in pairs
    ]


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", default=SETS)
    parser.add_argument("--methods", nargs="+", default=list(RIVALS), choices=list(RIVALS))
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--rows", type=int, default=1000, help="training rows at the most")
    parser.add_argument("--keep", type=Path, default=KEPT, help="file of results")
    parser.add_argument("--write-docs", action="store_true")
    return parser.parse_args()


def main() -> None:
    wanted = options()
    cases = by_case(run(wanted))
    tables = {"summary": summary(cases), "duels": duels(cases), "sets": by_set(cases)}
    for name, lines in tables.items():
        print("\n".join(lines), end="\n\n")
        if wanted.write_docs:
            replace_section(DOCS, f"costs-{name}", "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
