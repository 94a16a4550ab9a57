"""Trees with larger leaves are what they would be if splits with a small side did not count."""

import numpy as np
import pytest
from reference.random_tree import shares_with_size
from reference.tree_cases import pack, random_columns, related_labels

from steadyboost.trees.growth.random_tree import RandomGrowth, grow_random_tree
from steadyboost.trees.prediction.leaf_sizes import add_votes, reachable, shares, with_leaf_size

K = 3
SIZES = np.array([1.0, 2.0, 4.5, 20.0, 1e9])


@pytest.fixture(params=[False, True], ids=["best cuts", "random cuts"])
def case(request):
    rng = np.random.default_rng(1)
    columns = random_columns(rng, 150, numeric=3, gappy=2, categorical=2)
    labels, weights = related_labels(rng, columns, K), rng.poisson(1.0, 150).astype(float)
    binned = pack(columns)
    return binned, grow_random_tree(binned, labels, weights, K, RandomGrowth(1, request.param), 0)


@pytest.mark.parametrize("size", SIZES)
def test_leaves_speak_as_their_twins_do(case, size):
    _, tree = case
    sized = with_leaf_size(tree, size)
    expected = shares_with_size(tree, size)
    np.testing.assert_allclose(sized.value, expected, rtol=0, atol=1e-12)
    if size == 1:
        np.testing.assert_array_equal(sized.value, shares(tree.value))
    if size == SIZES[-1]:
        assert (sized.value == sized.value[0]).all()


@pytest.mark.parametrize("size", SIZES)
def test_nodes_below_leaves_can_be_dropped(case, size):
    binned, tree = case
    sized = with_leaf_size(tree, size)
    short = reachable(sized)
    np.testing.assert_array_equal(
        short.value[binned.leaves(short)], sized.value[binned.leaves(tree)]
    )
    assert len(short.feature) == (1 if size == SIZES[-1] else 2 * short.is_leaf.sum() - 1)
    assert size == 1 or len(short.feature) < len(tree.feature)


def test_votes_of_listed_rows_are_added_for_every_size(case):
    binned, tree = case
    missed = np.random.default_rng(2).random(binned.n_rows) < 0.4
    votes = np.ones((len(SIZES), binned.n_rows, K))
    add_votes(tree, SIZES, binned, missed, votes)
    leaves = binned.leaves(tree)
    for size, own in zip(SIZES, votes, strict=True):
        expected = 1 + shares_with_size(tree, size)[leaves] * missed[:, None]
        np.testing.assert_allclose(own, expected, rtol=0, atol=1e-12)


def test_nothing_is_shared_out_evenly():
    np.testing.assert_array_equal(shares(np.zeros((2, 4))), np.full((2, 4), 0.25))
