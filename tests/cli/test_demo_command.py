import json
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path

import pytest
from typer.testing import CliRunner

import steadyboost
import steadyboost.cli.demo
from steadyboost import cli

cli_demo = sys.modules["steadyboost.cli.demo"]  # cli.demo is the command itself


@pytest.fixture(autouse=True)
def in_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def call(*args):
    return CliRunner().invoke(cli.app, list(args), prog_name="steadyboost")


def test_version():
    result = call("--version")
    assert (result.exit_code, result.stdout) == (0, f"steadyboost {steadyboost.__version__}\n")


def test_help_names_the_commands():
    result = call("--help")
    assert result.exit_code == 0
    assert "demo" in result.stdout
    assert call().stdout == result.stdout


def test_starting_up_imports_nothing_heavy():
    code = "import sys, steadyboost.cli; print({'sklearn', 'numba', 'numpy'} & set(sys.modules))"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout == "set()\n"


def test_console_entry_ends_with_the_exit_code(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["steadyboost", "demo", "--noise", "2"])
    with pytest.raises(SystemExit) as end:
        cli.main()
    assert end.value.code == 2
    assert capsys.readouterr().err.startswith("steadyboost: Invalid value for '--noise': 2 is not")


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["nonsense"], "nonsense"),
        (["demo", "--nonsense"], "--nonsense"),
        (["demo", "--rounds", "9"], "--rounds"),
        (["demo", "--rounds", "many"], "--rounds"),
        (["demo", "--noise", "1"], "not in the range [0, 1)"),
        (["demo", "--noise", "-0.1"], "not in the range [0, 1)"),
        (["demo", "--noise", "nan"], "not in the range [0, 1)"),
        (["demo", "--seed", "-1"], "--seed"),
        (["demo", "--output", "picture.png"], ".svg"),
        (["demo", "--output", "nowhere/picture.svg"], "the folder nowhere does not exist"),
    ],
)
def test_bad_usage_is_told_in_one_line(args, words):
    result = call(*args)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith("steadyboost: ")
    assert result.stderr.count("\n") == 1
    assert words in result.stderr


def test_demo_prints_a_table_and_saves_the_picture():
    result = call("demo", "--rounds", "10")
    assert result.exit_code == 0, result.stderr
    assert "scikit-learn AdaBoost" in result.stdout
    assert "MSmoothBoost" in result.stdout
    assert "95 % confidence interval" in result.stdout
    assert "AdaBoost.OC" not in result.stdout
    assert [path.name for path in Path().iterdir()] == ["steadyboost-demo.svg"]
    assert Path("steadyboost-demo.svg").read_text(encoding="utf-8").startswith("<svg")


@pytest.fixture
def no_training(monkeypatch):
    """The command without the work, for tests of what it does with files."""
    import numpy as np

    from steadyboost.lab import demo

    nothing = np.zeros(4, dtype=bool)
    theirs = demo.Result("theirs", [0.0, 0.0], nothing, 1.0, is_ours=False)
    ours = demo.Result("ours", [0.0, 0.0], nothing, 1.0)
    monkeypatch.setattr(demo, "run", lambda *settings: iter([theirs, ours]))
    monkeypatch.setattr(demo, "compiling_ahead", lambda *settings: nullcontext())


def test_a_file_of_another_name_is_replaced_only_by_force(no_training):
    Path("mine.svg").write_text("precious", encoding="utf-8")
    refused = call("demo", "--output", "mine.svg")
    assert (refused.exit_code, Path("mine.svg").read_text(encoding="utf-8")) == (2, "precious")
    assert "--force" in refused.stderr
    assert call("demo", "--output", "mine.svg", "--force").exit_code == 0
    assert Path("mine.svg").read_text(encoding="utf-8").startswith("<svg")


def test_the_file_of_the_default_name_is_replaced(no_training):
    Path("steadyboost-demo.svg").write_text("old", encoding="utf-8")
    assert call("demo").exit_code == 0
    assert Path("steadyboost-demo.svg").read_text(encoding="utf-8").startswith("<svg")


def test_json_for_machines(no_training):
    told = json.loads(call("demo", "--json").stdout)
    assert [method["name"] for method in told["methods"]] == ["theirs", "ours"]
    assert told["methods"][0]["errors"] == [0.0, 0.0]
    assert told["picture"] == "steadyboost-demo.svg"


def test_all_boosters_take_part_on_request(no_training, monkeypatch):
    from steadyboost.lab import demo

    chosen = []
    run = demo.run
    monkeypatch.setattr(demo, "run", lambda *args: chosen.extend(args[0]) or run(*args))
    assert call("demo", "--all").exit_code == 0
    assert {method.name for method in chosen} > set(demo.boosters())


def test_progress_is_told_line_by_line_where_there_is_no_terminal(capsys, monkeypatch):
    seconds = iter([0, 1, 12, 13, 14])
    monkeypatch.setattr(cli_demo.time, "monotonic", lambda: next(seconds))
    with cli_demo.progress(2, 60) as tell:
        tell("SAMME", "compiling", 0)
        tell("SAMME", "training", 1)
        tell("SAMME", "training", 30)
        tell("SAMME", "training", 29)
        tell("WeightBoost", "compiling", 0)
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines() == [
        "SAMME (method 1 of 2)",
        "SAMME, round 31 of 60 (method 1 of 2)",
        "WeightBoost (method 2 of 2)",
    ]


def test_an_interrupt_is_told(monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("steadyboost.lab.demo.run", interrupt)
    monkeypatch.setattr("steadyboost.lab.demo.compiling_ahead", lambda *settings: nullcontext())
    result = call("demo")
    assert (result.exit_code, result.stderr) == (130, "steadyboost: interrupted.\n")
    assert not list(Path().iterdir())


def test_a_folder_is_no_output(no_training):
    Path("folder.svg").mkdir()
    result = call("demo", "--output", "folder.svg", "--force")
    assert result.exit_code == 2
    assert "is a folder" in result.stderr


def test_a_failed_write_leaves_the_old_file_and_no_draft(no_training, monkeypatch):
    Path("steadyboost-demo.svg").write_text("old", encoding="utf-8")

    def disk_full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", disk_full)
    result = call("demo")
    assert result.exit_code == 1
    assert result.stderr == "steadyboost: steadyboost-demo.svg: No space left on device.\n"
    assert [path.read_text(encoding="utf-8") for path in Path().iterdir()] == ["old"]
