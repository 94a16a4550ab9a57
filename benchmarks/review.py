"""A scripted reviewer who knows the truth: ``python benchmarks/review.py``.

The reviewer looks at so many rows (a multiple of the true number of wrong labels), in the order of
our audit, of cleanlab's label quality scores (with the probabilities of LightGBM in five-fold
cross-validation, and with ours), or at random, and corrects what is wrong. Counted are the wrong
labels found, and the test error of LightGBM and of SteadyBoost before and after. ``--write-docs``
renews the tables of docs/review.md.
"""

import argparse
import json
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from _audit_methods import cleanlab, lightgbm_proba, our_outcome
from _docs import replace_section
from _noisy_report import markdown, show
from _noisy_rivals import lightgbm
from _noisy_sets import HUMAN, SETS, Problem, human_problem, problem
from rich.console import Console

from steadyboost import SteadyBoostClassifier

NOISE = (("symmetric", 0.1), ("symmetric", 0.2), ("symmetric", 0.4), ("pair", 0.2),
         ("feature_dependent", 0.2))  # fmt: skip
LOOKS = (0.5, 1.0, 1.5)  # rows looked at, per wrong label
OURS, CLEANLAB, CLEANLAB_OURS = "SteadyBoost", "cleanlab, LightGBM", "cleanlab, our probabilities"
RANDOM = "random"
DOCS = Path(__file__).parents[1] / "docs" / "review.md"
FOUND, ERRORS = "Wrong labels found, %", "Test error, %"


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", default=[*SETS, "sentiment_crowd"])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--rows", type=int, default=2000, help="training rows at the most")
    parser.add_argument("--crowd", type=Path, help="folder of sentiment_crowd's files")
    parser.add_argument("--cache", type=Path, default=Path.home() / ".cache/steadyboost/review")
    parser.add_argument("--errors", action="store_true", help="test errors before and after, too")
    parser.add_argument("--write-docs", action="store_true")
    return parser.parse_args()


def orders(posed: Problem, seed: int) -> dict[str, np.ndarray]:
    """The order in which each method has rows looked at."""
    ours = our_outcome(posed, seed)
    theirs = lightgbm_proba(posed, seed)
    suspicion = {
        OURS: ours["wrong"],
        CLEANLAB: cleanlab(theirs["proba"], posed.y).suspicion,
        CLEANLAB_OURS: cleanlab(ours["proba"], posed.y).suspicion,
        RANDOM: np.random.default_rng(seed).random(len(posed.y)),
    }
    return {name: np.argsort(-own, kind="stable") for name, own in suspicion.items()}


def test_errors(posed: Problem, y: np.ndarray, seed: int) -> dict[str, float]:
    """Of models that are trained on some labels, on clean test rows."""
    models = {"LightGBM": lightgbm(seed), "SteadyBoost": SteadyBoostClassifier(random_state=seed)}
    return {
        name: float(np.mean(model.fit(posed.X, y).predict(posed.X_test) != posed.y_test))
        for name, model in models.items()
    }


def measure(posed: Problem, true: np.ndarray, seed: int, errors: bool) -> list[dict[str, Any]]:
    """A line for each order and number of looks."""
    lines, n_wrong = [], int(posed.is_wrong.sum())
    before = test_errors(posed, posed.y, seed) if errors else {}
    for name, order in orders(posed, seed).items():
        for looks in LOOKS:
            seen = order[: round(looks * n_wrong)]
            line = {"order": name, "looks": looks, "n_looks": len(seen), "n_wrong": n_wrong,
                    "found": float(posed.is_wrong[seen].sum() / n_wrong)}  # fmt: skip
            if errors and looks == 1.0:
                corrected = posed.y.copy()
                corrected[seen] = true[seen]
                after = test_errors(posed, corrected, seed)
                line |= {f"before {m}": e for m, e in before.items()}
                line |= {f"after {m}": e for m, e in after.items()}
            lines.append(line)
    return lines


def problems(wanted: argparse.Namespace) -> list[tuple[str, str, float, int]]:
    seeds = range(wanted.seeds)
    sets = [name for name in wanted.sets if name != "sentiment_crowd"]
    cases = [(name, *noise, seed) for name in sets for noise in NOISE for seed in seeds]
    if "sentiment_crowd" in wanted.sets and wanted.crowd is not None:
        cases += [("sentiment_crowd", labels, 0.0, seed) for labels in HUMAN for seed in seeds]
    return cases


def posed_and_true(
    name: str, kind: str, rate: float, seed: int, wanted: argparse.Namespace
) -> tuple[Problem, np.ndarray]:
    """The rows with given labels, and their true labels."""
    if kind in HUMAN:
        posed = human_problem(kind, seed, wanted.crowd)
        given = pd.read_csv(wanted.crowd / "sentiment_crowd.train.noisy.csv.gz", dtype=str)
        rows = np.random.default_rng(seed).permutation(len(given))[: len(posed.y)]
        return posed, np.unique(given["y_true"], return_inverse=True)[1][rows]
    posed = problem(name, kind, rate, seed, wanted.rows)
    return posed, problem(name, kind, 0.0, seed, wanted.rows).y


def kept(case: tuple[str, str, float, int], wanted: argparse.Namespace) -> list[dict[str, Any]]:
    """From the cache, if it is there."""
    named = "-".join(map(str, case))
    path = wanted.cache / f"{named}-{wanted.rows}-{'errors' if wanted.errors else 'found'}.json"
    if path.exists():
        return json.loads(path.read_text())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        posed, true = posed_and_true(*case, wanted)
        lines = measure(posed, true, case[-1], wanted.errors)
    name, kind, rate, seed = case
    found = [{"set": name, "kind": kind, "rate": rate, "seed": seed, **line} for line in lines]
    wanted.cache.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(found))
    return found


def found_table(frame: pd.DataFrame) -> pd.DataFrame:
    """Shares found, by noise, number of looks and order, in the mean over sets."""
    own = frame.assign(found=100 * frame["found"])
    table = own.pivot_table(index=["kind", "rate", "looks"], columns="order", values="found")
    named = [
        f"{kind.replace('_', '-')}{f' {rate:.0%}' if rate else ''}, {looks:g} × n wrong"
        for kind, rate, looks in table.index
    ]
    return table.set_axis(named)[[OURS, CLEANLAB, CLEANLAB_OURS, RANDOM]].rename_axis(columns=None)


def error_table(frame: pd.DataFrame) -> pd.DataFrame:
    """Test errors before and after as many looks as labels are wrong, in the mean."""
    own = frame[frame["looks"] == 1.0]
    names = [name for name in own if name.startswith(("before", "after"))]
    return 100 * own.pivot_table(index="order", values=names)[names]


def main() -> None:
    wanted, console = options(), Console()
    lines = []
    for case in problems(wanted):
        start = time.perf_counter()
        lines += kept(case, wanted)
        console.print(*case, f"{time.perf_counter() - start:.1f} s", highlight=False)
    frame = pd.DataFrame(lines)
    tables = {FOUND: (found_table(frame), 1)}
    if wanted.errors:
        tables[ERRORS] = error_table(frame), 2
    for title, (table, digits) in tables.items():
        show(console, title, table, digits)
        if wanted.write_docs:
            replace_section(DOCS, title, markdown(table, digits, "none"))


if __name__ == "__main__":
    main()
