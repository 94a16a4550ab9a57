"""Files on disk: named by nobody, gone with their last user, and clear about a full disk."""

import errno
import os
import signal
import subprocess
import sys
import tempfile

import numpy as np
import pytest
from streaming.streamed_tables import FEATURES, frame, parquet_file, reader

import steadyboost as sb
from steadyboost.preprocessing import scratch

FILL = """
import sys
import numpy as np
from steadyboost.preprocessing.scratch import mapped_array
array = mapped_array((1000, 1000), np.float64, "numbers")
array[:] = 1
print("ready", flush=True)
sys.stdin.read()
"""
LIMITED = """
import resource, sys
import steadyboost as sb
resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
try:
    sb.SAMMEClassifier(n_estimators=1).fit(sys.argv[1], "y")
except OSError as error:
    print(error)
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    place = tmp_path / "scratch"
    place.mkdir()
    monkeypatch.setenv(scratch.VARIABLE, str(place))
    return place


def fail_as_if_full(monkeypatch):
    def full(*arguments):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "posix_fallocate", full, raising=False)


def test_arrays_are_zero_and_can_be_written_to(folder):
    array = scratch.mapped_array((3, 5), np.uint32, "bins")
    assert array.dtype == np.uint32
    assert array.flags.writeable
    assert array.flags.c_contiguous
    np.testing.assert_array_equal(array, 0)
    array[1] = 7
    np.testing.assert_array_equal(array.sum(axis=1), [0, 35, 0])
    assert type(array) is np.ndarray
    assert scratch.mapped_array((0, 5), np.uint32, "bins").shape == (0, 5)


def test_without_a_way_to_reserve_space_zeros_are_written(folder, monkeypatch):
    monkeypatch.delattr(os, "posix_fallocate", raising=False)
    monkeypatch.setattr(scratch, "ZERO_BYTES", 7)
    np.testing.assert_array_equal(scratch.mapped_array((4, 4), np.uint32, "bins"), 0)


def test_files_have_no_name(folder):
    array = scratch.mapped_array((100, 100), np.float64, "numbers")
    assert list(folder.iterdir()) == []
    assert array.nbytes == 80_000


def test_the_default_is_the_folder_of_the_system(monkeypatch):
    monkeypatch.delenv(scratch.VARIABLE, raising=False)
    assert str(scratch.scratch_folder()) == tempfile.gettempdir()


def test_a_folder_that_is_not_there_is_refused_before_any_work(tmp_path, monkeypatch):
    monkeypatch.setenv(scratch.VARIABLE, str(tmp_path / "nowhere"))
    with pytest.raises(ValueError, match=r"STEADYBOOST_SCRATCH=.*nowhere.* is not a folder"):
        sb.SAMMEClassifier().fit(parquet_file(frame(), tmp_path), "y")


def test_a_full_disk_is_told_and_leaves_nothing(folder, tmp_path, monkeypatch):
    fail_as_if_full(monkeypatch)
    path = parquet_file(frame(), tmp_path)
    model = sb.SAMMEClassifier(n_estimators=2)
    with pytest.raises(OSError, match=r"bins of 400 rows take .* STEADYBOOST_SCRATCH") as caught:
        model.fit(path, "y")
    assert caught.value.errno == errno.ENOSPC
    assert not hasattr(model, "stages_")
    assert list(folder.iterdir()) == []


@pytest.mark.skipif(sys.platform != "linux", reason="a limit that Linux has")
def test_a_real_limit_of_the_system_is_told(folder, tmp_path):
    path = parquet_file(frame(), tmp_path)
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(path)], capture_output=True, text=True, check=False
    )
    assert "the bins of 400 rows take" in done.stdout, done.stderr
    assert list(folder.iterdir()) == []


def test_a_reader_whose_copy_does_not_fit_is_told(folder, tmp_path, monkeypatch):
    class Full:
        """A file on a full disk."""

        closed = False

        def write(self, data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        def flush(self):
            pass

        def close(self):
            self.closed = True

    monkeypatch.setattr(tempfile, "TemporaryFile", lambda **options: Full())
    with pytest.raises(OSError, match="rows that can be read once only"):
        sb.SAMMEClassifier().fit(reader(frame(), tmp_path), "y")


@pytest.mark.skipif(os.name != "posix", reason="kills by a signal")
def test_a_killed_process_leaves_nothing(folder):
    process = subprocess.Popen(
        [sys.executable, "-c", FILL], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "ready\n"
    assert list(folder.iterdir()) == []
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert list(folder.iterdir()) == []


def test_bins_are_let_go_after_a_fit(folder, tmp_path):
    """Whatever is mapped is in the list that Linux keeps; elsewhere there is nothing to look at."""
    if not os.path.exists("/proc/self/maps"):
        pytest.skip("no list of what is mapped")
    table = frame()
    model = sb.SAMMEClassifier(n_estimators=2).fit(parquet_file(table, tmp_path), "y")
    with open("/proc/self/maps") as maps:
        assert str(folder) not in maps.read()
    assert len(model.predict(table[[*FEATURES, "w"]])) == len(table)
