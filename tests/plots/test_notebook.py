"""Displays, tables and progress in a real kernel."""

import pytest

nbformat, nbclient = map(pytest.importorskip, ("nbformat", "nbclient"))
pytest.importorskip("ipykernel")
pytest.importorskip("matplotlib")

CELLS = [
    """
    from steadyboost.plots import SuspectsDisplay
    table = {"row": [1, 2], "given": ["a", "b"], "suggested": ["b", "a"], "score": [0.1, 0.2]}
    SuspectsDisplay(table).plot();
    """,
    """
    import matplotlib.pyplot as plt
    plt.plot([1, 2]);
    """,
    "SuspectsDisplay(table).plot();",
    """
    import numpy as np
    from steadyboost.noise.label_table import LabelTable
    LabelTable.ranked(np.array(["a", "<b>"]), np.array(["c", "<b>"]), np.array([0.25, 0.5]))
    """,
    """
    from steadyboost import SAMMEClassifier
    from steadyboost.callbacks import Progress
    y = np.arange(40) % 2
    X = np.random.default_rng(0).normal(size=(40, 2))
    SAMMEClassifier(n_estimators=3, callbacks=[Progress(every=0)]).fit(X, y);
    """,
]


@pytest.fixture(scope="module")
def outputs():
    cells = [nbformat.v4.new_code_cell("\n".join(map(str.strip, c.splitlines()))) for c in CELLS]
    notebook = nbformat.v4.new_notebook(cells=cells)
    nbclient.NotebookClient(notebook, timeout=600).execute()
    return [cell.outputs for cell in notebook.cells]


def test_all_figures_are_shown_the_users_own_too(outputs):
    for cell in outputs[:3]:
        assert [sorted(one.data) for one in cell] == [["image/png", "text/plain"]]


def test_tables_are_html_and_text(outputs):
    (table,) = outputs[3]
    assert table.output_type == "execute_result"
    assert "<td>75.0 %</td>" in table.data["text/html"]
    assert "&lt;b&gt;" in table.data["text/html"]
    assert "75.0 %" in table.data["text/plain"]


def test_progress_is_one_line_that_is_updated(outputs):
    """A carriage return goes back to the start of a line."""
    written = "".join(one.text for one in outputs[4] if one.output_type == "stream")
    (line,) = [line for line in written.split("\n") if "SAMMEClassifier" in line]
    assert line.count("\r") >= 2
    assert "3/3" in line.rsplit("\r", 1)[-1]
