"""Small batches, so that small tables have several."""

import pytest

from steadyboost.streaming import source


@pytest.fixture(autouse=True)
def _small_batches(monkeypatch):
    monkeypatch.setattr(source, "BATCH_ROWS", 64)
    monkeypatch.setattr(source, "MIN_BATCH_ROWS", 16)
