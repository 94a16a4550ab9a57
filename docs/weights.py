"""Draw where the boosters put their weight when some labels are wrong.

``python docs/weights.py`` writes docs/images/weights-<name>.png for every booster, and prints, over
several draws of the data, how much of the weight wrong labels get and what errors come of it.
``--only WeightBoost`` does so for that one.
"""

import argparse
import warnings
from dataclasses import dataclass
from pathlib import Path

import matplotlib

matplotlib.use("Agg")  # a file, whether or not there is a display
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.lines import Line2D

from steadyboost import SAMMEClassifier, Tree
from steadyboost.callbacks import Callback
from steadyboost.lab.demo import boosters
from steadyboost.noise import corrupt

CENTRES = 3.0 * np.array([[0, 0], [0, 1.2], [-1.04, -0.6], [1.04, -0.6]])
NOISE, ROWS, FRESH_ROWS = 0.15, 300, 10_000
DEPTH = 2
SETTINGS = {  # besides the defaults
    "DMCBoost": {"bottom": 0.25},
    "MSmoothBoost": {"smoothing": 0.5},
}
LABELS = {"MSmoothBoost": "MSmoothBoost, λ = 0.5"}
BASELINE = "SAMME"

RIGHT, WRONG, OURS, THEIRS = "#9aa5b1", "#d1361c", "#1f5f99", "#444444"
MARKERS = "osD^"
AREA = 11.0  # of a row of mean weight, in square points
STYLE = {
    "font.size": 8,
    "axes.titlesize": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.6,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
}


class Weights(Callback):
    """Keep the weights that each round trained with."""

    def on_begin(self, run):
        self.by_round = []

    def on_round(self, run):
        self.by_round.append(run.weights.copy())


@dataclass(frozen=True)
class Toy:
    """Four Gaussian classes, one amid the others; ``labels`` are the truth, or wrong."""

    X: np.ndarray
    truth: np.ndarray
    labels: np.ndarray
    wrong: np.ndarray

    @classmethod
    def draw(cls, seed):
        X, truth = gaussians(ROWS, seed)
        return cls(X, truth, *corrupt(truth, NOISE, random_state=seed))


@dataclass(frozen=True)
class Trace:
    """What one booster did: its name, the weights of each round, the labels it saw, its error."""

    name: str
    by_round: list
    labels: np.ndarray
    error: float

    def shares(self, rows):
        """Share of the total weight on some rows, round by round."""
        return np.array([weights[rows].sum() / weights.sum() for weights in self.by_round])


def weighing():
    """The boosters that weigh rows: SteadyBoost does not."""
    return {name: cls for name, cls in boosters().items() if "estimator" not in cls.does_without}


def gaussians(n, seed):
    truth = np.arange(n) % len(CENTRES)
    noise = np.random.default_rng(seed).normal(size=(n, CENTRES.shape[1]))
    return CENTRES[truth] + noise, truth


def train(name, cls, toy, labels, rounds):
    weights = Weights()
    model = cls(
        Tree(max_depth=DEPTH),
        n_estimators=rounds,
        random_state=0,
        callbacks=[weights],
        **SETTINGS.get(name, {}),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a booster that stops early says so in the picture
        model.fit(toy.X, labels)
    X, truth = gaussians(FRESH_ROWS, 10_000)
    return Trace(LABELS.get(name, name), weights.by_round, labels, 1 - model.score(X, truth))


def pairs_to_draw(toy, rounds, names):
    """For each booster named its own trace and the one to set it against.

    SAMME is the one that others are set against; itself, against SAMME on the right labels.
    """
    samme = train(BASELINE, SAMMEClassifier, toy, toy.labels, rounds)
    for name, cls in ((name, weighing()[name]) for name in names):
        if cls is SAMMEClassifier:
            clean = train(BASELINE, cls, toy, toy.truth, rounds)
            relabelled = [
                Trace(f"{BASELINE}, {how} labels", t.by_round, t.labels, t.error)
                for how, t in (("right", clean), ("some wrong", samme))
            ]
            yield name, relabelled[1], relabelled[0]
        else:
            yield name, train(name, cls, toy, toy.labels, rounds), samme


def draw(path, trace, other, toy, rounds):
    with plt.rc_context(STYLE):
        figure, (left, middle, right) = plt.subplots(
            1, 3, figsize=(9.2, 3.3), width_ratios=[1, 1, 1.05], layout="constrained"
        )
        figure.get_layout_engine().set(w_pad=0.07, h_pad=0.07, wspace=0.05)
        for axes, shown in ((left, other), (middle, trace)):
            draw_rows(axes, shown, toy)
        draw_shares(right, trace, other, toy, rounds)
        where = "" if other.labels is trace.labels else " in the middle panel"
        explain_markers(figure, where)
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, dpi=160)
        plt.close(figure)


