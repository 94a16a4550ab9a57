"""DMCBoost as NOTES of its paper resolve it: slow, literal, every hypothesis tried by itself.

A tree is grown by relabelling rows: ``votes`` holds what the tree says of each row so far, -1
before the root is split. Each way to split a node and to label its two parts is judged by a line
search over *all* rows.
"""

import math
from dataclasses import dataclass, field

import numpy as np
from reference import linesearch
from reference import tree as trees


@dataclass
class State:
    """The rows and where boosting stands."""

    columns: list
    y: list
    weights: list
    n_classes: int
    scores: list
    scale: float = 0.0

    def problem(self, votes):
        return self.scores, self.y, votes, self.weights

    def add(self, votes, step):
        for row, vote in zip(self.scores, votes, strict=True):
            row[vote] += step
        self.scale += abs(step)


def exponential_loss(state, votes, step):
    """Sum over rows and wrong labels of exp(f(l) - f(y))."""
    total = 0.0
    for row, y, vote, w in zip(*state.problem(votes), strict=True):
        f = [v + step * (k == vote) for k, v in enumerate(row)]
        total += w * sum(math.exp(v - f[y]) for k, v in enumerate(f) if k != y)
    return total


def by_error(state):
    """Phase I: the least error along the hypothesis, then the least exponential loss there."""
    before = exponential_loss(state, [-1] * len(state.y), 0.0)

    def judge(votes):
        step, error, _ = linesearch.minimize_error(*state.problem(votes), state.scale, join=True)
        loss = exponential_loss(state, votes, step) / before
        return round(error / sum(state.weights), 12), round(loss, 6)

    judge.label = label_one_by_one
    return judge


def by_margin(state, bottom, tol):
    """Phase II: the largest mean bottom margin along the hypothesis."""

    def judge(votes):
        problem = state.problem(votes)
        step, _ = linesearch.maximize_margin(*problem, bottom, state.scale, tol)
        g = linesearch.bottom_margin(*problem, step, bottom, state.scale)[0]
        return (-round(g, 9),)

    judge.label = label_together
    return judge


@dataclass(eq=False)
class Node:
    rows: np.ndarray
    label: int
    depth: int
    place: int
    split: tuple = ()  # (feature, bins that go left)
    children: list = field(default_factory=list)


def masses(state, rows):
    return [sum(state.weights[i] for i in rows if state.y[i] == k) for k in range(state.n_classes)]


def relabelled(votes, rows, label):
    votes = list(votes)
    for i in rows:
        votes[i] = label
    return votes


def best_label(state, judge, votes, rows):
    """The label of some rows: by judgement, then by the larger class, then the lower index."""
    mass = masses(state, rows)
    rated = [(judge(relabelled(votes, rows, k)), -mass[k], k) for k in range(state.n_classes)]
    judgement, _, label = min(rated)
    return judgement, label


def gini(state, parts):
    total = 0.0
    for rows in parts:
        mass = masses(state, rows)
        total += sum(v * v for v in mass) / sum(mass)
    return -total


def candidates(state, node):
    """(feature, present bins that go left), in the order in which they are tried."""
    channels = trees.label_channels(np.array(state.y), np.array(state.weights), state.n_classes)
    for f, column in enumerate(state.columns):
        for left in trees.candidates(column, node.rows, channels, "gini"):
            yield f, left


def label_one_by_one(state, judge, votes, left, right):
    """Phase I: the left part is labelled while the right one keeps the label that it has."""
    _, left_label = best_label(state, judge, votes, left)
    judgement, right_label = best_label(state, judge, relabelled(votes, left, left_label), right)
    return judgement, (left_label, right_label)


