"""Suspects as tasks of other labelling tools: Label Studio and Argilla."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple
from xml.sax.saxutils import quoteattr

import numpy as np

from steadyboost import __version__
from steadyboost.noise.review.evidence import other_labels
from steadyboost.noise.review.table import ShownTable

if TYPE_CHECKING:
    from steadyboost.noise.label_audit import LabelAudit

AGENT = f"SteadyBoost {__version__}"


class Task(NamedTuple):
    """A row whose label is to be checked."""

    row: int
    values: dict[str, str]
    given: str
    suggestion: str
    probability: float  # of the suggestion
    p_wrong: float


def tasks_of(audit: "LabelAudit", table: Any, n: int | None) -> Iterator[Task]:
    """The first rows by rank; by default the suspects."""
    shown = ShownTable.of(table)
    rows = audit.suspects if n is None else audit.table.row[:n]
    for row, code in zip(rows.tolist(), other_labels(audit, rows).tolist(), strict=True):
        yield Task(
            row,
            dict(zip(shown.names, shown.row(row), strict=False)),
            str(audit.given[row]),
            str(audit.classes[code]),
            float(np.nan_to_num(audit.probabilities[row, code])),
            float(1 - audit.scores[row]),
        )


def label_studio_task(task: Task) -> dict[str, Any]:
    """A task of Label Studio with a prediction; names as in :func:`label_studio_config`."""
    choice = {"choices": [task.suggestion]}
    result = {"from_name": "label", "to_name": "row", "type": "choices", "value": choice}
    prediction = {"model_version": AGENT, "score": task.probability, "result": [result]}
    data = {"values": task.values, "row": task.row, "given": task.given, "p_wrong": task.p_wrong}
    return {"data": data, "predictions": [prediction]}


def label_studio_config(classes: np.ndarray) -> str:
    """The labelling interface that the tasks fit.

    Examples
    --------
    >>> import numpy as np
    >>> print(label_studio_config(np.array(["cat", "dog"])))
    <View>
      <Table name="row" value="$values"/>
      <Header value="Given label: $given"/>
      <Choices name="label" toName="row" choice="single">
        <Choice value="cat"/>
        <Choice value="dog"/>
      </Choices>
    </View>
    """
    choices = [f"    <Choice value={quoteattr(str(label))}/>" for label in classes.tolist()]
    return "\n".join(
        [
            "<View>",
            '  <Table name="row" value="$values"/>',
            '  <Header value="Given label: $given"/>',
            '  <Choices name="label" toName="row" choice="single">',
            *choices,
            "  </Choices>",
            "</View>",
        ]
    )


def argilla_record(task: Task) -> dict[str, Any]:
    """A record of Argilla with a suggestion, as its ``from_json`` reads it.

    The dataset has a text field "row" and a label question "label".
    """
    text = "\n".join(f"{name}: {value}" for name, value in task.values.items())
    suggestion = {"value": task.suggestion, "score": task.probability, "agent": AGENT}
    return {
        "id": str(task.row),
        "fields": {"row": text or f"row {task.row}"},
        "metadata": {"given": task.given, "p_wrong": task.p_wrong},
        "suggestions": {"label": suggestion},
        "responses": {},
        "vectors": {},
    }