def draw_rows(axes, trace, toy):
    """One marker per row, as large as the weight of the last round."""
    weights = trace.by_round[-1]
    areas = AREA * np.maximum(weights / weights.mean(), 0.08)
    for rows, colour, alpha in ((~toy.wrong, RIGHT, 0.75), (toy.wrong, WRONG, 0.85)):
        for label, marker in enumerate(MARKERS):
            at = np.flatnonzero(rows & (trace.labels == label))
            at = at[np.argsort(-areas[at])]  # the small ones on top
            axes.scatter(
                *toy.X[at].T,
                s=areas[at],
                marker=marker,
                color=colour,
                alpha=alpha,
                edgecolors="white",
                linewidths=0.3,
            )
    axes.set_title(f"{trace.name}: round {len(trace.by_round)}")
    axes.set(xticks=[], yticks=[])
    axes.margins(0.06)
    axes.spines[:].set(visible=True, color="#c8ccd0")


def draw_shares(axes, trace, other, toy, rounds):
    for shown, colour in ((other, THEIRS), (trace, OURS)):
        shares = 100 * shown.shares(toy.wrong)
        t = np.arange(1, len(shares) + 1)
        axes.plot(t, shares, color=colour, linewidth=1.3, label=shown.name)
        axes.plot(t[-1], shares[-1], "o", color=colour, markersize=3)
    level = 100 * toy.wrong.mean()
    axes.axhline(level, color=WRONG, linewidth=0.9, linestyle=(0, (4, 3)), zorder=0)
    axes.plot(
        [], [], color=WRONG, linewidth=0.9, linestyle=(0, (4, 3)), label="their share of the rows"
    )
    axes.set(xlabel="round", ylim=(0, 100), xlim=(0, rounds + 1))
    axes.set_title("weight on the red rows, %")
    axes.legend(frameon=False, fontsize=7.5, loc="upper left", borderaxespad=0)


def explain_markers(figure, where):
    texts = (
        "label is right",
        f"label is wrong{where}        area: weight in the round; shape: label as given",
    )
    dots = [
        Line2D([], [], linestyle="", marker="o", color=colour, markersize=5, label=text)
        for colour, text in zip((RIGHT, WRONG), texts, strict=True)
    ]
    figure.legend(
        handles=dots,
        ncols=2,
        frameon=False,
        fontsize=7.5,
        loc="outside lower left",
        handletextpad=0.1,
        columnspacing=1.5,
    )


def report(rounds, draws, names):
    """Print means over draws: weight on wrong labels in the last ten rounds, and clean errors."""
    found = {}
    for seed in range(draws):
        toy = Toy.draw(seed)
        for _, *traces in pairs_to_draw(toy, rounds, names):
            for trace in traces:
                share = trace.shares(toy.wrong)[-10:].mean()
                record = (100 * share, 100 * trace.error, len(trace.by_round))
                found.setdefault(trace.name, {})[seed] = record
    print(f"{'mean of ' + str(draws) + ' draws':26}  weight on wrong   error   rounds")
    for name, records in found.items():
        share, error, n_rounds = np.mean(list(records.values()), axis=0)
        print(f"{name:26}  {share:13.1f} %  {error:5.1f} %  {n_rounds:6.1f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=60, help="boosting rounds [60]")
    parser.add_argument("--draws", type=int, default=10, help="draws of the data to print on [10]")
    parser.add_argument(
        "--output", type=Path, default=Path(__file__).parent / "images", help="folder of pictures"
    )
    parser.add_argument(
        "--only", nargs="+", choices=weighing(), default=list(weighing()), help="boosters [all]"
    )
    options = parser.parse_args()
    toy = Toy.draw(0)
    for name, trace, other in pairs_to_draw(toy, options.rounds, options.only):
        path = options.output / f"weights-{name.lower().replace('.', '-')}.png"
        draw(path, trace, other, toy, options.rounds)
        print(path)
    if options.draws:
        report(options.rounds, options.draws, options.only)


if __name__ == "__main__":
    main()
