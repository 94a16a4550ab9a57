"""Functions inside kernels are parts of them."""

import contextlib
import gc
import itertools
import operator

import numpy as np
import pytest
from numba import njit, types
from numba.core.compiler import Flags
from numba.core.errors import TypingError
from numba.core.registry import cpu_target

from steadyboost.trees.compiler import KernelCompiler, PartCompiler, QuickFlags, choosing_once

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
            with choosing_once(context):
                found = [context.resolve_function_type(function, args, {}) for _ in range(2)]
            assert found == [usual, usual]


@pytest.mark.parametrize("value", [1.0, None])
def test_the_context_is_left_as_it_was(value):
    @kernel
    def doubled(value):
        return value + value

    with contextlib.suppress(TypingError):
        assert doubled(value) == 2
    assert "resolve_function_type" not in vars(cpu_target.typing_context)
