"""What the shell is told."""

import pytest
from typer.testing import CliRunner

from steadyboost import cli


def offered(words):
    place = len(words.split()) - (not words.endswith(" "))
    asked = {
        "_STEADYBOOST_COMPLETE": "complete_bash",
        "COMP_WORDS": words,
        "COMP_CWORD": str(place),
    }
    told = CliRunner().invoke(cli.app, [], env=asked, prog_name="steadyboost")
    assert told.exit_code == 0
    return told.stdout.split()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("steadyboost ev", ["evaluate"]),
        ("steadyboost fit train.csv --early", ["--early-stopping"]),
        ("steadyboost fit train.csv --booster mar", ["martiboost"]),
        ("steadyboost fit train.csv --booster Mar", ["MartiBoost"]),
    ],
)
def test_words_are_completed(words, expected):
    assert offered(words) == expected


def test_the_script_for_a_shell_can_be_had(monkeypatch):
    monkeypatch.setenv("_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION", "1")
    told = CliRunner().invoke(cli.app, ["--show-completion", "zsh"], prog_name="steadyboost")
    assert told.exit_code == 0
    assert "_STEADYBOOST_COMPLETE=complete_zsh" in told.stdout
