"""What all tests share: the path to their helpers, and the user's data folder."""

import signal
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from html_pages import Browser

from steadyboost.lab.datasets import load
from steadyboost.lab.datasets.readers import Unavailable, data_folder


@pytest.fixture(scope="session")
def from_folder():
    """A function that loads a data set by name; the test is skipped where there is no folder."""
    pytest.importorskip("pandas")
    try:
        data_folder()
    except Unavailable as reason:
        pytest.skip(f"needs real data, but {reason}")
    return load


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    """A browser to look at pages with; the test is skipped where there is none."""
    return Browser(tmp_path_factory.mktemp("browser"))


@pytest.fixture
def ctrl_c():
    """The handler of an interactive program; one in the background ignores Ctrl-C."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
