"""Blocks of rows, sums in a fixed order, and arrays that threads reuse."""

from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import pytest

from steadyboost.trees.parallel import ScratchArrays, serial_map, split_evenly, sum_in_order


@pytest.mark.parametrize("n_blocks", [1, 2, 3, 12])
@pytest.mark.parametrize("n", [0, 1, 5, 1000])
def test_blocks_follow_one_another_and_are_of_like_length(n, n_blocks):
    slices = split_evenly(n, n_blocks)
    assert len(slices) == n_blocks
    np.testing.assert_array_equal(np.concatenate([np.arange(n)[at] for at in slices]), np.arange(n))
    lengths = [at.stop - at.start for at in slices]
    assert max(lengths) - min(lengths) <= 1


def test_sums_are_taken_from_left_to_right():
    values = [1e16, 1.0, -1e16]
    assert sum_in_order(values) == (1e16 + 1.0) - 1e16
    np.testing.assert_array_equal(sum_in_order(serial_map(np.array, [[1, 2], [3, 4]])), [4, 6])


def test_scratch_arrays_are_kept_by_name_and_each_thread_has_its_own():
    scratch = ScratchArrays()
    first = scratch.array("rows", 10, np.int32)
    assert np.may_share_memory(scratch.array("rows", 10, np.int32), first)
    assert not np.may_share_memory(scratch.array("others", 10, np.int32), first)
    with ThreadPoolExecutor(1) as pool:
        other = pool.submit(scratch.array, "rows", 10, np.int32).result()
    assert not np.may_share_memory(other, first)


def test_what_was_made_is_kept_for_the_same_object_and_key():
    scratch, of, numbers = ScratchArrays(), object(), iter(range(9))
    made = partial(next, numbers)
    assert [scratch.once("it", of, (1,), made) for _ in range(2)] == [0, 0]
    assert scratch.once("it", of, (2,), made) == 1
    assert scratch.once("it", object(), (2,), made) == 2
    assert scratch.once("other", of, (2,), made) == 3
