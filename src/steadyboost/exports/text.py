"""Trees and rules in words."""

from collections.abc import Set
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from steadyboost.ensemble.prediction import FittedBooster
from steadyboost.exports.members import added, answers_of
from steadyboost.exports.names import Tests, answer_name, feature_names
from steadyboost.learners.base import Answer
from steadyboost.learners.c45 import C45Answer
from steadyboost.learners.tree_answer import TreeAnswer
from steadyboost.trees.growth.tree import GrownTree


def export_text(
    model: Any, round: int | None = 0, *, part: int | None = None, digits: int = 4
) -> str:
    """The hypotheses of a booster in words.

    A tree has a line per branch. A conjunction of tests, as of :class:`~steadyboost.DecisionRule`,
    and a tree of one split are a rule of one line. C4.5 trees are as C4.5 prints them.

    Parameters
    ----------
    model : booster
        A fitted booster whose weak learner is ours.
    round : int or None, default=0
        Which round, from 0, or from the end if negative; None for all of them.
    part : int or None, default=None
        Which problem, where several are boosted side by side; None for all of them.
    digits : int, default=4
        Significant digits of thresholds; more where whole digits would be lost.

    Returns
    -------
    text : str
        Answers are the classes that gain by them.

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
    chosen = chosen_answers(model, round, part)
    lines: list[str] = []
    for t, p, answer in chosen:
        lines += [*([""] if lines else []), title(model, t, p)]
        lines += _lines(model, t, p, answer, digits)
    return "\n".join(lines)


def chosen_answers(
    model: Any, round: int | None, part: int | None
) -> list[tuple[int, int, Answer]]:
    """The hypotheses asked for, by round and problem."""
    if not isinstance(model, FittedBooster):
        raise ValueError(f"model={type(model).__name__} is not a booster of steadyboost.")
    check_is_fitted(model, "stages_")
    n = len(model.stages_)
    if round is not None and not -n <= round < n:
        raise ValueError(f"round={round} is not there; the model has rounds 0 to {n - 1}.")
    wanted = None if round is None else round % n
    rounds = [one for one in answers_of(model) if wanted is None or one[0] == wanted]
    if part is None:
        return rounds
    parts = sorted({p for _, p, _ in rounds})
    if part not in parts:
        raise ValueError(f"part={part} is not there; choose from {parts}.")
    return [one for one in rounds if one[1] == part]


def title(model: Any, t: int, p: int) -> str:
    """Round and problem, how much the answer counts and how often it is wrong."""
    stage = model.stages_[t]
    several = getattr(stage.answer, "answers", None) is not None
    step, error = (float(np.ravel(v)[p % np.size(v)]) for v in (stage.step, stage.error))
    where = f", part {p}" if several else ""
    return f"Round {t + 1} of {len(model.stages_)}{where}: step {step:.4g}, error {error:.4g}"


def answer_names(model: Any, t: int, p: int, answer: Answer, votes: np.ndarray) -> list[str]:
    """What each of some votes stands for."""
    if model.n_columns(t + 1) > model.n_outputs():
        return [("left", "right")[vote] for vote in votes]  # through a branching program
    gains = added(model, t, p, answer, votes)
    return [answer_name(model, p, own) for own in gains]


def _lines(model: Any, t: int, p: int, answer: Answer, digits: int) -> list[str]:
    if isinstance(answer, TreeAnswer):
        names = answer_names(model, t, p, answer, answer.label)
        write = _rule if is_rule(answer.tree, names) else _branches
        return write(answer.tree, names, Tests.of(model, digits))
    if isinstance(answer, C45Answer):
        return _c45(model, t, p, answer).splitlines()
    kind = type(getattr(answer, "estimator", answer)).__name__
    raise ValueError(
        f"The weak learner {kind} is not of steadyboost, so that its hypotheses have no words "
        "here; for trees of scikit-learn see sklearn.tree.export_text."
    )


def is_rule(tree: GrownTree, names: list[str]) -> bool:
    """Whether a tree is one conjunction: who fails a test gets the same answer at every test."""
    outside = tree.children[~tree.is_leaf, 1]
    return bool(tree.is_leaf[outside].all()) and len({names[node] for node in outside}) <= 1


def _rule(tree: GrownTree, names: list[str], tests: Tests) -> list[str]:
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


def _branches(tree: GrownTree, names: list[str], tests: Tests) -> list[str]:
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
    names = answer_names(model, t, p, answer, votes)
    values = [kept and list(map(str, kept)) for kept in model._encoder.categories]
    return answer.tree.to_text(feature_names(model), names, values)
