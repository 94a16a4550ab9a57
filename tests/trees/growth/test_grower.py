"""Whole trees against the slow twin, and what must hold for every tree."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import tree as twin
from reference.tree_cases import (
    LIMITS,
    REAL,
    assert_identical,
    assert_leaves_hold_the_sums,
    assert_same_as_twin,
    check_growth,
    columns_of,
    growth_of,
    pack,
    random_channels,
    random_columns,
    real,
    related_labels,
    rules_for,
    sums_for,
    up_to_power_of_two,
)
from sklearn.tree import DecisionTreeClassifier

from steadyboost.preprocessing.binner import Binner
from steadyboost.preprocessing.encoder import Encoder, categorical_mask
from steadyboost.trees.growth import grower as module
from steadyboost.trees.growth.grower import MIN_SLOTS, grow
from steadyboost.trees.growth.params import TreeParams
from steadyboost.trees.growth.tree import GrownTree, GrowthPlan, grow_tree
from steadyboost.trees.histograms.row_statistics import FixedPointSums
from steadyboost.trees.parallel import Parallelism, ScratchArrays

CLASS = ("gini", "entropy", "error")
CRITERIA = (*CLASS, "edge", "newton", "max_edge", "norm")


each_width = pytest.mark.parametrize("n_bins", [9, 40], ids=["few bins", "as many as rows"])


@each_width
@pytest.mark.parametrize("limits", LIMITS)
@pytest.mark.parametrize("criterion", CRITERIA)
def test_numeric_columns_with_gaps_give_the_twins_tree(criterion, limits, n_bins):
    rng = np.random.default_rng(1)
    columns = random_columns(rng, 90, numeric=2, gappy=2, n_bins=n_bins)
    sums, shares = sums_for(rng, columns, criterion)
    check_growth(columns, sums, shares, growth_of(criterion, limits))


@each_width
@pytest.mark.parametrize("limits", ["depth", "everything", "none"])
@pytest.mark.parametrize("criterion", [*CLASS, "newton"])
def test_categories_of_two_classes_give_the_twins_tree(criterion, limits, n_bins):
    rng = np.random.default_rng(2)
    columns = random_columns(rng, 120, numeric=1, gappy=1, categorical=2, n_bins=n_bins)
    sums, shares = sums_for(rng, columns, criterion, n_labels=2)
    check_growth(columns, sums, shares, growth_of(criterion, limits))


@pytest.mark.parametrize("limits", ["depth", "both"])
@pytest.mark.parametrize("criterion", CLASS)
@pytest.mark.parametrize("name", REAL)
def test_real_data_give_the_twins_tree(name, criterion, limits):
    columns, _, labels, n_labels = real(name)
    rows = np.random.default_rng(3).permutation(len(labels))[:250]
    columns = [twin.Column(c.bins[rows], c.n_bins, c.categorical) for c in columns]
    weights = np.random.default_rng(4).uniform(0.1, 1, len(rows))
    sums = FixedPointSums.of_labels(labels[rows], weights, n_labels)
    shares = twin.label_channels(labels[rows], weights, n_labels)
    tree, leaf_of_row = check_growth(columns, sums, shares, growth_of(criterion, limits))
    assert_leaves_hold_the_sums(tree, leaf_of_row, shares)


@pytest.mark.parametrize("criterion", CLASS)
@pytest.mark.parametrize("name", REAL)
def test_equal_weights_on_real_data_break_ties_as_the_twin_does(name, criterion):
    columns, _, labels, n_labels = real(name)
    rows = np.random.default_rng(5).permutation(len(labels))[:128]
    columns = [twin.Column(c.bins[rows], c.n_bins, c.categorical) for c in columns]
    weights = np.ones(128)
    sums = FixedPointSums.of_labels(labels[rows], weights, n_labels)
    shares = twin.label_channels(labels[rows], weights, n_labels)
    check_growth(columns, sums, shares, TreeParams(criterion, max_depth=5), tolerance=0)


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
@pytest.mark.parametrize("name", ["iris", "wine", "digits"])
def test_a_stump_is_as_good_as_scikit_learns(name, criterion):
    _, binned, labels, n_labels = real(name)
    X, weights = binned_values(binned), np.random.default_rng(6).uniform(0.1, 1, len(labels))
    theirs = DecisionTreeClassifier(max_depth=1, criterion=criterion, random_state=0)
    theirs = theirs.fit(X, labels, sample_weight=weights).tree_
    tree, _ = grow_tree(
        binned,
        FixedPointSums.of_labels(labels, weights, n_labels),
        TreeParams(criterion, max_depth=1),
    )
    shares = theirs.weighted_n_node_samples / weights.sum()
    gain = theirs.impurity[0] - shares[1:] @ theirs.impurity[1:]
    assert tree.gain[0] == pytest.approx(gain * (np.log(2) if criterion == "entropy" else 1))


def binned_values(binned):
    return np.column_stack([column.bins for column in columns_of(binned)])


@st.composite
def tables(draw, categorical):
    """A few rows of few bins, so that ties, empty bins and gaps abound."""
    n_rows = draw(st.integers(2, 24))
    columns = []
    for _ in range(draw(st.integers(1, 5))):
        n_bins = draw(st.integers(1, 5))
        bins = draw(st.lists(st.integers(0, n_bins), min_size=n_rows, max_size=n_rows))
        columns.append(twin.Column(np.array(bins), n_bins, categorical and draw(st.booleans())))
    return columns


@st.composite
def growths(draw, criterion):
    maybe = st.sampled_from([None, 2, 4])
    return TreeParams(
        criterion,
        draw(maybe),
        draw(maybe),
        draw(st.integers(1, 3)),
        draw(st.sampled_from([0.0, 0.125, 0.25])),
    )


@pytest.mark.parametrize("criterion", CLASS)
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_any_labels_and_integer_weights_give_the_twins_tree(criterion, data):
    n_labels = data.draw(st.integers(2, 4))
    columns = data.draw(tables(categorical=n_labels == 2))
    n_rows = len(columns[0].bins)
    whole = st.integers(0, n_labels - 1)
    labels = np.array(data.draw(st.lists(whole, min_size=n_rows, max_size=n_rows)), dtype=np.int32)
    weights = data.draw(st.lists(st.integers(0, 3), min_size=n_rows, max_size=n_rows))
    weights = up_to_power_of_two(np.array(weights) + (np.arange(n_rows) == 0))
    shares = twin.label_channels(labels, weights, n_labels)
    sums = FixedPointSums.of_labels(labels, weights, n_labels)
    tree, leaf = check_growth(columns, sums, shares, data.draw(growths(criterion)), tolerance=0)
    assert_leaves_hold_the_sums(tree, leaf, shares)


@pytest.mark.parametrize("criterion", ["edge", "newton"])
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_any_integer_channels_give_the_twins_tree(criterion, data):
    columns = data.draw(tables(categorical=True))
    n_rows = len(columns[0].bins)
    whole = st.lists(st.integers(-3, 3), min_size=n_rows, max_size=n_rows)
    channels = np.column_stack([data.draw(whole), np.ones(n_rows)])
    channels[0, -1] += up_to_power_of_two(np.abs(channels).ravel()).sum() - np.abs(channels).sum()
    shares = channels / np.abs(channels).sum()
    growth = data.draw(growths(criterion))
    tree, leaf = check_growth(
        columns, FixedPointSums.of_channels(channels), shares, growth, tolerance=0
    )
    assert_leaves_hold_the_sums(tree, leaf, shares)


@pytest.mark.parametrize("noise", [0.01, 0.1, 1.0])
def test_gains_of_categories_count_by_their_signal(noise):
    rng = np.random.default_rng(11)
    columns = random_columns(rng, 300, numeric=1, gappy=1, categorical=2, n_bins=25)
    channels = random_channels(rng, columns, "newton")
    scale = np.abs(channels).sum()
    growth = TreeParams("newton", max_depth=2, category_noise=noise)
    check_growth(
        columns, FixedPointSums.of_channels(channels), channels / scale, growth, scale=scale
    )


@pytest.mark.parametrize("l2", [0.5, 5.0, 50.0])
def test_l2_is_in_the_units_of_the_channels(l2):
    rng = np.random.default_rng(7)
    columns = random_columns(rng, 60)
    channels = random_channels(rng, columns, "newton")
    scale = np.abs(channels).sum()
    growth = TreeParams("newton", max_depth=2, l2=l2)
    check_growth(
        columns, FixedPointSums.of_channels(channels), channels / scale, growth, scale=scale
    )


@pytest.mark.parametrize("limits", LIMITS)
@pytest.mark.parametrize("criterion", CRITERIA)
def test_leaf_sums_equal_the_total_weight(criterion, limits):
    rng = np.random.default_rng(8)
    columns = random_columns(rng, 500, gappy=2, categorical=3, n_bins=30)
    sums, shares = sums_for(rng, columns, criterion, n_labels=5)
    tree, leaf_of_row = grow_tree(pack(columns), sums, growth_of(criterion, limits))
    assert_leaves_hold_the_sums(tree, leaf_of_row, shares)


@pytest.mark.parametrize("name", REAL)
@pytest.mark.parametrize("limits", ["depth", "leaves", "none"])
def test_a_row_is_in_the_leaf_that_apply_finds(name, limits):
    _, binned, labels, n_labels = real(name)
    weights = np.random.default_rng(9).exponential(size=len(labels))
    sums = FixedPointSums.of_labels(labels, weights, n_labels)
    tree, leaf_of_row = grow_tree(binned, sums, growth_of("gini", limits))
    np.testing.assert_array_equal(leaf_of_row, tree.apply(binned.packed))
    assert tree.is_leaf[leaf_of_row].all()


@pytest.mark.parametrize("name", REAL)
def test_a_tree_without_limits_knows_every_training_label(name):
    _, binned, labels, n_labels = real(name)
    tree, leaf = grow_tree(
        binned, FixedPointSums.of_labels(labels, np.ones(len(labels)), n_labels), TreeParams()
    )
    np.testing.assert_array_equal(tree.label[leaf], labels)


@pytest.mark.parametrize("limits", LIMITS)
def test_limits_hold_in_every_leaf(limits):
    rng = np.random.default_rng(10)
    columns = random_columns(rng, 400, categorical=1)
    sums, _ = sums_for(rng, columns, "gini")
    growth = growth_of("gini", limits)
    tree, leaf_of_row = grow_tree(pack(columns), sums, growth)
    leaves, counts = np.unique(leaf_of_row, return_counts=True)
    assert len(leaves) == tree.is_leaf.sum() <= (growth.max_leaf_nodes or 400)
    assert tree.depth <= (growth.max_depth or 400)
    assert counts.min() >= growth.min_samples_leaf
    assert tree.value[leaves].sum(axis=1).min() >= growth.min_weight_leaf - 1e-12


@pytest.mark.parametrize("n_rows", [8, 12, 14, 30])
def test_a_leaf_may_have_exactly_the_least_weight(n_rows):
    column = twin.Column(np.arange(n_rows), n_rows)
    labels = (np.arange(n_rows) >= n_rows // 2).astype(np.int32)
    sums = FixedPointSums.of_labels(labels, np.full(n_rows, 1 / n_rows), 2)
    tree, _ = grow_tree(pack([column]), sums, TreeParams(max_depth=1, min_weight_leaf=0.5))
    assert len(tree.feature) == 3


def test_exclusive_or_is_learnt_through_a_split_without_gain():
    columns = [twin.Column(np.array([0, 0, 1, 1]), 2), twin.Column(np.array([0, 1, 0, 1]), 2)]
    labels = np.array([0, 1, 1, 0], dtype=np.int32)
    tree, leaf = grow_tree(
        pack(columns), FixedPointSums.of_labels(labels, np.ones(4), 2), TreeParams()
    )
    np.testing.assert_array_equal(tree.label[leaf], labels)
    assert tree.gain[0] == 0


@pytest.mark.parametrize("criterion", ["edge", "newton"])
def test_edges_that_gain_nothing_are_not_split(criterion):
    column = twin.Column(np.arange(8), 8)
    channels = np.column_stack([np.full(8, 0.5), np.ones(8)])
    tree, leaf = grow_tree(
        pack([column]), FixedPointSums.of_channels(channels), TreeParams(criterion)
    )
    assert len(tree.feature) == 1
    assert (leaf == 0).all()


@pytest.mark.parametrize("criterion", CLASS)
def test_gains_are_never_negative(criterion):
    rng = np.random.default_rng(11)
    columns = random_columns(rng, 300, numeric=6, gappy=0, n_bins=3)
    labels = rng.integers(2, size=300).astype(np.int32)
    for seed in range(20):
        weights = np.random.default_rng(seed).random(300)
        tree, _ = grow_tree(
            pack(columns), FixedPointSums.of_labels(labels, weights, 2), TreeParams(criterion)
        )
        assert tree.gain.min() >= 0


def assert_a_single_leaf(columns, labels, weights, growth=None):
    sums = FixedPointSums.of_labels(labels, weights, 2)
    tree, leaf = grow_tree(pack(columns), sums, growth or TreeParams())
    assert tree.is_leaf.tolist() == [True]
    assert tree.depth == 0
    np.testing.assert_array_equal(leaf, np.zeros(len(labels)))
    np.testing.assert_allclose(tree.value[0], twin.label_channels(labels, weights, 2).sum(axis=0))


def test_one_row_is_a_leaf():
    assert_a_single_leaf([twin.Column(np.array([0]), 1)], np.array([1], np.int32), np.ones(1))


def test_one_class_is_a_leaf():
    column = twin.Column(np.arange(5), 5)
    assert_a_single_leaf([column], np.ones(5, dtype=np.int32), np.ones(5))


def test_constant_columns_give_a_leaf():
    columns = [twin.Column(np.zeros(6, dtype=int), 1, kind) for kind in (False, True)]
    assert_a_single_leaf(columns, np.array([0, 1] * 3, dtype=np.int32), np.ones(6))


def test_columns_of_gaps_alone_give_a_leaf():
    columns = [twin.Column(np.ones(6, dtype=int), 1, kind) for kind in (False, True)]
    assert_a_single_leaf(columns, np.array([0, 1] * 3, dtype=np.int32), np.ones(6))


@pytest.mark.parametrize("limit", [{"min_samples_leaf": 4}, {"min_weight_leaf": 0.5}])
def test_a_node_whose_halves_are_too_small_is_a_leaf(limit):
    column = twin.Column(np.array([0, 0, 1, 1, 1, 1, 1]), 2)
    labels = np.array([0, 0, 1, 1, 1, 1, 1], dtype=np.int32)
    assert_a_single_leaf([column], labels, np.ones(7), TreeParams(**limit))


@pytest.mark.parametrize("weights", [np.zeros(6), np.full(6, 1e-310), np.full(6, 1e307)])
def test_extreme_weights_give_shares_all_the_same(weights):
    column = twin.Column(np.arange(6), 6)
    labels = np.array([0, 0, 1, 1, 1, 0], dtype=np.int32)
    tree, leaf = grow_tree(
        pack([column]), FixedPointSums.of_labels(labels, weights, 2), TreeParams()
    )
    expected = [0.5, 0.5] if weights.any() else [0, 0]
    np.testing.assert_allclose(tree.value[0], expected)
    assert tree.is_leaf[leaf].all()


@pytest.mark.parametrize("limits", LIMITS)
@pytest.mark.parametrize("criterion", CRITERIA)
def test_rows_without_weight_influence_nothing(criterion, limits):
    rng = np.random.default_rng(12)
    columns = random_columns(rng, 200, categorical=1)
    heavy = np.flatnonzero(rng.random(200) < 0.6)
    weights = np.zeros(200)
    weights[heavy] = rng.integers(1, 9, len(heavy))
    sums = weighted_sums(rng, columns, criterion, weights)
    growth = growth_of(criterion, limits)
    with_them, _ = grow_tree(pack(columns), sums, growth)
    without, _ = grow_tree(pack(columns), sums, growth, rows=heavy)
    assert_identical(with_them, without)


def weighted_sums(rng, columns, criterion, weights):
    if criterion in CLASS:
        return FixedPointSums.of_labels(related_labels(rng, columns, 3), weights, 3)
    return FixedPointSums.of_channels(random_channels(rng, columns, criterion) * weights[:, None])


@pytest.mark.parametrize("limits", ["depth", "leaves", "weight", "none"])
@pytest.mark.parametrize("criterion", CLASS)
def test_weight_two_is_a_row_twice(criterion, limits):
    rng = np.random.default_rng(13)
    columns = random_columns(rng, 64, categorical=1)
    labels = related_labels(rng, columns, 3)
    twice = np.arange(64).repeat(np.where(np.arange(64) < 32, 1, 3))
    doubled = [twin.Column(c.bins[twice], c.n_bins, c.categorical) for c in columns]
    growth = growth_of(criterion, limits)
    weights = np.bincount(twice).astype(float)
    heavy, _ = grow_tree(pack(columns), FixedPointSums.of_labels(labels, weights, 3), growth)
    sums = FixedPointSums.of_labels(labels[twice], np.ones(len(twice)), 3)
    repeated, leaf = grow_tree(pack(doubled), sums, growth)
    assert_identical(heavy, repeated)
    np.testing.assert_array_equal(leaf, heavy.apply(pack(doubled).packed))


@pytest.mark.parametrize("criterion", CRITERIA)
def test_some_rows_and_features_give_the_twins_tree(criterion):
    rng = np.random.default_rng(14)
    columns = random_columns(rng, 150, numeric=5, gappy=2)
    sums, shares = sums_for(rng, columns, criterion)
    rows = np.sort(rng.choice(150, 80, replace=False))
    features = np.array([0, 3, 4, 6])
    growth = growth_of(criterion, "depth")
    tree, leaf = check_growth(columns, sums, shares, growth, rows=rows, features=features)
    assert set(tree.feature[~tree.is_leaf]) <= set(features)
    assert len(leaf) == 150


def test_shares_are_of_the_rows_in_use():
    rng = np.random.default_rng(15)
    columns = random_columns(rng, 100)
    labels, weights = related_labels(rng, columns, 3), rng.random(100)
    rows = np.arange(0, 100, 3)
    sums = FixedPointSums.of_labels(labels, weights, 3, rows)
    tree, _ = grow_tree(pack(columns), sums, TreeParams(max_depth=3), rows=rows)
    assert tree.value[tree.is_leaf].sum() == pytest.approx(1, abs=1e-11)  # totals have 40 bits


def test_growth_leaves_its_arguments_as_they_were():
    rng = np.random.default_rng(16)
    columns = random_columns(rng, 100)
    sums, _ = sums_for(rng, columns, "gini")
    binned, rows = pack(columns), np.arange(0, 100, 2, dtype=np.int32)
    before = binned.packed.copy(), rows.copy(), sums.weights.copy()
    grow_tree(binned, sums, TreeParams(), rows=rows)
    for old, new in zip(before, (binned.packed, rows, sums.weights), strict=True):
        np.testing.assert_array_equal(old, new)


def test_thousands_of_open_leaves_find_room():
    rng = np.random.default_rng(17)
    columns = random_columns(rng, 6000, numeric=4, gappy=0, n_bins=250)
    labels = rng.integers(4, size=6000).astype(np.int32)
    sums = FixedPointSums.of_labels(labels, np.ones(6000), 4)
    best_first, leaf = grow_tree(pack(columns), sums, TreeParams(max_leaf_nodes=6000))
    depth_first, other = grow_tree(pack(columns), sums, TreeParams())
    assert best_first.is_leaf.sum() == depth_first.is_leaf.sum() > 2000
    np.testing.assert_array_equal(best_first.value[leaf], depth_first.value[other])


@pytest.mark.parametrize("name", ["breast_cancer", "german"])
def test_real_categories_with_gaps_give_the_twins_tree(from_folder, name):
    frame, target = from_folder(name)[:2]
    rows = np.random.default_rng(18).permutation(len(target))[:250]
    frame, labels = frame.iloc[rows], np.unique(target, return_inverse=True)[1][rows]
    encoder = Encoder.learn(frame, categorical_mask(frame, "from_dtype"))
    X = encoder.encode(frame)
    columns = columns_of(Binner.learn(X, encoder.is_categorical).bin(X))
    weights = np.random.default_rng(19).uniform(0.1, 1, len(rows))
    sums = FixedPointSums.of_labels(labels, weights, 2)
    check_growth(columns, sums, twin.label_channels(labels, weights, 2), TreeParams(max_depth=3))


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
    monkeypatch.setattr(module, "PREALLOCATED_CELLS", 0)
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
    monkeypatch.setattr(module, "PREALLOCATED_CELLS", 0)
    columns, sums, _ = deep("gini", 400)
    binned, scratch, params = pack(columns), ScratchArrays(), TreeParams()
    expected, _ = grow_tree(binned, sums, params)
    pools = []

    def watched(*args):
        n_nodes, pool = grow(*args)
        pools.append((len(args[-1].pool), len(pool)))
        return n_nodes, pool

    monkeypatch.setattr("steadyboost.trees.growth.tree.announce_compilation", lambda *_: None)
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
    monkeypatch.setattr(module, "PREALLOCATED_CELLS", 7 * size)
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
