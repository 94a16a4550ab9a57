"""Laws of random trees, checked node by node over rows: slow and obvious."""

import numpy as np
from reference.tree_cases import bins_in


def rows_of_nodes(tree, bins, rows):
    """The rows that come to each node, by following the left sets from the root."""
    inside = {0: rows}
    for node in range(len(tree.feature)):
        if tree.is_leaf[node]:
            continue
        left = np.isin(
            bins[inside[node], tree.feature[node]], sorted(bins_in(tree.left_bitset[node]))
        )
        for child, side in zip(tree.children[node], (left, ~left), strict=True):
            inside[int(child)] = inside[node][side]
    return inside


def class_sums(labels, weights, rows, k):
    sums = np.zeros(k)
    for i in rows:
        sums[labels[i]] += weights[i]
    return sums


def purity(labels, weights, rows, k):
    """Sum of squares over mass."""
    sums = class_sums(labels, weights, rows, k)
    return (sums**2).sum() / sums.sum()


def numeric_orders(n_bins):
    """Bins as cuts part them: missing values last, or first."""
    return [[*range(n_bins), n_bins], [n_bins, *range(n_bins)]]


def score_of_cut(left, rows, labels, weights, k, least):
    """What both sides score together; nothing where one of them is too small."""
    sides = rows[left], rows[~left]
    if min(map(len, sides)) < least:
        return -np.inf
    return sum(purity(labels, weights, side, k) for side in sides)


def best_of_numbers(own, n_bins, rows, labels, weights, k, least, gaps_left):
    """The best score over all cuts of a numeric column, gaps on the left or on the right."""
    order = numeric_orders(n_bins)[int(gaps_left)]
    cuts = (np.isin(own, order[:size]) for size in range(1, n_bins + 1))
    return max(score_of_cut(left, rows, labels, weights, k, least) for left in cuts)


def best_of_categories(own, rows, labels, weights, k, least):
    """The best score over orders by the share of each class, of present bins."""
    present = sorted(set(own.tolist()))
    best = []
    for wanted in range(k):
        masses = [class_sums(labels, weights, rows[own == b], k) for b in present]
        order = np.argsort([mass[wanted] / mass.sum() for mass in masses], kind="stable")
        cuts = (np.isin(own, np.array(present)[order[:size]]) for size in range(1, len(present)))
        best.append(max(score_of_cut(left, rows, labels, weights, k, least) for left in cuts))
    return best


def shares_with_size(tree, size):
    """Class shares of the nodes; below a split with a small side, those of the split node."""
    out = np.empty_like(tree.value)

    def descend(node, speaker):
        out[node] = tree.value[speaker] / tree.value[speaker].sum()
        if tree.is_leaf[node]:
            return
        below = tree.children[node]
        counts = speaker == node and (tree.value[below].sum(axis=1) >= size).all()
        for child in below:
            descend(child, child if counts else speaker)

    descend(0, 0)
    return out
