"""Draw errors on the problem of Long and Servedio by noise: ``python docs/long_servedio.py``.

Papers/004, Figure 7 (right): 4,000 training rows, 10,000 clean test rows, stumps, 1,000 rounds; 300
layers of MartiBoost. Writes docs/images/long-servedio.png and prints the means.
"""

import argparse
from pathlib import Path

import matplotlib

matplotlib.use("Agg")  # a file, whether or not there is a display
import matplotlib.pyplot as plt
import numpy as np

from steadyboost import (
    MartiBoostClassifier,
    SAMMEClassifier,
    SoftmaxBoostClassifier,
    Stump,
)
from steadyboost.lab.datasets import make_long_servedio

PICTURE = Path(__file__).parent / "images" / "long-servedio.png"
NOISE = np.linspace(0, 0.5, 11)
STYLES = {
    "SAMME": {"color": "#444444", "marker": "s"},
    "MartiBoost": {"color": "#b8860b", "marker": "^"},
    "soft-max boosting": {"color": "#1f5f99", "marker": "o"},
    "soft-max boosting, n_samples=0.3": {"color": "#d1361c", "marker": "D"},
}


def models(rounds, layers, seed):
    soft = {"n_estimators": rounds, "random_state": seed}
    return {
        "SAMME": SAMMEClassifier(Stump(), n_estimators=rounds),
        "MartiBoost": MartiBoostClassifier(Stump(), n_layers=layers, random_state=seed),
        "soft-max boosting": SoftmaxBoostClassifier(Stump(), **soft),
        "soft-max boosting, n_samples=0.3": SoftmaxBoostClassifier(Stump(), n_samples=0.3, **soft),
    }


def errors(noise, rounds, layers, seed):
    """Percent of clean test rows that each model gets wrong."""
    X, y = make_long_servedio(4_000, noise=noise, random_state=seed)
    X_test, y_test = make_long_servedio(10_000, random_state=1_000 + seed)
    fitted = (model.fit(X, y) for model in models(rounds, layers, seed).values())
    return [100 * (1 - model.score(X_test, y_test)) for model in fitted]


def draw(found, path):
    """``found`` is (noise, draws, models)."""
    figure, axes = plt.subplots(figsize=(5.4, 3.4), layout="constrained")
    for k, (name, style) in enumerate(STYLES.items()):
        mean, spread = found[:, :, k].mean(axis=1), found[:, :, k].std(axis=1)
        axes.plot(100 * NOISE, mean, label=name, markersize=4, linewidth=1.2, **style)
        axes.fill_between(
            100 * NOISE, mean - spread, mean + spread, color=style["color"], alpha=0.12, linewidth=0
        )
    axes.set(xlabel="wrong training labels, %", ylabel="error on clean test rows, %")
    axes.set_ylim(bottom=-1)  # at 50 % noise more than half of the rows may be wrong
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize=8, loc="upper left")
    figure.savefig(path, dpi=150)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=1_000)
    parser.add_argument("--layers", type=int, default=300)
    parser.add_argument("--output", type=Path, default=PICTURE)
    options = parser.parse_args()
    found = []
    for noise in NOISE:
        draws = [
            errors(noise, options.rounds, options.layers, seed) for seed in range(options.draws)
        ]
        found.append(draws)
        means = zip(STYLES, np.mean(draws, axis=0), strict=True)
        print(f"{noise:.0%}", *(f"{name} {mean:.1f}" for name, mean in means), sep=", ", flush=True)
    draw(np.array(found), options.output)


if __name__ == "__main__":
    main()
