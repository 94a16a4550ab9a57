"""Which values of which columns speak for a class."""

import numpy as np
import pandas as pd
import pytest

from steadyboost import MartiBoostClassifier, SAMMEClassifier, SteadyBoostClassifier, Stump
from steadyboost.exports import class_effects

RNG = np.random.default_rng(0)
SIZE, COLOUR = RNG.uniform(0, 10, 300), RNG.choice(["red", "green", "blue"], 300)
X = pd.DataFrame({"size": SIZE, "noise": RNG.normal(size=300), "colour": COLOUR})
Y = np.where(COLOUR == "red", "rose", np.where(SIZE < 4, "moss", "pine"))


@pytest.mark.parametrize("booster", [SAMMEClassifier, SteadyBoostClassifier])
def test_the_values_that_make_a_class_are_named(booster):
    found = class_effects(booster(n_estimators=8, random_state=0).fit(X, Y), top=2)
    assert set(found) == {"moss", "pine", "rose"}
    assert (found["rose"][0].column, found["rose"][0].values) == ("colour", "= red")
    _, values, worth = next(one for one in found["moss"] if one.column == "size")
    assert values.startswith("<= ")
    assert float(values.removeprefix("<= ")) == pytest.approx(4, abs=0.5)
    assert worth > 0
    assert "noise" not in {own[0].column for own in found.values()}


def test_a_stump_speaks_for_two_classes_alike():
    found = class_effects(SAMMEClassifier(Stump(), n_estimators=1).fit(X[["size"]], SIZE > 6))
    (low,), (high,) = found[False], found[True]
    assert low.values == high.values.replace(">", "<=")


def test_missing_values_can_speak():
    gaps = pd.DataFrame({"size": np.where(Y == "rose", np.nan, SIZE)})
    found = class_effects(SAMMEClassifier(n_estimators=3, random_state=0).fit(gaps, Y))
    assert str(found["rose"][0]).startswith("size missing (+")


def test_programs_are_refused():
    model = MartiBoostClassifier(n_estimators=2).fit(X[["size"]], SIZE > 6)
    with pytest.raises(ValueError, match="branching program"):
        class_effects(model)
