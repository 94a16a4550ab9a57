"""Numbers and dates as people write them, against slow and obvious readers."""

import datetime
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steadyboost.io import TableError, read_table
from steadyboost.io.notation import (
    DECIMALS,
    ORDERS,
    decimals_of,
    orders_of,
    parse_dates,
    parse_numbers,
)

pl = pytest.importorskip("polars")
CELLS = st.sampled_from(
    [
        *("1", "-2,5", "1.5", "1,234", "1.234", "1 234,5", "1'234.5", "1.234.567,8", "12,34"),
        *(",5", "x", ".", "", "1,2,3", "+7", "1e3", "1,5e2", "1234,567.8", "0,001"),
    ]
)


def slow_number(text, decimal):
    """Groups of three after the first, one kind of sign between them, then the decimals."""
    other = "," if decimal == "." else "."
    mantissa, _, power = text.lower().partition("e")
    whole, _, decimals = mantissa.lstrip("+-").partition(decimal)
    groups = re.split(f"[{other} '\u00a0\u202f’]", whole)
    if len(groups) > 1 and not (
        1 <= len(groups[0]) <= 3 and all(len(group) == 3 for group in groups[1:])
    ):
        return None
    digits = "".join(groups)
    if not (digits or decimals) or not (digits + decimals).isdecimal():
        return None
    value = float(f"{digits or 0}.{decimals or 0}e{power or 0}")
    return -value if text.startswith("-") else value


@settings(deadline=None, max_examples=200)
@given(cells=st.lists(CELLS, min_size=1, max_size=4))
def test_numbers_agree_with_their_twin(cells):
    column = pl.Series("a", cells)
    for decimal in DECIMALS:
        expected = [slow_number(cell, decimal) for cell in cells]
        found = parse_numbers(column, decimal)
        if None in expected:
            assert found is None
            assert decimal not in decimals_of(column)
        else:
            assert found.to_list() == pytest.approx(expected)
            assert decimal in decimals_of(column)


@pytest.mark.parametrize("order", ORDERS)
def test_each_order_of_dates_is_read(order):
    days = [datetime.date(2021, 1, 31), datetime.date(1999, 12, 5)]
    column = pl.Series("a", [day.strftime(order) for day in days] + [None])
    assert order in orders_of(column)
    assert [d and d.date() for d in parse_dates(column, order)] == [*days, None]


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("2020-03-01", "00:00:00"),
        ("2020-03-01 7:05", "07:05:00"),
        ("2020-03-01T23:59:59.5", "23:59:59.500000"),
        ("2020-03-01 12:10 am", "00:10:00"),
        ("2020-03-01 12:10:09 PM", "12:10:09"),
        ("2020-03-01T10:00:00Z", "10:00:00"),
        ("2020-03-01T10:00:00+02:00", "08:00:00"),
        ("2020-03-01T10:00:00-0130", "11:30:00"),
    ],
)
def test_times_of_day_and_zones(text, time):
    (found,) = parse_dates(pl.Series("a", [text]), "%Y-%m-%d")
    assert str(found.time()) == time


@pytest.mark.parametrize("text", ["2020-02-30", "2020-13-01", "2020-01-01 25:00", "1.2.3", "2020"])
def test_what_is_no_date(text):
    assert orders_of(pl.Series("a", [text])) == []


def read(text, name="t.csv", **options):
    with open(name, "w", encoding="utf-8") as file:
        file.write(text)
    return read_table(name, **options)


def test_decimal_commas_are_numbers_and_told():
    table = read("price;n;y\n1,5;1.234;u\n2.000,25;12.000;v\n;7;u\n", target="y")
    assert table.X["price"].to_list()[:2] == [1.5, 2000.25]
    assert table.X["n"].to_list() == [1234, 12000, 7]  # dots group where commas are decimal
    assert table.found.notations == {"price": ",", "n": ","}
    assert "decimal commas: price, n" in table.found.sentences()
    (remark,) = table.found.remarks
    assert "'n' is read with thousands separators" in remark


def test_thousands_separators_are_numbers_and_told():
    table = read('pay,y\n"1,250.50",u\n"12,000",v\n', target="y")
    assert table.X["pay"].to_list() == [1250.5, 12000]
    assert "thousands separators: pay" in table.found.sentences()


@pytest.mark.parametrize(("separator", "value"), [(",", 1234), (";", 1.234)])
def test_what_is_ambiguous_is_told(separator, value):
    table = read(f'a{separator}y\n"1,234"{separator}u\n5{separator}v\n', target="y")
    assert table.X["a"].to_list() == [value, 5]
    assert "pass --decimal" in table.found.remarks[0]


def test_the_decimal_sign_can_be_given():
    text = "a;y\n1.234;u\n5;v\n"
    assert read(text, target="y").X["a"].to_list() == [1.234, 5]
    assert read(text, target="y", decimal=",").X["a"].to_list() == [1234, 5]


def test_a_model_reads_new_rows_as_its_training_rows():
    options = {"features": {"a": "number"}, "notations": {"a": ","}}
    assert read("a;b\n1.500;1\n", **options).X["a"].to_list() == [1500]
    with pytest.raises(
        TableError, match=r"row 2 of column 'a' is '1\.5'.*decimal comma.*--decimal"
    ):
        read("a;b\n1;1\n1.5;2\n", **options)
    assert read("a;b\n1;1\n1.5;2\n", decimal=".", **options).X["a"].to_list() == [1, 1.5]


def test_dates_are_dates_and_told():
    table = read("born;y\n31.12.2020;u\n;v\n1.2.2021;u\n", target="y")
    assert table.X["born"].to_list() == [
        datetime.datetime(2020, 12, 31),
        None,
        datetime.datetime(2021, 2, 1),
    ]
    assert table.kinds == {"born": "date"}
    assert "dates: born (2020-12-31 to 2021-02-01, written day.month.year)" in (
        table.found.sentences()
    )


def test_an_order_that_is_not_sure_is_told_and_kept():
    table = read("d,y\n1/2/2020,u\n3/4/2021,v\n", target="y")
    assert table.X["d"][0] == datetime.datetime(2020, 1, 2)
    assert "month/day/year, but day/month/year fits, too" in table.found.remarks[0]
    again = read("d\n5/6/2020\n", features={"d": "date"}, notations={"d": "%d/%m/%Y"})
    assert again.X["d"][0] == datetime.datetime(2020, 6, 5)
    with pytest.raises(TableError, match="row 1 of column 'd' is '13/6/2020', not a date written"):
        read("d\n13/6/2020\n", features={"d": "date"}, notations={"d": "%m/%d/%Y"})


def test_a_slip_among_dates_is_told():
    days = "\n".join(f"2020-01-{day:02},{day % 2}" for day in range(1, 28))
    table = read(f"d,y\n{days}\nunknown,1\n", target="y")
    assert table.kinds == {"d": "text"}
    assert "'unknown' in row 28; nearly all others are dates" in table.found.doubts[0]
