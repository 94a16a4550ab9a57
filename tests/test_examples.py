"""The scripts in examples/ run, and print what they are about."""

import os
import runpy
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"
PRINTED = {
    "cost_sensitive": ["no costs", "at prediction", "in training"],
    "crowd_labels": ["estimated share of wrong labels", "precision at 100"],
    "noisy_labels": ["SteadyBoost", "estimated share of wrong labels", "suspects"],
}


def test_every_example_is_known():
    assert sorted(path.stem for path in EXAMPLES.glob("*.py")) == sorted(PRINTED)


@pytest.mark.parametrize("name", PRINTED)
def test_example_runs(name, capsys):
    if name == "crowd_labels" and not os.environ.get("STEADYBOOST_DATA"):
        pytest.skip("needs the folder named by STEADYBOOST_DATA")
    runpy.run_path(str(EXAMPLES / f"{name}.py"))
    printed = capsys.readouterr().out
    assert [words for words in PRINTED[name] if words not in printed] == []


@pytest.mark.parametrize("name", PRINTED)
def test_example_is_a_notebook(name):
    text = (EXAMPLES / f"{name}.py").read_text(encoding="utf-8")
    assert text.startswith("# %% [markdown]\n# # ")
    assert text.count("\n# %%\n") >= 3