def label_together(state, judge, votes, left, right):
    """Phase II: the best two labels; then those of the larger classes, then the lower ones."""
    masses_of = masses(state, left), masses(state, right)
    rated = []
    for l in range(state.n_classes):
        on_left = relabelled(votes, left, l)
        for r in range(state.n_classes):
            mass = masses_of[0][l] + masses_of[1][r]
            rated.append((judge(relabelled(on_left, right, r)), -mass, (l, r)))
    judgement, _, labels = min(rated)
    return judgement, labels


def find_split(state, judge, votes, node):
    """(judgement, Gini, feature, bins, left label, right label) of the best split, or None."""
    best = None
    for f, left_bins in candidates(state, node):
        goes_left = np.isin(state.columns[f].bins[node.rows], left_bins)
        left, right = node.rows[goes_left], node.rows[~goes_left]
        if not len(left) or not len(right):
            continue
        judgement, labels = judge.label(state, judge, votes, left, right)
        key = (judgement, round(gini(state, (left, right)), 9))
        if best is None or key < best[0]:
            best = key, f, left_bins, *labels
    return best


def may_split(state, node, max_depth):
    return node.depth < max_depth and sum(m > 0 for m in masses(state, node.rows)) > 1


def split_node(state, votes, node, found, n_nodes):
    _, f, left_bins, *labels = found
    channels = trees.label_channels(np.array(state.y), np.array(state.weights), state.n_classes)
    split = trees.Split(0.0, f, left_bins)
    goes_left = trees.bins_to_the_left(state.columns[f], split, node.rows, channels, "gini")
    left = np.isin(state.columns[f].bins[node.rows], sorted(goes_left))
    node.split = f, goes_left
    for side, rows in enumerate((node.rows[left], node.rows[~left])):
        votes = relabelled(votes, rows, labels[side])
        node.children.append(Node(rows, labels[side], node.depth + 1, n_nodes + side))
    return votes


