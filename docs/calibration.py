"""Print how well the boosters' probabilities are calibrated: ``python docs/calibration.py``.

Expected calibration error (Naeini et al. 2015) of the predicted class, in 15 bins of equal width,
on clean test labels: the mean gap between how sure a model is and how often it is right.
"""

import argparse
import warnings

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from steadyboost.evaluation import calibration_error
from steadyboost.lab.datasets import make_waveform
from steadyboost.lab.demo import boosters
from steadyboost.noise import corrupt

SETTINGS = {"MSmoothBoost": {"smoothing": 0.5}, "MartiBoost": {"n_layers": 30}}


def measure(make, X, y, noise, seed):
    """Calibration errors in percent, plain and calibrated by cross-validation."""
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=seed)
    y, _ = corrupt(y, noise, random_state=seed)
    found = []
    for model in (make(seed), CalibratedClassifierCV(make(seed), method="isotonic", cv=3)):
        proba = model.fit(X, y).predict_proba(X_test)
        found.append(100 * calibration_error(y_test, proba))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--names", nargs="+", default=list(boosters()))
    options = parser.parse_args()
    sets = {"digits": load_digits(return_X_y=True), "waveform": make_waveform(2000, random_state=0)}
    warnings.simplefilter("ignore")
    cases = [(data, noise) for data in sets for noise in (0.0, 0.2)]
    print(
        "|", " | ".join(["booster", *(f"{data}, {noise:.0%} wrong" for data, noise in cases)]), "|"
    )
    print("|---" * (len(cases) + 1) + "|")
    for name in options.names:
        print(f"| {name}", end="", flush=True)
        for data, noise in cases:

            def make(seed, name=name):
                own = SETTINGS.get(name, {})
                return boosters()[name](n_estimators=options.rounds, random_state=seed, **own)

            draws = [measure(make, *sets[data], noise, seed) for seed in range(options.draws)]
            print(" | {:.1f} → {:.1f}".format(*np.mean(draws, axis=0)), end="", flush=True)
        print(" |")


if __name__ == "__main__":
    main()
