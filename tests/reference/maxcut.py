"""Colourings by the book: slow twins that follow the definitions word for word."""

from itertools import combinations, product


def affinity_by_definition(weights, y, k):
    """w(l, l') = sum_i D(i, l) [l' = y_i]."""
    return [
        [sum(row[a] for row, label in zip(weights, y, strict=True) if label == b) for b in range(k)]
        for a in range(k)
    ]


def u_by_definition(weights, y, coloring):
    """U = sum_i sum_l D(i, l) [mu(y_i) != mu(l)]."""
    return sum(
        weight
        for row, label in zip(weights, y, strict=True)
        for other, weight in enumerate(row)
        if coloring[label] != coloring[other]
    )


def cut_by_definition(affinity, coloring):
    """Sum of w(l, l') over all ordered pairs of different colours."""
    k = len(coloring)
    return sum(affinity[a][b] for a in range(k) for b in range(k) if coloring[a] != coloring[b])


def max_cut(affinity):
    """Largest cut over all colourings."""
    return max(cut_by_definition(affinity, c) for c in product((0, 1), repeat=len(affinity)))


def even_splits(k):
    """All colourings with exactly k // 2 zeros."""
    return [
        tuple(0 if label in zeros else 1 for label in range(k))
        for zeros in map(set, combinations(range(k), k // 2))
    ]
