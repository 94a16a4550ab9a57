"""Files with mistakes are refused, with words that find the mistake."""

import pytest
import tiny

from steadyboost.lab.experiments.plan import LAST, Point, Printed
from steadyboost.lab.experiments.reading import parse, read_paper


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('methods = ["SAMME", "M1"]', 'methods = ["SAMME", "M3"]', "method 'M3' is not defined"),
        ('data = ["iris"]', 'data = ["iriss"]', "data 'iriss' is not defined"),
        ('learner = "Stump"', 'lerner = "Stump"', "has no 'lerner'"),
        ('relation = "at_most"', 'relation = "nearly"', "relation 'nearly'"),
        ('left = { method = "future" }', 'left = { method = "past" }', "about 'past'"),
        ('focus = "SAMME"', 'focus = "FOO"', "focus 'FOO'"),
        ("iris        |", "iriss       |", "printed row 'iriss'"),
        ("| 6.0\n", "| 6.0 | 7\n", "has 3 cells for 2 columns"),
        ("| 6.0\n", "| six\n", "'six' is neither a number"),
        ("wine        | 90.5 ± 0.1 | ?\n", "", "2 printed rows for 3 rows"),
        ('name = "AdaBoost.M1"', 'name = "SAMME"', "two methods have the same name"),
        ('protocol = "main"', 'protocol = "other"', "protocol 'other' is not defined"),
    ],
)
def test_mistakes_are_named(old, new, words):
    assert old in tiny.PAPER
    with pytest.raises(ValueError, match=words.replace("(", r"\(")):
        read_paper(tiny.PAPER.replace(old, new))


def test_printed_cells():
    assert parse("14.4 ± 6.1") == Printed("14.4 ± 6.1", 14.4, 6.1)
    assert parse(".5897") == Printed(".5897", 0.5897)
    assert parse("?") == Printed("?")


def test_printed_numbers_have_their_place():
    printed = tiny.experiment().printed
    assert len(printed) == 6
    assert printed[Point("wine", 0.0, "SAMME", LAST, "test")].mean == 90.5
    assert printed[Point("wine", 0.0, "M1", LAST, "test")].mean is None


def test_a_sweep_is_one_method_per_value():
    methods = tiny.experiment("figure-2").methods
    assert [method.label for method in methods] == ["step = 0.5", "step = 1.0"]
    assert [method.parameters["learning_rate"] for method in methods] == [0.5, 1.0]
