"""Cuts of a node's rows for a random tree: the best of a feature, or one that is drawn."""

import numpy as np

from steadyboost.trees.jit import kernel

FEW = 24  # rows that are sorted by insertion
PLACES = 257  # of bins in order, one of them for gaps
CATEGORIES = -2  # in place of the bin that comes first
NOTHING = 1e-12  # share of a node's mass that is lost in rounding


@kernel
def draw(state):
    """64 random bits (SplitMix64): the same on every machine."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    bits = state[0]
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


@kernel
def below(n, state):
    return np.int64((draw(state) >> np.uint64(16)) % np.uint64(n))


@kernel
def uniform(state):
    return np.float64(draw(state) >> np.uint64(11)) * 2.0**-53


@kernel
def _order_categories(places, own, totals, mass, place, state):
    """Write the place of each bin in an order that is drawn; ``places`` are bins plus 1.

    ``own`` is (labels, weights) of the node's rows.
    """
    labels, weights = own
    draw, wanted = uniform(state) * mass, 0
    while wanted < len(totals) - 1 and draw >= totals[wanted]:
        draw -= totals[wanted]
        wanted += 1
    share, masses = np.zeros(len(place)), np.zeros(len(place))
    for i in range(len(places)):
        masses[places[i] - 1] += weights[i]
        share[places[i] - 1] += weights[i] * (labels[i] == wanted)
    for b in range(len(place)):
        share[b] = share[b] / masses[b] if masses[b] > 0 else uniform(state)
    order = np.argsort(share)
    for k in range(len(place)):
        place[order[k]] = k + 1


@kernel
def order_numbers(place, gap_first):
    """The same for bins of numbers; the last one has the gaps, which may come first."""
    for b in range(len(place)):
        place[b] = b + 1
    if gap_first:
        place[len(place) - 1] = 0


@kernel
def _read_places(column, rows, first_bin, places):
    """Write the places of numbers, where one bin comes first; the lowest and the highest place."""
    low, high = np.int32(PLACES), np.int32(0)
    for k in range(len(rows)):
        bin_ = np.int32(column[rows[k]])
        at = np.int32(0) if bin_ == first_bin else bin_ + np.int32(1)
        places[k] = at
        low, high = min(low, at), max(high, at)
    return low, high


@kernel
def _sort(places, counts, order):
    """Rows of a node by their places."""
    m = len(places)
    if m <= FEW:
        for k in range(m):
            at, j = places[k], k
            while j > 0 and places[order[j - 1]] > at:
                order[j] = order[j - 1]
                j -= 1
            order[j] = k
        return
    counts[:] = 0
    for k in range(m):
        counts[places[k] + 1] += 1
    for p in range(1, len(counts)):
        counts[p] += counts[p - 1]
    for k in range(m):
        order[counts[places[k]]] = k
        counts[places[k]] += 1


@kernel
def _best_cut(places, own, order, totals, sums, min_leaf, sides):
    """The last place that goes left, and the score of that split: sum of squares over mass.

    ``sums`` are the mass and the sum of squares of the node.
    """
    labels, weights = own
    left, right = sides
    whole, right_squares = sums
    best, cut = -np.inf, -1
    for c in range(len(totals)):
        left[c], right[c] = 0.0, totals[c]
    left_mass, right_mass, left_squares = 0.0, whole, 0.0
    m, here = len(order), places[order[0]]
    for k in range(m - 1):
        c, w = labels[order[k]], weights[order[k]]
        left_squares += w * (2 * left[c] + w)
        right_squares += w * (w - 2 * right[c])
        left[c] += w
        right[c] -= w
        left_mass += w
        right_mass -= w
        last, here = here, places[order[k + 1]]
        if last == here or k + 1 < min_leaf or m - k - 1 < min_leaf:
            continue
        if min(left_mass, right_mass) <= NOTHING * whole:
            continue
        score = left_squares / left_mass + right_squares / right_mass
        if score > best:
            best, cut = score, last
    return cut, best


@kernel
def _random_cut(places, span, own, totals, whole, min_leaf, left, state):
    """As ``_best_cut``, for a random place between the first and the last, ``span``."""
    labels, weights = own
    low, high = span
    cut, n_left = low + below(high - low, state), 0
    left[:] = 0
    for i in range(len(places)):
        goes = places[i] <= cut
        left[labels[i]] += weights[i] * goes
        n_left += goes
    if n_left < min_leaf or len(places) - n_left < min_leaf:
        return -1, -1.0  # a feature that was tried in vain
    mass, squares, others = 0.0, 0.0, 0.0
    for c in range(len(left)):
        mass += left[c]
        squares += left[c] * left[c]
        others += (totals[c] - left[c]) ** 2
    if min(mass, whole - mass) <= NOTHING * whole:
        return -1, -1.0
    return cut, squares / mass + others / (whole - mass)


@kernel
def _place_categories(column, rows, own, totals, mass, place, places, state):
    """As :func:`_read_places` where bins are categories, which are put in order first."""
    low, high = _read_places(column, rows, -1, places)
    if low == high:
        return low, high
    _order_categories(places, own, totals, mass, place, state)
    low, high = np.int32(PLACES), np.int32(0)
    for k in range(len(rows)):
        places[k] = place[places[k] - 1]
        low, high = min(low, places[k]), max(high, places[k])
    return low, high


@kernel
def try_feature(column, first_bin, rows, own, totals, sums, rule, place, room, state):
    """The best, or a random, cut of a feature and its score.

    Numbers have ``first_bin``, the bin before all others or -1; categories have -2, and the place
    of each is written.
    """
    places, order, counts, sides = room
    min_leaf, random_cuts = rule
    if first_bin == CATEGORIES:
        span = _place_categories(column, rows, own, totals, sums[0], place, places, state)
    else:
        span = _read_places(column, rows, first_bin, places)
    if span[0] == span[1]:
        return -1, -np.inf
    if random_cuts:
        return _random_cut(places, span, own, totals, sums[0], min_leaf, sides[0], state)
    _sort(places, counts[: len(place) + 2], order)
    return _best_cut(places, own, order, totals, sums, min_leaf, sides)
