"""Which values of which columns speak for a class."""

import re

import numpy as np
import pandas as pd
import pytest

from steadyboost import MartiBoostClassifier, SAMMEClassifier, SteadyBoostClassifier, Stump
from steadyboost.exports import class_effects, export_text
from steadyboost.exports.column_text import ColumnText

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


@pytest.mark.parametrize("seconds", [0, 86_399])
def test_dates_are_named_as_people_write_them(seconds):
    days = pd.Timestamp("2019-01-01") + pd.to_timedelta(RNG.integers(0, 900, 400), unit="D")
    late, weekend = days > "2020-03-01", days.day_of_week >= 5
    y = np.where(weekend, "rest", np.where(late, "late", "early"))
    time = pd.to_timedelta(RNG.integers(0, seconds + 1, 400), unit="s")
    model = SAMMEClassifier(n_estimators=3).fit(pd.DataFrame({"visit": days + time}), y)
    found = class_effects(model)
    assert str(found["rest"][0]).startswith("visit.weekday Sat to Sun (")
    assert found["late"][0][0] == "visit"
    clock = r" \d\d:\d\d" if seconds else ""
    assert re.fullmatch(rf"> 2020-0[23]-\d\d{clock}", found["late"][0].values)
    assert re.search(rf"visit <= 2020-0[23]-\d\d{clock}: early", export_text(model))


@pytest.mark.parametrize(
    ("part", "ends", "words"),
    [
        ("month", (None, 3.5), "<= 3"),
        ("year", (2019.5, None), ">= 2020"),
        ("hour", (7.5, 8.5), "= 8"),
        ("hour", (7.5, 9.5), "8 to 9"),
        ("weekday", (None, 1.5), "= Mon"),
        ("weekday", (3.5, None), "Thu to Sun"),
        (None, (2013.5, 2014.5), "> 2013.5 and <= 2014.5"),
    ],
)
def test_intervals_of_parts_of_dates(part, ends, words):
    assert ColumnText("x", part).interval(*ends) == words
