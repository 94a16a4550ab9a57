import importlib.util

import pytest


@pytest.fixture(autouse=True)
def in_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def no_polars(monkeypatch):
    """As if polars were not installed."""
    real = importlib.util.find_spec

    def find_spec(name, package=None):
        return None if name == "polars" else real(name, package)

    monkeypatch.setattr(importlib.util, "find_spec", find_spec)
