"""Trees and rules as text, and trees as graphs in the DOT language."""

from collections.abc import Set
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from steadyboost.boosters.families.binary import BinaryBoostingClassifier
from steadyboost.boosters.steadyboost import SteadyBoostClassifier
from steadyboost.boosters.steadyboost.booster_member import BoosterMember
from steadyboost.ensemble.prediction import FittedBooster
from steadyboost.exports.column_text import ColumnText, column_texts
from steadyboost.exports.trees import (
    FeatureBins,
    SplitIntervals,
    added,
    column_names,
    hypotheses_of,
)
from steadyboost.learners.base import Answer, Answers
from steadyboost.learners.c45 import C45Answer
from steadyboost.learners.tree import TreeAnswer
from steadyboost.trees.growth.tree import GrownTree


def listed(names: list[str], last: str = "or") -> str:
    """Names as a list in words: A, B or C."""
    return f" {last} ".join([part for part in (", ".join(names[:-1]), names[-1]) if part])


@dataclass(frozen=True)
class SplitText:
    """The two sides of a split as text; missing values are named where training had any."""

    bins: FeatureBins
    columns: list[ColumnText]
    has_missing: np.ndarray
    digits: int

    @classmethod
    def of(cls, model: Any, digits: int) -> "SplitText":
        return cls(FeatureBins.of(model), column_texts(model), model._binner.has_missing, digits)

    def sides(self, tree: GrownTree, node: int, settled: Set[int] = frozenset()) -> tuple[str, str]:
        """The conditions of the left and right branch; ``settled`` columns have no gaps there."""
        feature = int(tree.feature[node])
        runs = self.bins.runs(tree, node)
        if not runs.thresholds:
            return self._gaps_alone(feature, runs)
        if self.bins.categories[feature] is not None:
            texts = self._sets(feature, self.bins.codes_left(tree, node)[:-1])
        else:
            texts = [self._ranges(feature, runs, side) for side in (True, False)]
        if self.has_missing[feature] and feature not in settled:
            texts[0 if runs.missing_left else 1] += " or missing"
        return texts[0], texts[1]

    def settles(self, tree: GrownTree, node: int) -> tuple[Set[int], Set[int]]:
        """Columns whose missing values the split has decided, on the left and on the right."""
        own, runs = frozenset([int(tree.feature[node])]), self.bins.runs(tree, node)
        if not runs.thresholds:
            return own, own
        return (frozenset(), own) if runs.missing_left else (own, frozenset())

    def _gaps_alone(self, feature: int, runs: SplitIntervals) -> tuple[str, str]:
        sides = [f"{self.columns[feature].name} {what}" for what in ("is known", "is missing")]
        return (sides[0], sides[1]) if runs.left[0] else (sides[1], sides[0])

    def _sets(self, feature: int, left: np.ndarray) -> list[str]:
        """The smaller set of categories by its values, the other as its complement."""
        name = self.columns[feature].name
        values = [_plain(value) for value in self.bins.categories[feature] or ()]
        swapped = bool(2 * left.sum() > len(left))
        few = [value for value, own in zip(values, left != swapped, strict=True) if own]
        if len(few) == 1:
            texts = [f"{name} = {few[0]}", f"{name} != {few[0]}"]
        else:
            inside = "{" + ", ".join(few) + "}"
            texts = [f"{name} in {inside}", f"{name} not in {inside}"]
        return texts[::-1] if swapped else texts

    def _ranges(self, feature: int, runs: SplitIntervals, side: bool) -> str:
        """The intervals of one side."""
        column = self.columns[feature]
        name = column.name
        ends = [None, *(column.threshold(at, self.digits) for at in runs.thresholds), None]
        texts = []
        for (low, high), own in zip(pairwise(ends), runs.left, strict=True):
            if own == side:
                below = f"{name} <= {high}" if low is None else f"{low} < {name} <= {high}"
                texts.append(f"{name} > {low}" if high is None else below)
        return listed(texts)


