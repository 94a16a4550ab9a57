"""Tables of all kinds to numbers."""

import datetime

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steadyboost.preprocessing.encoder import Encoder, as_frame, categorical_mask

pd, pl, pa = map(pytest.importorskip, ("pandas", "polars", "pyarrow"))
NAN = np.nan
MAKERS = {
    "pandas": pd.DataFrame,
    "polars": lambda columns: pl.DataFrame(columns, strict=False),
    "pyarrow": lambda columns: pa.table({name: list(v) for name, v in columns.items()}),
}
NOON = datetime.datetime(2020, 1, 1, 12)


def encode(train, test=None, categorical="from_dtype"):
    encoder = Encoder.learn(train, categorical_mask(train, categorical))
    return encoder.encode(train if test is None else test)


def one_column(values, categorical="from_dtype"):
    return encode(pd.DataFrame({"a": values}), categorical=categorical)[:, 0]


@pytest.fixture(params=MAKERS)
def make(request):
    return MAKERS[request.param]


def test_any_data_frame_is_one(make):
    assert as_frame(make({"a": [1, 2]})).columns == ["a"]


@pytest.mark.parametrize("X", [np.ones((2, 2)), [[1, 2]], None])
def test_what_is_not_a_data_frame_is_none(X):
    assert as_frame(X) is None


def test_numbers_and_gaps_are_floats_and_nan(make):
    table = make({"whole": [1, None, 3], "real": [0.5, 2.5, None]})
    encoded = encode(table)
    assert encoded.dtype == np.float64
    np.testing.assert_array_equal(encoded, [[1, 0.5], [NAN, 2.5], [3, NAN]])


def test_text_becomes_codes_in_alphabetical_order(make):
    table = make({"a": ["pear", "apple", None, "fig"], "b": [1, 2, 3, 4]})
    np.testing.assert_array_equal(encode(table), [[2, 1], [0, 2], [NAN, 3], [1, 4]])


def test_truth_values_are_numbers(make):
    np.testing.assert_array_equal(encode(make({"a": [True, False, True]})), [[1], [0], [1]])


@pytest.mark.parametrize("frame", ["polars", "pyarrow"])
def test_truth_values_may_have_gaps(frame):
    table = MAKERS[frame]({"a": [True, None, False]})
    np.testing.assert_array_equal(encode(table), [[1], [NAN], [0]])


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (pd.Categorical(["b", None, "a"]), [1, NAN, 0]),
        (pd.Categorical(["b", None, "a"], categories=["b", "c", "a"]), [1, NAN, 0]),
        (pd.Categorical(["b", None, "a"], ordered=True), [1, NAN, 0]),
        (pd.Categorical([10, None, 9]), [1, NAN, 0]),
        (pd.Categorical([True, None, False]), [1, NAN, 0]),
        (pd.Series(["b", None, "a"], dtype=object), [1, NAN, 0]),
        (pd.Series(["b", NAN, "a"], dtype=object), [1, NAN, 0]),
        (pd.Series([True, None, False], dtype=object), [1, NAN, 0]),
        (pd.Series(["b", 1, None], dtype=object), [1, 0, NAN]),
        (pd.Series([None, None], dtype=object), [NAN, NAN]),
        (pd.array(["b", None, "a"], dtype="string"), [1, NAN, 0]),
        (pd.array(["b", None, "a"], dtype="string[pyarrow]"), [1, NAN, 0]),
        (pd.array(["b", None, "a"], dtype="str"), [1, NAN, 0]),
        (pd.array([1, None, 0], dtype="Int64"), [1, NAN, 0]),
        (pd.array([1, None, 0], dtype="UInt8"), [1, NAN, 0]),
        (pd.array([1.5, None, 0], dtype="Float32"), [1.5, NAN, 0]),
        (pd.array([True, None, False], dtype="boolean"), [1, NAN, 0]),
        (pd.array([1, None, 0], dtype="int64[pyarrow]"), [1, NAN, 0]),
    ],
    ids=lambda value: str(getattr(value, "dtype", "")) or None,
)
def test_pandas_columns_of_every_type_are_read(values, expected):
    np.testing.assert_array_equal(one_column(values), expected)


