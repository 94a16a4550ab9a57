"""Nodes of so many rows that threads share what there is to do.

Their rows are listed in segments, each by itself in the order of the nodes, so that a thread that
takes one can send its rows to the children without the others. Once a node is small, its rows are
copied to one list, behind all segments, and the thread that leads does the rest alone.

``crew``    (adding, lists, tables, offers, search)
``adding``  what threads share loops and histograms by, see :mod:`steadyboost.trees.adding`
``lists``   (slot, spans, middle): of each large node its slot, and of each slot the spans of its
            rows by segment; where those begin that go right
``offers``  per stretch of features and child the best split: score, feature, and set of bins that
            go left
"""

import numpy as np

from steadyboost.trees.adding import add_shared, for_each
from steadyboost.trees.crew import Crew, shared_loop
from steadyboost.trees.jit import plain
from steadyboost.trees.sending import partition_with, settle_with, table_of_bins
from steadyboost.trees.splitting import SET_WORDS, complete, find_best, search_room
from steadyboost.trees.state import FRESH, LISTED, N_SLOTS, SHARED, SOLO

SOLO_CELLS = 100_000  # rows times features of a node that one thread does alone


def solo_rows(bins: tuple, few: int) -> int:
    """Up to how many rows a node is not large."""
    return max(few, SOLO_CELLS // len(bins[1]))


def crew_room(adding: tuple, n_rows: int, solo: int, capacity: int, crew: Crew, k: int) -> tuple:
    """What threads share of a tree, for sums of k channels; large nodes are more than ``solo``."""
    bounds, n_cuts = adding[1], len(adding[2]) - 1
    spans = np.empty((n_rows // (solo + 1) + 2, *bounds.shape), dtype=np.int64)
    lists = np.full(capacity, -1), spans, np.empty(len(bounds), dtype=np.int64)
    offers = (
        np.empty((n_cuts, 2)),
        np.empty((n_cuts, 2), dtype=np.int64),
        np.empty((n_cuts, 2, SET_WORDS), dtype=np.uint32),
    )
    (tables,) = for_each(crew, (table_of_bins(),))
    return adding, lists, tables, offers, for_each(crew, search_room(k))


@plain
def begin_large(crew, n_rows, state):
    """The root is large, and lists of small nodes come behind its rows."""
    bounds, slot, spans = crew[0][1], crew[1][0], crew[1][1]
    state[SHARED], state[N_SLOTS], state[LISTED], slot[0] = 1, 1, n_rows, 0
    for segment in range(len(bounds)):
        spans[0, segment, 0], spans[0, segment, 1] = bounds[segment, 0], bounds[segment, 1]


@plain
def fill_large(bins, sums, rows, node, n_rows, n_channels, crew, hist):
    """Histogram of a large node."""
    adding, (slot, spans, _), _, _, _ = crew
    add_shared(adding, bins, sums, rows, spans[slot[node]], n_rows, np.int64(1), n_channels, hist)


@plain
def _subtract_columns(bins, own, parent, child, n_channels, out):
    """As ``subtract``, of some features: their sums and, where rows are counted, these."""
    offsets = bins[2][0]
    first, end, width = offsets[own[0]], offsets[own[-1] + 1], n_channels
    for _ in range(1 + (len(out) > offsets[-1] * n_channels)):
        at = slice(first * width, end * width)
        of_both, of_one, rest = parent[at], child[at], out[at]
        for cell in range(len(rest)):
            rest[cell] = of_both[cell] - of_one[cell]
        skipped, width = offsets[-1] * n_channels, np.int64(1)
        first, end = skipped + offsets[own[0]], skipped + offsets[own[-1] + 1]


@shared_loop
def _search_columns(stretch, who, args):
    """The best splits of one node, or two, by some features."""
    bins, hists, parent, larger, totals, wanted, rule, cuts, offers, search = args
    features = bins[1][cuts[stretch] : cuts[stretch + 1]]
    if larger >= 0:
        of_one, out = hists[1 - larger], hists[larger]
        _subtract_columns(bins, features, parent, of_one, len(totals[0]), out)
    for k in range(2):
        offers[0][stretch, k] = -np.inf
        if wanted[k]:
            offers[0][stretch, k], offers[1][stretch, k] = find_best(
                hists[k], features, bins[2], totals[k], rule, (search[0][who], search[1][who]),
                offers[2][stretch, k],
            )  # fmt: skip


@plain
def search_shared(bins, hists, parent, larger, totals, wanted, rule, crew):
    """Look for splits of one node or two, those that are ``wanted``: see ``best_offer``.

    The histogram of the ``larger`` one is written before: the rest of the parent's. (-1: it is
    known.)
    """
    (board, _, cuts, _, _, _, _), _, _, offers, search = crew
    given = bins, hists, parent, larger, totals, wanted, rule, cuts, offers, search
    _search_columns(board, len(cuts) - 1, given)


@plain
def best_offer(k, bins, hist, total, rule, crew, left_set, left_sums):
    """Score and feature of the best split of a node, the first of equals, and what goes left."""
    scores, features, sets = crew[3]
    best = np.int64(0)
    for stretch in range(1, len(scores)):
        if scores[stretch, k] > scores[best, k]:
            best = stretch
    if scores[best, k] > -np.inf:
        for word in range(SET_WORDS):
            left_set[word] = sets[best, k, word]
        complete(hist, features[best, k], bins[2], total, rule[0], left_set, left_sums)
    return scores[best, k], features[best, k]


@shared_loop
def _send_segments(segment, who, args):
    packed, (feature, left_set), fresh, rows, scratch, spans, middle, tables = args
    start, stop = spans[segment, 0], spans[segment, 1]
    middle[segment] = start + partition_with(
        packed, feature, left_set, start if fresh else np.int64(-1), rows[start:stop],
        scratch[start:stop], tables[who],
    )  # fmt: skip


@plain
def _list_child(child, starts, ends, rows, span, state):
    """Copy a small child's rows to a list of their own."""
    at = state[LISTED]
    span[child, 0] = at
    for segment in range(len(starts)):
        for k in range(starts[segment], ends[segment]):
            rows[at] = rows[k]
            at += 1
    span[child, 1] = state[LISTED] = at


@plain
def _deal(node, left, middle, rows, span, lists, state):
    """Give a node's rows to its children; ``middle`` is where those of the right one begin.

    A large child takes over the slot of its parent, or the next one if both are large.
    """
    slot, spans, _ = lists
    own, large_left = spans[slot[node]], span[left, 1] > state[SOLO]
    large_right = span[left + 1, 1] > state[SOLO]
    if not large_left:
        _list_child(left, own[:, 0], middle, rows, span, state)
    if not large_right:
        _list_child(left + 1, middle, own[:, 1], rows, span, state)
    slot[left], slot[left + 1] = -1, -1
    if large_right:
        slot[left + 1] = slot[node]
        if large_left:
            slot[left + 1] = state[N_SLOTS]
            state[N_SLOTS] += 1
        for segment in range(len(own)):
            spans[slot[left + 1], segment, 1] = own[segment, 1]
            spans[slot[left + 1], segment, 0] = middle[segment]
    if large_left:
        slot[left] = slot[node]
        for segment in range(len(own)):
            own[segment, 1] = middle[segment]
    slot[node] = -1


@plain
def send_large(bins, node, left, rows, scratch, at_limit, tree, span, crew, state):
    """Send a large node's rows to its children; whether the left child has at most half.

    Where these are leaves, rows stay where they are until ``place_large``.
    """
    adding, lists, tables, _, _ = crew
    slot, spans, middle = lists
    total, n_rows = np.int64(0), span[node, 1] - span[node, 0]
    for child in range(left, left + 2):
        span[child, 0], span[child, 1], slot[child] = 0, 0, -1
    if at_limit:
        return False
    own = spans[slot[node]]
    split = tree[0][node], tree[2][node]
    given = bins[0], split, state[FRESH] > 0, rows, scratch, own, middle, tables
    _send_segments(adding[0], len(own), given)
    state[FRESH] = 0
    for segment in range(len(own)):
        total += middle[segment] - own[segment, 0]
    span[left, 1], span[left + 1, 1] = total, n_rows - total
    _deal(node, left, middle, rows, span, lists, state)
    return 2 * total <= n_rows


@shared_loop
def _place_segments(segment, who, args):
    """Write the leaves of a segment's rows."""
    packed, rows, spans, slot, fresh, tree, n_nodes, node_of_row, tables = args
    if fresh:
        for k in range(spans[0, segment, 0], spans[0, segment, 1]):
            rows[k] = k
    for node in range(n_nodes):
        if slot[node] < 0:
            continue
        own = rows[spans[slot[node], segment, 0] : spans[slot[node], segment, 1]]
        left = tree[1][node, 0]
        if left == node:
            for k in range(len(own)):
                node_of_row[np.uint64(own[k])] = node
        else:
            settle_with(packed, tree[0][node], tree[2][node], own, left, node_of_row, tables[who])


@plain
def place_large(bins, rows, tree, n_nodes, span, node_of_row, crew, state):
    """Write the leaves of the rows that large nodes still have."""
    adding, (slot, spans, _), tables, _, _ = crew
    fresh = state[FRESH] > 0
    given = bins[0], rows, spans, slot, fresh, tree, n_nodes, node_of_row, tables
    _place_segments(adding[0], spans.shape[1], given)
    state[FRESH] = 0
    for node in range(n_nodes):
        if slot[node] >= 0:
            span[node, 0], span[node, 1] = 0, 0