def _plain(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def vote_name(model: Any, part: int, values: np.ndarray) -> str:
    """The classes that a vote favours, by what it adds to the scores."""
    names = [str(label) for label in model.classes_.tolist()]
    if isinstance(model, SteadyBoostClassifier) and len(names) > 1:
        return _member_answer(model, part, values, names)
    if model.n_outputs() == len(names) > 1 and not _is_one_of_many(model):
        return _favoured(names, values)
    if isinstance(model, BinaryBoostingClassifier):
        bits = model.bits_[:, part] if len(names) > 1 else np.ones(1)
    else:
        bits = np.arange(len(names)) == part
    return _group(names, bits.astype(bool) == (values[part] > 0))


def _member_answer(
    model: SteadyBoostClassifier, part: int, values: np.ndarray, names: list[str]
) -> str:
    """What a leaf of a booster adds to a class, or the majority class of a forest's leaf."""
    place = model._members.place_of_tree(part)
    member, own = place.member, values[place.columns]
    if isinstance(member, BoosterMember):
        j = part - place.trees.start
        return f"{names[1] if member.width == 1 else names[j % member.width]} {own[j]:+.3g}"
    return f"{names[int(own.argmax())]} ({own.max() / (own.sum() or 1.0):.0%})"


def _is_one_of_many(model: Any) -> bool:
    """Whether each column of scores has binary trees of its own."""
    return isinstance(model.stages_[0].answer, Answers)


def _favoured(names: list[str], values: np.ndarray) -> str:
    distinct = np.unique(np.round(values, 12))
    if len(distinct) > 2:
        return ", ".join(f"{name} {value:+.3g}" for name, value in zip(names, values, strict=True))
    return _group(names, values > distinct.mean() if len(distinct) == 2 else np.ones(len(names)))


def _group(names: list[str], inside: np.ndarray) -> str:
    """Some of the classes, or all but a few."""
    inside = inside.astype(bool)
    chosen = [name for name, own in zip(names, inside, strict=True) if own]
    others = [name for name, own in zip(names, inside, strict=True) if not own]
    if not others or not chosen:
        return "any class" if chosen else "no class"
    if len(chosen) == 1 or len(chosen) <= len(others):
        return listed(chosen)
    return f"not {listed(others)}"


def export_text(
    model: Any, round: int | None = 0, *, part: int | None = None, digits: int = 4
) -> str:
    """The hypotheses of a booster as text.

    A tree has a line per branch. A conjunction of tests, as of :class:`~steadyboost.DecisionRule`,
    and a tree of one split are a rule of one line. C4.5 trees are as C4.5 prints them.

    Parameters
    ----------
    model : booster
        A fitted booster with a weak learner of this package.
    round : int or None, default=0
        Index of the round; negative ones count from the end; None for all rounds.
    part : int or None, default=None
        Index of the subproblem, for boosters that have several; None for all of them.
    digits : int, default=4
        Significant digits of thresholds; more where digits before the decimal point need them.

    Returns
    -------
    text : str
        A leaf is followed by the classes whose scores it raises.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from steadyboost import SAMMEClassifier, Tree
    >>> from steadyboost.exports import export_text
    >>> iris = load_iris(as_frame=True)
    >>> y = iris.target_names[iris.target]
    >>> model = SAMMEClassifier(Tree(max_depth=2), n_estimators=3).fit(iris.data, y)
    >>> print(export_text(model, round=0))
    Round 1 of 3: step 3.871, error 0.04
    petal length (cm) <= 2.45: setosa
    petal length (cm) > 2.45
    |   petal width (cm) <= 1.75: versicolor
    |   petal width (cm) > 1.75: virginica
    """
    chosen = chosen_hypotheses(model, round, part)
    lines: list[str] = []
    for t, p, answer in chosen:
        lines += [*([""] if lines else []), title(model, t, p)]
        lines += _lines(model, t, p, answer, digits)
    return "\n".join(lines)


def chosen_hypotheses(
    model: Any, round: int | None, part: int | None
) -> list[tuple[int, int, Answer]]:
    """Hypotheses of a round and a subproblem, or of all of them."""
    if not isinstance(model, FittedBooster):
        raise ValueError(f"model={type(model).__name__} is not a booster of steadyboost.")
    check_is_fitted(model, "stages_")
    n = len(model.stages_)
    if round is not None and not -n <= round < n:
        raise ValueError(f"round={round} does not exist; the model has rounds 0 to {n - 1}.")
    wanted = None if round is None else round % n
    rounds = [one for one in hypotheses_of(model) if wanted is None or one[0] == wanted]
    if part is None:
        return rounds
    parts = sorted({p for _, p, _ in rounds})
    if part not in parts:
        raise ValueError(f"part={part} does not exist; choose from {parts}.")
    return [one for one in rounds if one[1] == part]


def title(model: Any, t: int, p: int) -> str:
    """Heading of a hypothesis: round, subproblem, step and error."""
    stage = model.stages_[t]
    several = getattr(stage.answer, "answers", None) is not None
    step, error = (float(np.ravel(v)[p % np.size(v)]) for v in (stage.step, stage.error))
    where = f", part {p}" if several else ""
    return f"Round {t + 1} of {len(model.stages_)}{where}: step {step:.4g}, error {error:.4g}"


def vote_names(model: Any, t: int, p: int, answer: Answer, votes: np.ndarray) -> list[str]:
    """The classes that each vote favours."""
    if model.n_columns(t + 1) > model.n_outputs():
        return [("left", "right")[vote] for vote in votes]  # through a branching program
    gains = added(model, t, p, answer, votes)
    return [vote_name(model, p, own) for own in gains]


def _lines(model: Any, t: int, p: int, answer: Answer, digits: int) -> list[str]:
    if isinstance(answer, TreeAnswer):
        names = vote_names(model, t, p, answer, answer.label)
        write = _rule if is_rule(answer.tree, names) else _branches
        return write(answer.tree, names, SplitText.of(model, digits))
    if isinstance(answer, C45Answer):
        return _c45(model, t, p, answer).splitlines()
    kind = type(getattr(answer, "estimator", answer)).__name__
    raise ValueError(
        f"The weak learner {kind} is not from steadyboost, so its hypotheses cannot be "
        "written as text here; for trees of scikit-learn see sklearn.tree.export_text."
    )


def is_rule(tree: GrownTree, names: list[str]) -> bool:
    """Whether a tree is one conjunction: rows that fail any of its tests get the same vote."""
    outside = tree.children[~tree.is_leaf, 1]
    return bool(tree.is_leaf[outside].all()) and len({names[node] for node in outside}) <= 1


def _rule(tree: GrownTree, names: list[str], tests: SplitText) -> list[str]:
    node, outside, passed = 0, 0, []
    settled: Set[int] = frozenset()
    while not tree.is_leaf[node]:
        passed.append(tests.sides(tree, node, settled)[0])
        settled |= tests.settles(tree, node)[0]
        node, outside = tree.children[node].tolist()
    if not passed:
        return [f"always: {names[node]}"]
    if len(passed) > 1:
        passed = [f"({test})" if " or " in test else test for test in passed]
    return [f"if {' and '.join(passed)}: {names[node]}, otherwise: {names[outside]}"]


def _branches(tree: GrownTree, names: list[str], tests: SplitText) -> list[str]:
    lines: list[str] = []
    root: tuple[int, int, str, Set[int]] = (0, 0, "", frozenset())
    waiting = [root]  # node, depth, what holds there, and columns without gaps there
    while waiting:
        node, depth, text, settled = waiting.pop()
        leaf = tree.is_leaf[node]
        if text:
            lines.append("|   " * (depth - 1) + text + (f": {names[node]}" if leaf else ""))
        if not leaf:
            texts, known = tests.sides(tree, node, settled), tests.settles(tree, node)
            for side in (1, 0):
                child = int(tree.children[node, side])
                waiting.append((child, depth + 1, texts[side], settled | known[side]))
    return lines


def _c45(model: Any, t: int, p: int, answer: C45Answer) -> str:
    n_answers = answer.tree.class_weights.shape[1]
    votes: Any = np.eye(n_answers) if answer.by_share else np.arange(n_answers, dtype=np.int32)
    names = vote_names(model, t, p, answer, votes)
    values = [kept and list(map(str, kept)) for kept in model._encoder.column_categories]
    return answer.tree.to_text(column_names(model), names, values)


HEAD = """digraph tree {
    graph [fontname="Helvetica" labelloc="t" fontsize=12]
    node [shape=box style="rounded,filled" fillcolor="white" fontname="Helvetica" fontsize=11]
    edge [fontname="Helvetica" fontsize=10 color="#57606a" fontcolor="#57606a"]"""
# Tints of the colours of Okabe and Ito, on which black text is readable.
TINTS = ("#cce3f0", "#f7dfcc", "#cceee3", "#f5e4ee", "#faecd0", "#ddf0fb", "#fcf9d9", "#e0e0e0")


def export_graphviz(model: Any, round: int = 0, *, part: int = 0, digits: int = 4) -> str:
    """A tree of a booster in the DOT language, for graphviz.

    Parameters
    ----------
    model : booster
        A fitted booster with trees, stumps, tests or rules of this package.
    round : int, default=0
        Index of the round; negative ones count from the end.
    part : int, default=0
        Index of the subproblem, for boosters that have several.
    digits : int, default=4
        Significant digits of thresholds; more where digits before the decimal point need them.

    Returns
    -------
    dot : str
        The graph; ``graphviz.Source(dot)`` shows it in a notebook, and ``dot -Tsvg`` renders it.
        Leaves that favour the same class have the same colour in all trees of a booster.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from steadyboost import SAMMEClassifier, Stump
    >>> from steadyboost.exports import export_graphviz
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = SAMMEClassifier(Stump(), n_estimators=3).fit(X, y)
    >>> print(export_graphviz(model).splitlines()[5])
        0 [label="petal length (cm) <= 2.45"]
    """
    t, p, answer = chosen_hypotheses(model, round, part)[0]
    if not isinstance(answer, TreeAnswer):
        raise ValueError(
            f"{type(answer).__name__} is not a binary tree of steadyboost; use export_text."
        )
    tree, tests = answer.tree, SplitText.of(model, digits)
    names = vote_names(model, t, p, answer, answer.label)
    leaves = (name for name, leaf in zip(names, tree.is_leaf, strict=True) if leaf)
    answers = list(dict.fromkeys([*map(str, model.classes_.tolist()), *leaves]))
    lines = [HEAD, f"    label={_quoted(title(model, t, p))}"]
    for node, leaf in enumerate(tree.is_leaf.tolist()):
        if leaf:
            tint = TINTS[answers.index(names[node]) % len(TINTS)]
            lines.append(f'    {node} [label={_quoted(names[node])} fillcolor="{tint}"]')
            continue
        lines.append(f"    {node} [label={_quoted(tests.sides(tree, node)[0])}]")
        for child, word in zip(tree.children[node].tolist(), ("yes", "no"), strict=True):
            lines.append(f'    {node} -> {child} [label=" {word} "]')
    return "\n".join([*lines, "}"])


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