@pytest.mark.parametrize("dtype", [pl.Categorical, pl.Enum(["b", "c", "a"]), pl.String])
def test_polars_columns_of_text_are_categories(dtype):
    table = pl.DataFrame({"a": pl.Series(["b", None, "a"], dtype=dtype)})
    np.testing.assert_array_equal(encode(table), [[1], [NAN], [0]])


@pytest.mark.parametrize("values", [["b", None, "a"], [7, None, 5]])
def test_pyarrow_dictionaries_are_categories(values):
    table = pa.table({"a": pa.array(values).dictionary_encode()})
    np.testing.assert_array_equal(encode(table), [[1], [NAN], [0]])


def test_categories_are_recognised_by_type(make):
    table = make({"n": [1.0, 2.0], "s": ["a", "b"], "t": [True, False]})
    assert categorical_mask(table, "from_dtype").tolist() == [False, True, False]


def test_arrays_have_no_categories_by_type():
    assert categorical_mask(np.ones((2, 3)), "from_dtype").tolist() == [False] * 3


@pytest.mark.parametrize(
    "listed",
    [["b", "d"], [1, 3], [-1, 1], np.array([1, 3]), ["b", 3], [False, True, False, True]],
    ids=["names", "indices", "from the end", "array", "both", "mask"],
)
def test_categories_may_be_listed(make, listed):
    table = make({name: [1, 2] for name in "abcd"})
    assert categorical_mask(table, listed).tolist() == [False, True, False, True]


@pytest.mark.parametrize("listed", [None, [], np.zeros(4, dtype=bool)])
def test_no_column_need_be_a_category(make, listed):
    assert not categorical_mask(make({name: [1, 2] for name in "abcd"}), listed).any()


@pytest.mark.parametrize("listed", [[1], np.array([False, True])])
def test_columns_of_an_array_may_be_categories(listed):
    X = np.array([[0.5, 7.0], [1.5, NAN], [2.5, 3.0], [3.5, 7.0]])
    np.testing.assert_array_equal(encode(X, categorical=listed)[:, 1], [1, NAN, 0, 1])


def test_an_array_without_categories_is_passed_on():
    X = np.ones((3, 2), dtype=np.float32)
    assert Encoder.learn(X, np.zeros(2, dtype=bool)).encode(X) is X


def test_a_category_that_training_had_not_is_missing(make):
    encoded = encode(make({"a": ["x", "y", "x"]}), make({"a": ["y", "z", None]}))
    np.testing.assert_array_equal(encoded, [[1], [NAN], [NAN]])


def test_a_number_that_training_had_not_is_missing():
    encoded = encode(np.array([[1.0], [2]]), np.array([[2.0], [3]]), categorical=[0])
    np.testing.assert_array_equal(encoded, [[1], [NAN]])


@pytest.mark.parametrize(
    ("train", "test"),
    [
        (pd.DataFrame({"a": [3, 1, 2]}), pd.DataFrame({"a": [1, None, 3]})),
        (
            pd.DataFrame({"a": [3, 1, 2]}),
            pd.DataFrame({"a": pd.array([1, None, 3], dtype="Int64")}),
        ),
        (pd.DataFrame({"a": [3, 1, 2]}), np.array([[1.0], [NAN], [3]])),
        (pl.DataFrame({"a": [3, 1, 2]}), pl.DataFrame({"a": [1.0, None, 3.0]})),
        (
            pd.DataFrame({"a": pd.Categorical([3, 1, 2])}),
            pd.DataFrame({"a": pd.Categorical([1, None, 3])}),
        ),
    ],
    ids=["float", "nullable", "array", "polars", "categorical"],
)
def test_a_gap_does_not_rename_numeric_categories(train, test):
    np.testing.assert_array_equal(encode(train, test, categorical=["a"]), [[0], [NAN], [2]])


