"""C4.5 as Quinlan (1993, 1996) tells it: recursive, on lists of cases, and slow.

A case is ``(values, label, weight)``. Nothing here is shared with the package.
"""

import itertools
import math
from dataclasses import dataclass, field

import numpy as np

EPSILON = 1e-3
TIE = 1e-10
ROUNDING = 1e-6
SLACK = 0.1 + 1e-9


@dataclass
class Node:
    """A leaf, until it gets an attribute and branches."""

    classes: list
    majority: int
    errors: float = 0.0
    attribute: int | None = None
    threshold: float | None = None
    branches: list = field(default_factory=list)

    @property
    def cases(self):
        """Weight of the cases."""
        return sum(self.classes)


@dataclass
class Problem:
    """The training cases and the options."""

    cases: list
    n_values: list
    n_classes: int
    min_cases: float = 2.0
    confidence: float = 0.25
    subtree_raising: bool = True
    mdl_correction: bool = True
    gain_ratio: bool = True


def c45(X, n_values, y, weights, n_classes, *, prune=True, **options):
    """Grow a tree and prune it."""
    cases = [(x, int(c), float(w)) for x, c, w in zip(X, y, weights, strict=True) if w > 0]
    problem = Problem(cases, [int(v) for v in n_values], n_classes, **options)
    tree = form_tree(problem, cases, frozenset())
    if prune:
        prune_tree(problem, tree, cases)
    return tree


def weight(cases):
    """Weight of a list of cases."""
    return sum(w for _, _, w in cases)


def class_weights(problem, cases):
    """Weight of each class."""
    classes = [0.0] * problem.n_classes
    for _, label, w in cases:
        classes[label] += w
    return classes


def heaviest(classes, best):
    """Class of most weight, the first of several."""
    for c, w in enumerate(classes):
        best = c if w > classes[best] + TIE else best
    return best


def info(amounts):
    """Average information of a distribution, in bits."""
    total = sum(amounts)
    return -sum(a / total * math.log2(a / total) for a in amounts if a > 1e-12)


def branch_of(problem, attribute, threshold, value):
    """Branch of a value, None if it is missing."""
    if math.isnan(value):
        return None
    if problem.n_values[attribute] == 0:
        return 0 if value <= threshold else 1
    return int(value)


def split(problem, attribute, threshold, cases):
    """Lists of the cases of each branch, the missing ones in parts in every non-empty branch."""
    known = [[] for _ in range(problem.n_values[attribute] or 2)]
    missing = []
    for case in cases:
        b = branch_of(problem, attribute, threshold, case[0][attribute])
        (missing if b is None else known[b]).append(case)
    total = sum(weight(branch) for branch in known)
    result = []
    for branch in known:
        share = weight(branch) / total
        parts = [(x, label, w * share) for x, label, w in missing] if branch else []
        result.append(branch + parts)
    return result


def form_tree(problem, cases, tested):
    """Divide and conquer."""
    classes = class_weights(problem, cases)
    node = Node(classes, heaviest(classes, 0))
    leaf_errors = node.cases - max(classes)
    node.errors = leaf_errors
    few = node.cases < 2 * problem.min_cases - ROUNDING
    best = None if leaf_errors == 0 or few else best_test(problem, cases, tested)
    if best is None:
        return node
    node.attribute, cut = best
    if cut is not None:
        values = [x[node.attribute] for x, _, _ in problem.cases]
        node.threshold = max(v for v in values if v <= cut)
    if problem.n_values[node.attribute]:
        tested = tested | {node.attribute}
    for branch in split(problem, node.attribute, node.threshold, cases):
        empty = Node([0.0] * problem.n_classes, node.majority)
        node.branches.append(form_tree(problem, branch, tested) if branch else empty)
    node.errors = sum(branch.errors for branch in node.branches)
    if node.errors >= leaf_errors - EPSILON:
        become_leaf(node, leaf_errors)
    return node


def become_leaf(node, errors):
    """Take the test away."""
    node.attribute = node.threshold = None
    node.branches = []
    node.errors = errors


def best_test(problem, cases, tested):
    """Return (attribute, cut) of the best test, or None."""
    tests = []
    for f, n_values in enumerate(problem.n_values):
        test = None
        if n_values == 0:
            test = best_cut(problem, f, cases)
        elif f not in tested:
            test = value_test(problem, f, cases)
        if test is not None:
            tests.append((f, *test))
    many = 0.3 * weight(problem.cases)
    all_many = all(v >= many for v in problem.n_values)
    counted = [gain for f, gain, _, _ in tests if all_many or problem.n_values[f] < many]
    average = sum(counted) / len(counted) if counted else math.inf
    best, best_worth = None, -EPSILON
    for f, gain, split_info, cut in tests:
        if problem.gain_ratio and (gain < average - EPSILON or split_info <= EPSILON):
            continue
        worth = gain / split_info if problem.gain_ratio else gain
        if split_info > 0 and worth > best_worth + TIE:
            best, best_worth = (f, cut), worth
    return best


