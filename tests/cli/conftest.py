import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from steadyboost import cli


@pytest.fixture(autouse=True)
def in_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="session")
def call():
    """Run a command as a user would."""

    def run(*args):
        return CliRunner().invoke(cli.app, list(map(str, args)), prog_name="steadyboost")

    return run


@pytest.fixture(scope="session")
def works(call):
    """Run a command that must succeed; what it printed."""

    def run(*args):
        result = call(*args)
        assert result.exit_code == 0, (result.stderr, result.exception)
        return json.loads(result.stdout) if "--json" in args else result.stdout

    return run


@pytest.fixture(scope="session")
def complains(call):
    """Run a command that must fail; its one sentence."""

    def run(code, *args):
        result = call(*args)
        assert result.exit_code == code, (result.stdout, result.stderr, result.exception)
        assert result.stderr.startswith("steadyboost: ")
        assert result.stderr.count("\n") == 1
        return result.stderr

    return run


def plants(n, seed):
    """A made-up table: numbers with gaps, categories, numbers that look like names."""
    rng = np.random.default_rng(seed)
    height, soil, plot = (
        rng.normal(size=n),
        rng.choice(["clay", "sand"], n),
        rng.integers(3, size=n),
    )
    kind = np.where(height + (soil == "clay") > 0.5, "tree", np.where(plot == 2, "shrub", "herb"))
    height = np.where(rng.random(n) < 0.05, np.nan, height.round(3)).astype(str)
    lines = zip(np.char.replace(height, "nan", "?"), soil, plot, kind, strict=True)
    return "\n".join(["height,soil,plot,kind", *(",".join(map(str, line)) for line in lines), ""])


@pytest.fixture(scope="session")
def samples(tmp_path_factory, works):
    """Training and test rows, and a model of them."""
    folder = tmp_path_factory.mktemp("plants")
    (folder / "train.csv").write_text(plants(200, 0))
    (folder / "test.csv").write_text(plants(100, 1))
    works(
        *("fit", folder / "train.csv", "--target", "kind", "--booster", "samme", "--rounds", "5"),
        *("--categorical", "plot", "--output", folder / "model.sb"),
    )
    return folder


@pytest.fixture
def train(samples):
    return samples / "train.csv"


@pytest.fixture
def test_rows(samples):
    return samples / "test.csv"


@pytest.fixture
def model(samples) -> Path:
    return samples / "model.sb"