@pytest.mark.parametrize("frame", MAKERS)
def test_not_a_number_is_no_category(frame):
    encoded = encode(MAKERS[frame]({"a": [2.0, NAN, 1.0]}), categorical=["a"])
    np.testing.assert_array_equal(encoded, [[1], [NAN], [0]])


def test_the_most_frequent_categories_are_kept():
    times = np.where(np.arange(300) < 45, 1, 2)
    column = one_column(np.repeat([f"{k:03}" for k in range(300)], times).astype(object))
    np.testing.assert_array_equal(column, [*[NAN] * 45, *np.arange(255).repeat(2)])


def test_of_equally_frequent_categories_the_first_are_kept():
    column = one_column([f"{k:03}" for k in range(260)])
    np.testing.assert_array_equal(column, [*range(255), *[NAN] * 5])


@settings(max_examples=30, deadline=None)
@given(st.lists(st.one_of(st.none(), st.text(max_size=3)), min_size=1, max_size=30))
def test_codes_are_ranks_of_the_text(values):
    table = pl.DataFrame({"a": pl.Series(values, dtype=pl.String)})
    known = sorted({v for v in values if v is not None})
    expected = [[NAN if v is None else known.index(v)] for v in values]
    np.testing.assert_array_equal(encode(table), expected)


def test_the_same_table_gives_the_same_numbers_in_every_library():
    columns = {"s": ["b", None, "a", "c"], "n": [1.5, 2.0, None, 4.0], "i": [1, 2, 3, 4]}
    first, *others = [encode(make(columns)) for make in MAKERS.values()]
    for other in others:
        np.testing.assert_array_equal(first, other)


@pytest.mark.parametrize(
    ("listed", "message"),
    [
        ([4], "index 4, but X has 4 features; use indices from 0 to 3"),
        ([-5], "index -5, but X has 4 features"),
        ([0.5], "index 0.5"),
        (["z"], r"names 'z', but the columns are \['a', 'b', 'c', 'd'\]"),
        ([True, False], r"mask of shape \(2,\), but X has 4 features; pass 4 booleans"),
        ("all", "'all' is not known; pass 'from_dtype'"),
    ],
)
def test_wrong_lists_of_categories_are_refused(make, listed, message):
    with pytest.raises(ValueError, match=message):
        categorical_mask(make({name: [1, 2] for name in "abcd"}), listed)


def test_an_array_has_no_names():
    with pytest.raises(ValueError, match="names 'a', but X has no column names"):
        categorical_mask(np.ones((2, 2)), ["a"])


MOMENTS = [NOON, None, datetime.datetime(2021, 12, 31, 18), datetime.datetime(1969, 3, 1)]
PARTS = {
    "days": lambda t: (t - datetime.datetime(1970, 1, 1)).total_seconds() / 86_400,
    "year": lambda t: t.year,
    "month": lambda t: t.month,
    "weekday": lambda t: t.isoweekday(),
    "hour": lambda t: t.hour,
}


def slow_parts(moments, parts):
    """Each part of each date by Python's own clock."""
    return [[NAN if t is None else PARTS[part](t) for part in parts] for t in moments]


def test_dates_become_their_parts(make):
    table = make({"x": [1, 2, 3, 4], "when": MOMENTS, "z": ["b", None, "a", "a"]})
    encoder = Encoder.learn(table, categorical_mask(table, "from_dtype"))
    assert encoder.dates == [None, list(PARTS), None]
    assert encoder.column_names("xwz")[1:4] == ["w.days", "w.year", "w.month"]
    assert encoder.n_columns == 7
    assert encoder.n_values.tolist() == [0, 0, 0, 0, 0, 0, 2]
    encoded = encoder.encode(table)
    np.testing.assert_allclose(encoded[:, 1:6], slow_parts(MOMENTS, PARTS), rtol=1e-12)
    np.testing.assert_array_equal(encoded[:, 6], [1, NAN, 0, 0])
    np.testing.assert_array_equal(encoder.by_feature(np.arange(7)), [0, 15, 6])


