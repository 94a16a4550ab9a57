"""Files whole or not at all, and text of others that neither terminals nor spreadsheets obey."""

import os
import signal
import subprocess
import sys
import threading

import pytest

from steadyboost.files import (
    HOST,
    printable,
    remove_abandoned,
    replacing,
    resolved,
    shortened,
    spreadsheet_safe,
    write_whole,
)
from steadyboost.interruptions import interrupts_held


def test_a_link_stays_and_its_target_is_written(tmp_path):
    target, link = tmp_path / "target.txt", tmp_path / "link.txt"
    link.symlink_to(target)  # which is not there yet
    write_whole(link, "text")
    assert link.is_symlink()
    assert target.read_text() == "text"


def test_a_link_that_points_to_itself_is_an_error(tmp_path):
    link = tmp_path / "link.txt"
    link.symlink_to(link)
    with pytest.raises(OSError, match="points to itself"):
        resolved(link)
    with pytest.raises(OSError, match="points to itself"):
        write_whole(link, "text")
    assert link.is_symlink()


def test_a_failure_leaves_the_old_file_and_no_other(tmp_path):
    path = tmp_path / "file.txt"
    write_whole(path, "old")
    with pytest.raises(ZeroDivisionError), replacing(path) as file:
        file.write(b"%d" % (1 // 0))
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["file.txt"]


@pytest.mark.skipif(os.name != "posix", reason="asks for processes")
def test_temporary_files_of_dead_processes_are_removed(tmp_path):
    script = "import os, sys; from steadyboost.files import replacing\n"
    script += "with replacing(sys.argv[1]) as file: os.kill(os.getpid(), 9)"
    subprocess.run([sys.executable, "-c", script, str(tmp_path / "a.txt")], check=False)
    abandoned = os.listdir(tmp_path)
    assert len(abandoned) == 1
    own = f".steadyboost-{HOST}-{os.getpid()}-{'0' * 16}.tmp"
    others = [own, f".steadyboost-00000000-1-{'0' * 16}.tmp", ".steadyboost.tmp"]
    for name in others:
        (tmp_path / name).touch()
    remove_abandoned(tmp_path)
    assert sorted(os.listdir(tmp_path)) == sorted(others)
    write_whole(tmp_path / "a.txt", "text")
    assert sorted(os.listdir(tmp_path)) == sorted([*others, "a.txt"])


@pytest.mark.usefixtures("ctrl_c")
def test_an_interruption_waits_for_the_end_of_a_write(tmp_path):
    path = tmp_path / "file.txt"

    def write():
        with replacing(path) as file:
            signal.raise_signal(signal.SIGINT)
            file.write(b"whole")

    with pytest.raises(KeyboardInterrupt):
        write()
    assert path.read_bytes() == b"whole"
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.usefixtures("ctrl_c")
def test_an_interruption_ends_a_block_that_computes_what_it_writes(tmp_path):
    done = []

    def write():
        with replacing(tmp_path / "file.txt", holds_interrupts=False):
            signal.raise_signal(signal.SIGINT)
            done.append("all")

    with pytest.raises(KeyboardInterrupt):
        write()
    assert done == os.listdir(tmp_path) == []


@pytest.mark.usefixtures("ctrl_c")
def test_a_second_interruption_does_not_wait():
    done = []

    def work():
        with interrupts_held():
            for step in (1, 2):
                signal.raise_signal(signal.SIGINT)
                done.append(step)

    with pytest.raises(KeyboardInterrupt):
        work()
    assert done == [1]


def test_files_are_written_from_other_threads_too(tmp_path):
    thread = threading.Thread(target=write_whole, args=(tmp_path / "file.txt", "text"))
    thread.start()
    thread.join()
    assert (tmp_path / "file.txt").read_text() == "text"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain, ä, 漢字, 😀\nnext", "plain, ä, 漢字, 😀\nnext"),
        ("\x1b]0;title\x07", r"\x1b]0;title\x07"),
        ("a\rb\tc\x00", r"a\rb\tc\x00"),
        ("\x9b2J", r"\x9b2J"),
        ("abc\u202etxt.exe", r"abc\u202etxt.exe"),
        ("\ud800", r"\ud800"),
    ],
)
def test_control_characters_are_shown(text, shown):
    assert printable(text) == shown


@pytest.mark.parametrize("cell", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1"])
def test_formulas_get_an_apostrophe(cell):
    assert spreadsheet_safe(cell) == f"'{cell}"


def test_messages_are_no_pages():
    name = "n" * 140_000
    shown = shortened(f"there is no column {name!r}; there are 'a'.")
    assert shown == f"there is no column '{'n' * 79}…{'n' * 18}'; there are 'a'."
    words = [f"word{k}" for k in range(10_000)]
    shown = shortened(" ".join(words))
    assert len(shown) == 2000
    assert shown.startswith("word0 word1 ")
    assert shown.endswith(" word9999")
    assert shortened("short") == "short"


@pytest.mark.parametrize("cell", ["", "a=1", "1", -1, -1.5, None, True])
def test_other_cells_stay(cell):
    assert spreadsheet_safe(cell) == cell


def test_an_interruption_while_modules_are_imported_is_quiet():
    script = "import sys\nimport steadyboost.cli as m\n"
    script += "class Stop:\n    def find_spec(self, *a):\n        raise KeyboardInterrupt\n"
    script += "sys.meta_path.insert(0, Stop())\nm.main()"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert done.returncode == 130
    assert done.stderr == "steadyboost: interrupted.\n"
