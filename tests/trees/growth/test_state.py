"""The pool of histograms becomes larger as a tree grows, inside of the compiled call."""

import numpy as np
import pytest
from reference import tree as twin
from reference.tree_cases import (
    assert_identical,
    assert_same_as_twin,
    pack,
    random_columns,
    rules_for,
    sums_for,
)

from steadyboost.trees.growth import state as module
from steadyboost.trees.growth.grower import grow
from steadyboost.trees.growth.params import TreeParams
from steadyboost.trees.growth.state import MIN_SLOTS
from steadyboost.trees.growth.tree import GrownTree, GrowthPlan, Parallelism, grow_tree
from steadyboost.trees.histograms.row_statistics import ScratchArrays


def plan_of(columns, sums, params):
    return GrowthPlan(pack(columns), sums, params, None, None, Parallelism(), ScratchArrays())


def deep(criterion, n_rows, **kinds):
    """Columns of few bins, so that nodes of few rows have histograms, too."""
    rng = np.random.default_rng(0)
    columns = random_columns(rng, n_rows, **{"numeric": 6, "gappy": 3, "n_bins": 3, **kinds})
    return columns, *sums_for(rng, columns, criterion)


@pytest.mark.parametrize("best_first", [False, True])
@pytest.mark.parametrize("criterion", ["gini", "edge"])
def test_a_pool_that_is_too_small_is_widened(criterion, best_first, monkeypatch):
    columns, sums, shares = deep(criterion, 250)
    params = TreeParams(criterion, max_leaf_nodes=250 if best_first else None)
    wide, wide_leaf = grow_tree(pack(columns), sums, params)
    monkeypatch.setattr(module, "MANY_CELLS", 0)
    plan = plan_of(columns, sums, params)
    state, rows = plan.make_state(), np.arange(250, dtype=np.int32)
    assert len(state.pool) == MIN_SLOTS
    n_nodes, pool = grow(
        plan.bins, plan.stats, rows, rows.copy(), plan.split, plan.limits, plan.tree, state
    )
    assert len(pool) > MIN_SLOTS
    tree = GrownTree.from_growth(plan.tree, n_nodes)
    assert tree.depth > MIN_SLOTS
    assert_same_as_twin(tree, twin.grow(columns, shares, rules_for(params)))
    assert_identical(tree, wide)
    np.testing.assert_array_equal(state.node_of_row, wide_leaf)


def test_a_larger_pool_is_kept_for_the_next_tree(monkeypatch):
    monkeypatch.setattr(module, "MANY_CELLS", 0)
    columns, sums, _ = deep("gini", 400)
    binned, scratch, params = pack(columns), ScratchArrays(), TreeParams()
    expected, _ = grow_tree(binned, sums, params)
    pools = []

    def watched(*args):
        n_nodes, pool = grow(*args)
        pools.append((len(args[-1].pool), len(pool)))
        return n_nodes, pool

    monkeypatch.setattr("steadyboost.trees.growth.tree.grow", watched)
    for _ in range(3):
        assert_identical(grow_tree(binned, sums, params, scratch=scratch)[0], expected)
    first, *later = pools
    assert first[0] == MIN_SLOTS < first[1]
    assert later == [(first[1], first[1])] * 2


@pytest.mark.parametrize(
    ("params", "n_slots"),
    [
        (TreeParams(max_depth=1), MIN_SLOTS),
        (TreeParams(max_depth=9), 10),
        (TreeParams(max_leaf_nodes=30), 30),
        (TreeParams(), 401),
    ],
)
def test_there_are_as_many_slots_as_the_limits_may_need(params, n_slots, monkeypatch):
    columns, sums, _ = deep("gini", 400)
    assert len(plan_of(columns, sums, params).make_state().pool) == n_slots
    size = int(pack(columns).offsets[-1]) * 3
    monkeypatch.setattr(module, "MANY_CELLS", 7 * size)
    assert len(plan_of(columns, sums, params).make_state().pool) == min(n_slots, max(7, MIN_SLOTS))


def test_nodes_of_few_rows_need_no_histogram():
    """Where columns have as many bins as a node has rows."""
    columns, sums, _ = deep("gini", 60, n_bins=100)
    plan = plan_of(columns, sums, TreeParams())
    state = plan.make_state()
    assert state.few >= 60
    state.pool[:] = -1
    rows = np.arange(60, dtype=np.int32)
    grow(plan.bins, plan.stats, rows, rows.copy(), plan.split, plan.limits, plan.tree, state)
    assert (state.pool == -1).all()
