"""The versions that pyproject.toml promises are those that are tested."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_the_oldest_versions_in_ci_are_the_lower_bounds():
    lines = (ROOT / ".ci/oldest.txt").read_text(encoding="utf-8").splitlines()
    pinned = [line for line in lines if not line.startswith("#")]
    assert pinned == [bound.replace(">=", "==") for bound in PROJECT["dependencies"]]


def test_a_mandatory_dependency_has_a_lower_bound_and_no_other():
    assert [d for d in PROJECT["dependencies"] if not re.fullmatch(r"[\w-]+>=[\d.]+", d)] == []


def test_the_oldest_python_is_the_first_of_the_classifiers():
    prefix = "Programming Language :: Python :: 3."
    minors = [int(c.removeprefix(prefix)) for c in PROJECT["classifiers"] if c.startswith(prefix)]
    assert PROJECT["requires-python"] == f">=3.{min(minors)}"
