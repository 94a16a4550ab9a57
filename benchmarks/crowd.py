"""Several annotators: consensus, models of it, and annotators: ``python benchmarks/crowd.py``.

All methods see the same answers. Those that need probabilities of a model get LightGBM's, by
cross-validation on the majority vote. The consensus of each method is learnt by LightGBM and by
SteadyBoost, and judged on clean test rows; ``SteadyBoost annotations`` learns from the answers.
``--relabel`` is the protocol of ActiveLab on wall_robot, ``--verified`` that of checked rows. A
result is kept in the cache as soon as it is there; ``--fresh METHOD`` computes a method anew.
"""

import argparse
import hashlib
import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from _crowds import SETS, Crowd, crowd
from _noisy_rivals import lightgbm
from rich.console import Console
from scipy.stats import spearmanr
from sklearn.model_selection import StratifiedKFold

import steadyboost as sb
from steadyboost.noise import consensus

CACHE = Path.home() / ".cache/steadyboost/crowd"


class Found(NamedTuple):
    """Consensus labels, and the quality of the annotators if the method tells."""

    labels: np.ndarray
    quality: np.ndarray | None = None


def majority(posed: Crowd, seed: int) -> np.ndarray:
    """Ties at random."""
    votes = np.zeros((len(posed.y), len(posed.classes)))
    np.add.at(votes, (posed.answers["item"], posed.answers["label"]), 1)
    return (votes + np.random.default_rng(seed).random(votes.shape) / 10).argmax(axis=1)


def out_of_sample(posed: Crowd, seed: int) -> np.ndarray:
    """LightGBM's probabilities, from models of the majority vote that have not seen the row."""
    y, k = majority(posed, seed), len(posed.classes)
    proba = np.zeros((len(y), k))
    for train, test in StratifiedKFold(5, shuffle=True, random_state=seed).split(posed.X, y):
        model = lightgbm(seed).fit(posed.X[train], y[train])
        proba[np.ix_(test, model.classes_)] = model.predict_proba(posed.X[test])
    return proba


def ours(posed: Crowd, seed: int) -> Found:
    found = consensus(posed.answers, out_of_sample(posed, seed), classes=posed.classes)
    return Found(found.labels, found.annotators.accuracy)


def ours_alone(posed: Crowd, seed: int) -> Found:
    found = consensus(posed.answers, classes=posed.classes)
    return Found(found.labels, found.annotators.accuracy)


def crowdlab(posed: Crowd, seed: int) -> Found:
    from cleanlab.multiannotator import get_label_quality_multiannotator

    found = get_label_quality_multiannotator(posed.wide, out_of_sample(posed, seed), verbose=False)
    quality = found["annotator_stats"]["annotator_quality"]
    labels = found["label_quality"]["consensus_label"].to_numpy()
    return Found(labels, quality.reindex(range(posed.wide.shape[1])).to_numpy())


def of_crowdkit(name: str, **options: Any) -> Callable[[Crowd, int], Found]:
    def run(posed: Crowd, seed: int) -> Found:
        from crowdkit import aggregation

        seeded = {"random_state": seed} if name == "MACE" else {}
        names = {"item": "task", "annotator": "worker"}
        table = posed.answers.rename(columns=names)
        model = getattr(aggregation, name)(**options, **seeded)
        labels = model.fit_predict(table).reindex(range(len(posed.y))).to_numpy()
        return Found(labels)

    return run


METHODS: dict[str, Callable[[Crowd, int], Found]] = {
    "consensus": ours,
    "consensus, answers alone": ours_alone,
    "CROWDLAB": crowdlab,
    "majority": lambda posed, seed: Found(majority(posed, seed)),
    "Dawid-Skene": of_crowdkit("DawidSkene", n_iter=100),
    "GLAD": of_crowdkit("GLAD"),
    "MACE": of_crowdkit("MACE"),
}
JOINT = "SteadyBoost annotations"


def steadyboost(seed: int) -> Any:
    return sb.SteadyBoostClassifier(n_jobs=1, random_state=seed)


def test_error(model: Any, posed: Crowd) -> float:
    return float(np.mean(model.predict(posed.X_test) != posed.y_test))


def measure(method: str, name: str, seed: int, n_rows: int, models: bool) -> dict[str, Any]:
    """A method on a crowd."""
    posed = crowd(name, seed, n_rows)
    if method == JOINT:
        model = steadyboost(seed).fit(posed.X, annotations=posed.answers)
        found = Found(model.consensus_.label, model.annotators_.accuracy)
        errors = {"error, SteadyBoost": test_error(model, posed)}
    else:
        found = METHODS[method](posed, seed)
        learners = {"LightGBM": lightgbm, "SteadyBoost": steadyboost} if models else {}
        errors = {
            f"error, {title}": test_error(make(seed).fit(posed.X, found.labels), posed)
            for title, make in learners.items()
        }
    known = np.isfinite(posed.actual)
    quality = np.nan if found.quality is None else spearmanr(
        found.quality[known], posed.actual[known]
    ).statistic  # fmt: skip
    wrong = float(np.mean(found.labels != posed.y))
    return {"wrong labels": wrong, **errors, "annotators": float(quality)}


def kept(key: tuple, make: Callable[[], dict[str, Any]], fresh: bool) -> dict[str, Any]:
    """From the cache, if it is there."""
    path = CACHE / f"{hashlib.sha256(repr(key).encode()).hexdigest()[:24]}.json"
    if path.exists() and not fresh:
        return json.loads(path.read_text())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = make()
    CACHE.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(result))
    return result


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", default=["sentiment_crowd", *SETS])
    parser.add_argument("--methods", nargs="+", default=[JOINT, *METHODS])
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--rows", type=int, default=2000, help="training rows at the most")
    parser.add_argument("--fresh", nargs="*", default=[], help="methods to compute anew")
    parser.add_argument("--no-models", action="store_true", help="consensus only")
    parser.add_argument("--relabel", action="store_true", help="the protocol of ActiveLab")
    parser.add_argument("--verified", action="store_true", help="the protocol of checked rows")
    parser.add_argument("--checked", type=float, default=0.02, help="share of rows of --verified")
    parser.add_argument("--rounds", type=int, default=19, help="of --relabel")
    return parser.parse_args()


def compare(wanted: argparse.Namespace) -> None:
    """Means over the sets, as they come, and by set."""
    rows = []
    for seed in range(wanted.seeds):
        for name in wanted.sets:
            for method in wanted.methods:
                key = (method, name, seed, wanted.rows, wanted.no_models)
                result = kept(
                    key,
                    lambda key=key: measure(*key[:4], models=not key[4]),
                    method in wanted.fresh,
                )
                rows.append({"set": name, "seed": seed, "method": method, **result})
                print(name, method, result, flush=True)
    frame = pd.DataFrame(rows)
    columns = [c for c in frame.columns if c not in ("set", "seed", "method")]
    show = Console()
    show.print(frame.groupby("method", sort=False)[columns].mean().round(4).to_string())
    for column in columns:
        table = frame.pivot_table(index="set", columns="method", values=column, sort=False)
        show.print(f"\n{column}\n{table.round(4).to_string()}")


def main() -> None:
    wanted = options()
    if wanted.relabel:
        from _relabelling import relabel

        relabel(wanted.seeds, wanted.rounds)
    elif wanted.verified:
        from _checked_rows import checked_rows

        checked_rows(wanted.sets, wanted.seeds, wanted.rows, wanted.checked)
    else:
        compare(wanted)


if __name__ == "__main__":
    main()
