import importlib.util

import pytest


def without(monkeypatch, *hidden):
    """As if these libraries were not installed."""
    real = importlib.util.find_spec

    def find_spec(name, package=None):
        return None if name in hidden else real(name, package)

    monkeypatch.setattr(importlib.util, "find_spec", find_spec)


@pytest.fixture(autouse=True)
def in_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture(params=["polars", "pandas"])
def library(request, monkeypatch):
    """Both libraries read alike."""
    if request.param == "pandas":
        without(monkeypatch, "polars")
    return request.param


@pytest.fixture
def no_library(monkeypatch):
    without(monkeypatch, "polars", "pandas")