def grow(state, judge, max_depth, max_leaf_nodes=None):
    """The root of a tree, its votes and its nodes in the order in which they were made.

    Depth first, the left part first; with a limit of leaves, that node which leads to the best
    judgement.
    """
    root = Node(np.arange(len(state.y)), -1, 0, 0)
    votes, nodes, open_nodes = [-1] * len(state.y), [root], [root]
    while open_nodes and (max_leaf_nodes is None or len(nodes) // 2 + 1 < max_leaf_nodes):
        tried = open_nodes if max_leaf_nodes is not None else open_nodes[-1:]
        found = [
            find_split(state, judge, votes, node) if may_split(state, node, max_depth) else None
            for node in tried
        ]
        rated = [(f[0][0], n.place, n, f) for n, f in zip(tried, found, strict=True) if f]
        for node, split in zip(list(tried), found, strict=True):
            if split is None:
                open_nodes.remove(node)
        if rated:
            *_, node, split = min(rated, key=lambda r: r[:2])
            open_nodes.remove(node)
            votes = split_node(state, votes, node, split, len(nodes))
            nodes += node.children
            open_nodes += node.children[::-1]
    if votes[0] < 0:  # nothing to split: one label for all
        root.label = best_label(state, judge, votes, root.rows)[1]
        votes = [root.label] * len(votes)
    return root, votes, nodes


def edges_of(state, bottom):
    """What naming each label is worth in the rows at the bottom; ties share the last places."""
    rows = list(zip(state.scores, state.y, strict=True))
    rival = [max(v for k, v in enumerate(row) if k != y) for row, y in rows]
    gaps = [row[y] - top for (row, y), top in zip(rows, rival, strict=True)]
    shares, left = [0.0] * len(gaps), bottom
    for gap in sorted(set(gaps)):
        tied = [i for i, g in enumerate(gaps) if g == gap]
        mass = sum(state.weights[i] for i in tied)
        for i in tied:
            shares[i] = state.weights[i] * min(1.0, left / mass)
        left -= min(left, mass)
    edges = np.zeros((len(gaps), state.n_classes + 1))
    for i, (row, y) in enumerate(rows):
        for k in range(state.n_classes):
            edges[i, k] = shares[i] * ((k == y) - (k != y and row[k] == rival[i]))
        edges[i, -1] = shares[i]
    return edges


def grow_by_edges(state, bottom, max_depth, max_leaf_nodes=None):
    """Votes of the tree with the largest total edge, on the rows at the bottom."""
    leaves = math.inf if max_leaf_nodes is None else max_leaf_nodes
    rules = trees.Rules("max_edge", max_depth=max_depth, max_leaf_nodes=leaves)
    edges = edges_of(state, bottom)
    edges /= np.abs(edges).sum()
    root = trees.grow(state.columns, edges, rules)
    bins = np.array([column.bins for column in state.columns]).T
    leaf = [trees.find_leaf(root, row) for row in bins]
    return [int(np.argmax(node.value[:-1])) for node in leaf]


@dataclass
class Round:
    phase: int
    step: float
    error: float
    g: float
    interval: tuple
    votes: list


def training_error(state):
    return linesearch.error_at(*state.problem([-1] * len(state.y)), 0.0) / sum(state.weights)


def finish_round(state, phase, votes, step, interval, bottom):
    state.add(votes, step)
    nobody = [-1] * len(votes)
    g = linesearch.bottom_margin(*state.problem(nobody), 0.0, bottom, state.scale)[0]
    return Round(phase, step, training_error(state), g, interval, votes)


def phase_one(state, bottom, patience, **limits):
    """Until no error is left, or too many rounds do not decrease it; these are dropped."""
    rounds, best, kept = [], 1.0, 0
    while best > 0 and len(rounds) - kept < patience:
        _, votes, _ = grow(state, by_error(state), **limits)
        step, _, interval = linesearch.minimize_error(*state.problem(votes), state.scale)
        rounds.append(finish_round(state, 1, votes, step, interval, bottom))
        if rounds[-1].error < best - 1e-12:
            best, kept = rounds[-1].error, len(rounds)
    return rounds[:kept]


def phase_two(state, bottom, patience, n_rounds, selection, epsilon, tol, **limits):
    """Coordinate ascent with epsilon-relaxation, in units of the first phase's steps."""
    unit, nobody = state.scale, [-1] * len(state.y)
    best = linesearch.bottom_margin(*state.problem(nobody), 0.0, bottom, state.scale)[0]
    rounds, kept = [], 0
    while len(rounds) < n_rounds and len(rounds) - kept < patience:
        if selection == "gradient":
            votes = grow_by_edges(state, bottom, **limits)
        else:
            _, votes, _ = grow(state, by_margin(state, bottom, tol * unit), **limits)
        begin, end = linesearch.maximize_margin(
            *state.problem(votes), bottom, state.scale, tol * unit
        )
        step = begin + epsilon * unit
        rounds.append(finish_round(state, 2, votes, step, (begin, end), bottom))
        if rounds[-1].g > best + 1e-12:
            best, kept = rounds[-1].g, len(rounds)
    return rounds[:kept]


def dmcboost(
    columns, y, n_classes, bottom, *, weights=None, n_rounds=1000, patience=20,
    selection="gradient", epsilon=0.01, tol=1e-5, max_depth=3, max_leaf_nodes=None,
):  # fmt: skip
    """All rounds that are kept."""
    weights = [1.0] * len(y) if weights is None else [float(w) for w in weights]
    y = [int(v) for v in y]
    limits = {"max_depth": max_depth, "max_leaf_nodes": max_leaf_nodes}
    state = State(columns, y, weights, n_classes, [[0.0] * n_classes for _ in y])
    first = phase_one(state, bottom, patience, **limits)[:n_rounds]
    state = State(columns, y, weights, n_classes, [[0.0] * n_classes for _ in y])
    for round_ in first:
        state.add(round_.votes, round_.step)
    left = n_rounds - len(first)
    return first + phase_two(state, bottom, patience, left, selection, epsilon, tol, **limits)
