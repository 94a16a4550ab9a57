import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import tiny

from steadyboost.lab.experiments import reading, report
from steadyboost.lab.reports import experiments


@pytest.fixture(scope="session")
def reports(tmp_path_factory):
    """All experiments of the made-up paper, run once."""
    folder = tmp_path_factory.mktemp("cells")
    return [tiny.report_of(chosen, folder) for chosen in tiny.paper().experiments]


@pytest.fixture
def made_up_papers(monkeypatch):
    """The made-up paper in place of the real ones."""
    for module in (reading, report, experiments):
        monkeypatch.setattr(module, "papers", lambda: (tiny.paper(),))
