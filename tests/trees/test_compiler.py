"""Functions inside kernels are parts of them."""

import contextlib
import gc
import itertools
import operator
import sys

import numpy as np
import pytest
from numba import njit, types
from numba.core import errors, interpreter, ir
from numba.core.compiler import Flags
from numba.core.errors import NumbaError, TypingError
from numba.core.registry import cpu_target
from numba.np import arrayobj

from steadyboost.trees.compiler import KernelCompiler, PartCompiler, QuickFlags
from steadyboost.trees.shortcuts import shortcuts

part = njit(no_cpython_wrapper=True, no_cfunc_wrapper=True, pipeline_class=PartCompiler)
kernel = njit(pipeline_class=KernelCompiler)


@part
def _add_one(values):
    for i in range(len(values)):
        values[i] += 1


@part
def _add_two(values):
    _add_one(values)
    _add_one(values)


@part
def _add_three(values):
    _add_two(values)
    _add_one(values)


@part
def _copied(values):
    return values + 0.5


@part
def _fails(value):
    return value.no_such_thing


def compiled(function):
    """A kernel of its own, compiled anew."""
    return kernel(lambda values: function(values))


@pytest.fixture(autouse=True)
def collecting():
    yield
    gc.enable()


def test_parts_may_call_the_same_part():
    @kernel
    def both(values):
        _add_two(values)
        _add_three(values)
        _add_one(values)

    values = np.zeros(4)
    both(values)
    np.testing.assert_array_equal(values, 6)


def test_functions_of_numba_cannot_call_parts():
    with pytest.raises(NumbaError, match="_add_two can be called by Python and our kernels only"):
        njit(lambda values: _add_two(values))(np.zeros(3))


def test_kernels_may_share_a_part():
    values = np.zeros(4)
    for _ in range(2):
        compiled(_add_three)(values)
    np.testing.assert_array_equal(values, 6)


def test_a_part_may_be_compiled_for_several_types():
    for dtype in (np.float32, np.int64, np.float64):
        values = np.zeros(4, dtype=dtype)
        compiled(_add_two)(values)
        np.testing.assert_array_equal(values, 2)


def test_parts_may_allocate():
    np.testing.assert_array_equal(compiled(_copied)(np.zeros(3)), 0.5)


@pytest.mark.parametrize("collects", [True, False])
def test_garbage_is_collected_afterwards_as_before(collects):
    (gc.enable if collects else gc.disable)()
    compiled(_add_one)(np.zeros(1))
    assert gc.isenabled() == collects


def test_garbage_is_collected_after_an_error():
    with pytest.raises(TypingError, match="no_such_thing"):
        compiled(_fails)(np.zeros(1))
    assert gc.isenabled()


def test_quick_flags_equal_those_of_numba():
    usual = Flags()
    usual.nrt = True
    quick = QuickFlags(usual)
    assert quick.values() == usual.values()
    assert quick == usual
    assert usual == quick
    assert quick == quick.copy()
    assert hash(quick) == hash(usual)
    quick.release_gil = True
    assert quick != usual
    assert usual != quick
    assert quick != "flags"


def test_operators_are_chosen_as_numba_does():
    context = cpu_target.typing_context
    compiled(_add_one)(np.zeros(1))  # so that the context knows them
    numbers = [types.int64, types.uint64, types.uint32, types.float64, types.boolean]
    for name in (operator.add, operator.mul, operator.eq, operator.lt):
        function = context.resolve_value_type(name)
        for args in itertools.product(numbers, repeat=2):
            usual = context.resolve_function_type(function, args, {})
            with shortcuts(context):
                found = [context.resolve_function_type(function, args, {}) for _ in range(2)]
            assert found == [usual, usual]


@pytest.mark.parametrize("value", [1.0, None])
def test_numba_is_left_as_it_was(value):
    @kernel
    def doubled(value):
        return value + value

    def found():
        parts = arrayobj.make_array, ir.Inst._rec_list_vars, interpreter.peep_hole_delete_with_exit
        return *parts, errors._termcolor_inst, type(cpu_target.target_context)

    before = found()
    with contextlib.suppress(TypingError):
        assert doubled(value) == 2
    assert "resolve_function_type" not in vars(cpu_target.typing_context)
    assert found() == before


@pytest.mark.parametrize("counts_references", [True, False])
def test_arguments_are_unpacked_from_tuples(counts_references):
    @njit(pipeline_class=KernelCompiler, _nrt=counts_references)
    def add_up(table, parts, absent):
        (first, (second, number, (third,))), flag = parts
        total = number + 1000 * flag
        for i in range(len(first)):
            total += table[i, 1] * first[i] + second[i] + third[-1 - i]
        first[0] = -1
        return total if absent is None else 0.0

    table, first = np.arange(12.0).reshape(6, 2)[::2], np.arange(3, dtype=np.int32)
    second, third = np.arange(9, dtype=np.uint8)[::3], np.array([10.0, 20.0, 30.0])
    arrays = table, first, second, third
    before = [sys.getrefcount(array) for array in arrays]
    for _ in range(3):
        first[0] = 0
        total = add_up(table, ((first, (second, 0.5, (third,))), True), None)
        assert total == (table[:, 1] * first).sum() + table[0, 1] + 9 + 60 + 0.5 + 1000
        assert first[0] == -1
    assert [sys.getrefcount(array) for array in arrays] == before


def test_arrays_may_be_sliced_and_written_to():
    @kernel
    def shift(table, words):
        row = table[1]
        row[1:] = row[:-1].copy()
        table[:, 0] = words[-1]
        words[len(words) - 1 :] = np.uint32(table.shape[0] * table.shape[1])
        return row

    table, words = np.arange(6.0).reshape(2, 3), np.array([7, 8], dtype=np.uint32)
    np.testing.assert_array_equal(shift(table, words), [8, 3, 4])
    np.testing.assert_array_equal(table, [[8, 1, 2], [8, 3, 4]])
    np.testing.assert_array_equal(words, [7, 6])


def test_arrays_may_be_given_another_shape():
    @kernel
    def turn(values):
        table = values.reshape(2, -1)
        table[1, 0] = table.T.copy().ravel().sum() + len(values)
        return table

    values = np.arange(6.0)
    np.testing.assert_array_equal(turn(values), [[0, 1, 2], [21, 4, 5]])
    assert values[3] == 21


def test_loops_take_the_steps_of_ranges():
    @kernel
    def numbers(start, stop, step, out):
        n = 0
        for number in range(start, stop, step):
            for _ in range(step, 0):
                out[n] -= 1000
            for _ in range(step):
                out[n] += 1000
            out[n] += number
            n += 1
        return n

    for start, stop in itertools.product(range(-3, 4), repeat=2):
        for step in (-3, -2, -1, 1, 2, 5):
            out, wanted = np.zeros(8, dtype=np.int64), list(range(start, stop, step))
            assert numbers(start, stop, step, out) == len(wanted)
            np.testing.assert_array_equal(out[: len(wanted)] - 1000 * step, wanted)
            assert not out[len(wanted) :].any()
