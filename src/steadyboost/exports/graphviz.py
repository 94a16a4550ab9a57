"""Trees as graphs in the DOT language."""

from typing import Any

from steadyboost.exports.names import Tests
from steadyboost.exports.text import answer_names, chosen_answers, title
from steadyboost.learners.tree_answer import TreeAnswer

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
        A fitted booster with our trees, stumps, tests or rules.
    round : int, default=0
        Which round, from 0, or from the end if negative.
    part : int, default=0
        Which problem, where several are boosted side by side.
    digits : int, default=4
        Significant digits of thresholds; more where whole digits would be lost.

    Returns
    -------
    dot : str
        Text of a graph; ``graphviz.Source(dot)`` shows it in a notebook, and ``dot -Tsvg`` draws
        it. Leaves with the same answer have the same colour,
        and a class has it in all trees of a booster.

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
    t, p, answer = chosen_answers(model, round, part)[0]
    if not isinstance(answer, TreeAnswer):
        raise ValueError(
            f"{type(answer).__name__} is no binary tree of steadyboost; export_text may know it."
        )
    tree, tests = answer.tree, Tests.of(model, digits)
    names = answer_names(model, t, p, answer, answer.label)
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