def test_parts_that_do_not_vary_are_left_out(make):
    table = make({"when": [NOON, None, NOON + datetime.timedelta(days=1)]})
    encoder = Encoder.learn(table, np.zeros(1, dtype=bool))
    assert encoder.dates == [["days", "weekday"]]
    later = make({"when": [datetime.datetime(2024, 5, 5, 23), None, NOON]})
    assert encoder.encode(later)[:, 1].tolist()[::2] == [7, 3]


@pytest.mark.parametrize("frame", ["polars", "pyarrow"])
def test_days_have_no_hour(frame):
    days = [NOON.date(), datetime.date(2021, 7, 1)]
    encoder = Encoder.learn(MAKERS[frame]({"when": days}), np.zeros(1, dtype=bool))
    assert encoder.dates == [["days", "year", "month", "weekday"]]


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_days_are_those_of_the_moment_and_hours_those_of_the_clock(frame):
    zoned = pl.Series([NOON, datetime.datetime(2020, 7, 1)]).dt.replace_time_zone("Asia/Tokyo")
    table = frame({"when": zoned if frame is pl.DataFrame else zoned.to_pandas()})
    encoded = encode(table)
    np.testing.assert_allclose(encoded[0, 0], PARTS["days"](NOON) - 9 / 24, rtol=1e-15)
    assert encoded[:, -1].tolist() == [12, 0]


def test_a_column_of_gaps_is_a_column_of_dates():
    encoder = Encoder.learn(pd.DataFrame({"when": [NOON]}), np.zeros(1, dtype=bool))
    for gaps in (pd.Series([None], dtype=object), pd.Series([NAN]), pd.Series([pd.NaT])):
        assert np.isnan(encoder.encode(pd.DataFrame({"when": gaps}))).all()


@pytest.mark.parametrize("value", ["2020-01-01", 5.0])
def test_what_is_no_date_is_refused(make, value):
    encoder = Encoder.learn(make({"when": [NOON, None]}), np.zeros(1, dtype=bool))
    with pytest.raises(ValueError, match=r"Column 'when' held dates in training, but is .* here"):
        encoder.encode(make({"when": [value, None]}))


def test_dates_are_refused_where_numbers_were(make):
    encoder = Encoder.learn(make({"a": [1.0, 2.0]}), np.zeros(1, dtype=bool))
    with pytest.raises(ValueError, match="Column 'a' holds dates, where the model was fitted to n"):
        encoder.encode(make({"a": [NOON, NOON]}))


def test_durations_are_days(make):
    table = make({"a": [datetime.timedelta(hours=36), None]})
    np.testing.assert_array_equal(encode(table), [[1.5], [NAN]])


def test_times_of_day_are_not_numbers():
    with pytest.raises(ValueError, match=r"Column 'when' .* cannot be read as numbers; list it in"):
        encode(pl.DataFrame({"when": [NOON.time(), NOON.time()]}))


def test_dates_may_be_categories(make):
    table = make({"when": [NOON, None, NOON]})
    np.testing.assert_array_equal(encode(table, categorical=["when"]), [[0], [NAN], [0]])


def test_text_is_not_a_number_unless_it_is_listed(make):
    with pytest.raises(ValueError, match="Column 'a' has type String and cannot be read"):
        encode(make({"a": ["x", "y"]}), categorical=None)


@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_infinity_is_refused(make, value):
    with pytest.raises(ValueError, match="Column 'a' of X contains infinity; replace it"):
        encode(make({"a": [1.0, value]}))