def value_test(problem, f, cases):
    """Gain and split information of one branch per value, or None."""
    known = [case for case in cases if not math.isnan(case[0][f])]
    branches = [[case for case in known if case[0][f] == v] for v in range(problem.n_values[f])]
    weights = [weight(branch) for branch in branches]
    if sum(w >= problem.min_cases - ROUNDING for w in weights) < 2:
        return None
    total, total_known = weight(cases), weight(known)
    after = sum(
        w / total_known * info(class_weights(problem, branch))
        for branch, w in zip(branches, weights, strict=True)
        if w > 0
    )
    gain = total_known / total * (info(class_weights(problem, known)) - after)
    return max(gain, 0.0), info([*weights, total - total_known]), None


def best_cut(problem, f, cases):
    """Gain, split information and middle of the best cut, or None."""
    known = sorted((x[f], label, w) for x, label, w in cases if not math.isnan(x[f]))
    total, total_known = weight(cases), weight(known)
    if total_known < 2 * problem.min_cases - ROUNDING:
        return None
    smallest = 0.1 * total_known / problem.n_classes
    smallest = max(problem.min_cases, min(25.0, smallest))
    below, above = np.zeros(problem.n_classes), np.array(class_weights(problem, known))
    before = info(above)
    cuts = []
    for (value, label, w), (following, _, _) in itertools.pairwise(known):
        below[label] += w
        above[label] -= w
        left = below.sum()
        wide = smallest - ROUNDING <= left <= total_known - smallest + ROUNDING
        if wide and value < following:
            after = (left * info(below) + (total_known - left) * info(above)) / total_known
            outcomes = info([left, total_known - left, total - total_known])
            gain = total_known / total * (before - after)
            cuts.append((gain, outcomes, (value + following) / 2))
    if not cuts:
        return None
    best = cuts[0]
    for cut in cuts:
        best = cut if cut[0] > best[0] + TIE else best
    cost = math.log2(len(cuts)) / total if problem.mdl_correction else 0.0
    gain, split_info, middle = best
    return (gain - cost, split_info, middle) if gain - cost > TIE else None


def add_errs(n, e, confidence):
    """Quinlan's upper limit of the errors of a leaf, less the errors seen."""
    tails = [0, 0.001, 0.005, 0.01, 0.05, 0.10, 0.20, 0.40, 1.00]
    deviates = [4.0, 3.09, 2.58, 2.33, 1.65, 1.28, 0.84, 0.25, 0.00]
    z2 = np.interp(confidence, tails, deviates) ** 2
    if n == 0:
        return 0.0
    if e < 1e-6:
        return n * (1 - confidence ** (1 / n))
    if e < 0.9999:
        none = n * (1 - confidence ** (1 / n))
        return none + e * (add_errs(n, 1.0, confidence) - none)
    if e + 0.5 >= n:
        return 0.67 * (n - e)
    p = e + 0.5
    limit = (p + z2 / 2 + math.sqrt(z2 * (p * (1 - p / n) + z2 / 4))) / (n + z2)
    return n * limit - e


def pessimistic(problem, classes):
    """Errors charged to a leaf."""
    n, e = sum(classes), sum(classes) - max(classes)
    return e + add_errs(n, e, problem.confidence)


def estimate(problem, node, cases):
    """Errors charged to a tree if it had these cases; the tree stays as it is."""
    if node.attribute is None:
        return pessimistic(problem, class_weights(problem, cases))
    lists = split(problem, node.attribute, node.threshold, cases)
    pairs = zip(node.branches, lists, strict=True)
    return sum(estimate(problem, branch, part) for branch, part in pairs if part)


def prune_tree(problem, node, cases):
    """Prune from the bottom up, with the cases that reach a node."""
    node.classes = class_weights(problem, cases)
    node.majority = heaviest(node.classes, node.majority)
    as_leaf = pessimistic(problem, node.classes)
    node.errors = as_leaf
    if node.attribute is None:
        return
    lists = split(problem, node.attribute, node.threshold, cases)
    for branch, part in zip(node.branches, lists, strict=True):
        if part:
            prune_tree(problem, branch, part)
    largest = node.branches[0]
    for branch in node.branches:
        largest = branch if branch.cases >= largest.cases - 1e-9 else largest
    as_tree = sum(branch.errors for branch in node.branches)
    as_branch = estimate(problem, largest, cases) if problem.subtree_raising else math.inf
    if as_leaf <= as_branch + SLACK and as_leaf <= as_tree + SLACK:
        become_leaf(node, as_leaf)
    elif as_branch <= as_tree + SLACK:
        prune_tree(problem, largest, cases)
        vars(node).update(vars(largest))
    else:
        node.errors = as_tree


def distribution(node, x):
    """Class distribution of a case."""
    if node.attribute is None:
        if node.cases == 0:
            return np.eye(len(node.classes))[node.majority]
        return np.array(node.classes) / node.cases
    value = x[node.attribute]
    if math.isnan(value):
        parts = [branch.cases / node.cases for branch in node.branches]
        shares = [distribution(branch, x) for branch in node.branches]
        return np.array(parts) @ np.array(shares)
    if node.threshold is not None:
        return distribution(node.branches[int(value > node.threshold)], x)
    return distribution(node.branches[int(value)], x)
