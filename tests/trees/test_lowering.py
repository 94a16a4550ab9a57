"""Functions that count no references do what Python does, in less code than numba's."""

import itertools

import numpy as np
import pytest
from numba import types
from numba.core.registry import cpu_target

from steadyboost.trees.jit import inlined, kernel, plain, standing
from steadyboost.trees.lowering import DATA, ITEM_SIZE, N_ITEMS, SHAPE, STRIDES


def same(function, *args):
    """Whether a function does the same to the arguments, compiled and in Python."""
    python, compiled = ([np.copy(arg) if np.ndim(arg) else arg for arg in args] for _ in range(2))
    assert standing(function)(*compiled) == function(*python)
    for one, other in zip(compiled, python, strict=True):
        np.testing.assert_array_equal(one, other)


TABLE = np.arange(12).reshape(3, 4)


@pytest.mark.parametrize("kind", [np.int64, np.uint8, np.float32, np.bool_])
def test_items_of_arrays(kind):
    def change(values, table, i, j):
        values[-1] = values[i]
        values[0] = table[i, j]
        table[-1, -2] = table[1, 2] + values[j]
        row = table[i]
        row[j] = values[1]
        table[2][0] = row[-1]
        return int(row[0]) + 100 * int(table[j % 3, i])

    for i, j in itertools.product(range(-3, 3), range(-4, 4)):
        same(change, np.arange(5).astype(kind), (TABLE % 7).astype(kind), i, j)


def test_unsigned_and_narrow_indices():
    def look_up(values, at):
        found = 0
        for k in range(len(at)):
            found = 10 * found + values[at[k]]
        return found

    for kind in (np.uint64, np.int8, np.uint16):
        same(look_up, np.arange(9), np.array([3, 0, 7], dtype=kind))


def test_slices():
    def cut(values, start, stop):
        total = 0
        for part in (values[start:stop], values[:stop], values[start:], values[:], values[2:3]):
            for i in range(len(part)):
                total = 3 * total + part[i]
            total += 100 * len(part) + part.size
        return total

    for start, stop in itertools.product(range(-7, 8), repeat=2):
        same(cut, np.arange(1, 6), start, stop)


def test_rows_of_tables():
    def cut(table, start, stop):
        part = table[start:stop]
        total = 1000 * part.shape[0] + part.shape[1] + part.size
        for i in range(len(part)):
            part[i, 1] += 1
            for number in part[i, 1:]:
                total += number
        return total

    for start, stop in itertools.product(range(-4, 5), repeat=2):
        same(cut, TABLE, start, stop)


def test_arrays_that_are_not_in_order():
    def add_up(table, row):
        table[1, 0] = row[-1]
        return table[0, 1] + 10 * row[1]

    table = np.asfortranarray(TABLE)
    assert standing(add_up)(table, TABLE[1, ::2]) == 1 + 60
    assert table[1, 0] == 6


def test_variables_that_are_set_again():
    def go_on(n, flag):
        before, now, found = 0, 1, 0
        while n > 0:
            before, now = now, before + now
            if flag and n % 3 == 0:
                found = now
            elif n % 5 == 0:
                found = -before
            last = found
            n -= 1
        return before, now, last

    for n, flag in itertools.product(range(1, 12), (True, False)):
        same(go_on, n, flag)


def test_loops_inside_loops_begin_anew():
    def count(n, step):
        total = 0
        for i in range(n):
            for j in range(i, -2, -1):
                if j == 1:
                    continue
                for k in range(j, n, step):
                    total = (2 * total + k) % 1009
                    if k > 3:
                        break
        return total

    for n, step in itertools.product(range(6), (1, 2, 5)):
        same(count, n, step)


@pytest.mark.parametrize(
    ("kind", "names", "places"),
    [
        (
            types.int64[::1],
            ("nitems", "itemsize", "data", "shape", "strides"),
            (N_ITEMS, ITEM_SIZE, DATA, SHAPE, STRIDES),
        ),
        (types.range_state64_type, ("start", "stop", "step"), (0, 1, 2)),
        (types.slice2_type, ("start", "stop", "step"), (0, 1, 2)),
        (types.Pair(types.int64, types.boolean), ("first", "second"), (0, 1)),
    ],
)
def test_parts_are_where_numba_has_them(kind, names, places):
    model = cpu_target.target_context.data_model_manager[kind]
    assert tuple(model.get_field_position(name) for name in names) == places


@plain
def _raises(values, limit=3):
    if len(values) > limit:
        raise ValueError("too many")
    values[0] += limit


@plain
def _passes_on(values):
    _raises(values)
    _raises(values, 4)


@inlined
def _swapped(pair):
    return pair[1], pair[0]


@plain
def _first_of(pair, flag):
    first, (second, _) = pair
    return first[0] if flag else second[0]


@pytest.mark.parametrize("outside", [standing, kernel])
def test_parts_that_fail_stop_their_callers(outside):
    @outside
    def change(values):
        values[1] = 5
        _passes_on(values)
        values[1] = 6

    values = np.zeros(3)
    assert change(values) is None
    np.testing.assert_array_equal(values, [7, 6, 0])
    values = np.zeros(4)
    with pytest.raises(ValueError, match="too many"):
        change(values)
    np.testing.assert_array_equal(values, [0, 5, 0, 0])


@pytest.mark.parametrize("outside", [standing, kernel])
def test_arguments_are_those_of_the_moment(outside):
    """What a part is given by its place does not change when the variable does."""

    @outside
    def choose(one, other, n):
        pair, found = (one, (other, n)), 0
        for k in range(n):
            kept = one
            found = 10 * found + _first_of(pair, k % 2 == 0)
            one, other = _swapped((one, other))
            found = 10 * found + _first_of((kept, (one, n)), True)
            pair = one, (kept, k)
        return found

    one, other = np.array([1]), np.array([2])
    assert choose(one, other, 3) == 111211
