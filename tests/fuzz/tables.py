"""Tables for the command line: whatever they hold, it ends with 0, 1 or 2, and a sentence."""

import contextlib
import io
import random
import sys
import tempfile
import warnings
from pathlib import Path

CELLS = [
    "",
    "1",
    "-1.5",
    "x",
    "1e400",
    "nan",
    "inf",
    "?",
    '"',
    '"a""b"',
    '"a,b"',
    "\x00",
    "\x1b[2J",
]
CELLS += [
    "=1+1",
    "ä",
    "\u202e",
    "9" * 400,
    "x" * 200_000,
    "1;2",
    "1,5",
    "01.02.2020",
    "\t",
    " ",
    "None",
]
NAMES = [
    "a",
    "b",
    "y",
    "",
    "a",
    '"q"',
    "with space",
    "\x1b[31m",
    "=1",
    "y ",
    "Ä",
    "0",
    "n" * 140_000,
]
ENDS = ["\n", "\r\n", "\r", "\n\n"]
CODES = [*["utf-8"] * 8, "latin-1", "utf-16", "utf-8-sig"]
SUFFIXES = [*[".csv"] * 12, ".tsv", ".arff", ".svm", ".parquet", ".csv.gz", ".txt", ".json"]
COMMANDS = ["fit", "audit", "predict", "evaluate", "explain", "compare"]


def generate(seed):
    """The bytes of a table, as text, and a command line."""
    draw = random.Random(seed)
    n_columns = draw.choice([1, 2, 3, 3, 4])
    names = ["y", "a", "b", "c"][:n_columns]
    if draw.random() < 0.3:
        names = [draw.choice(NAMES) for _ in names]
    lines = [",".join(names)]
    for row in range(draw.choice([0, 1, 2, 12, 12, 20])):
        cells = ["uv"[row % 2], *(str(draw.randrange(9)) for _ in names[1:])]
        if draw.random() < 0.1:
            cells[draw.randrange(n_columns)] = draw.choice(CELLS)
        width = n_columns if draw.random() < 0.99 else draw.randrange(5)
        lines.append(",".join(cells[:width]))
    return {
        "lines": lines,
        "end": draw.choice(ENDS),
        "code": draw.choice(CODES),
        "suffix": draw.choice(SUFFIXES),
        "noise": [draw.randrange(10**6) for _ in range(draw.choice([0, 0, 0, 3]))],
        "command": draw.choice(COMMANDS),
        "options": draw.sample(
            ["--json", "--force", "same", "--spreadsheet", "--folds 2"], draw.choice([0, 1, 2])
        ),
        "target": draw.choice([*["y"] * 8, "a", "nothing", "", "\x1b[2J"]),
    }


def check(case):
    """Raise an ``AssertionError`` if a command fails in another way than by a sentence."""
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder, f"table{case['suffix']}")
        text = case["end"].join(case["lines"]) + case["end"]
        data = bytearray(text.encode(case["code"], "replace"))
        for place in case["noise"]:
            data[place % len(data)] = place % 256
        table.write_bytes(data)
        code, shown = run(arguments(case, table, Path(folder)))
        assert code in (0, 1, 2), f"exit code {code}"
        assert "Traceback" not in shown, shown[-1000:]
        assert not any(char < " " and char not in "\n\t" for char in shown), "control characters"
        assert table.read_bytes() == bytes(data), "the input has changed"
    return "done" if code == 0 else "refused"


def arguments(case, table, folder):
    command, options = case["command"], [o for o in case["options"] if o != "same"]
    extra = [word for option in options for word in option.split()]
    output = str(table if "same" in case["options"] else folder / "out.csv")
    target, model = ["-t", case["target"]], str(folder / "m.sb")
    small = ["--booster", "samme", "--rounds", "2"]
    known = {
        "fit": [str(table), *target, "-o", model, *small],
        "audit": [str(table), *target, "-o", output, "--booster", "samme"],
        "predict": [str(table), str(table), "-o", output],
        "evaluate": [str(table), str(table)],
        "explain": [str(table)],
        "compare": [str(table), *target],
    }
    allowed = {
        "fit": ("--json", "--force"),
        "audit": ("--json", "--force", "--spreadsheet", "--folds", "2"),
    }
    allowed["predict"] = ("--json", "--force", "--spreadsheet")
    return [command, *known[command], *[word for word in extra if word in allowed.get(command, ())]]


def run(words):
    """Exit code and output of a command in this process."""
    from steadyboost.cli import main

    out, before = io.StringIO(), sys.argv
    sys.argv = ["steadyboost", *words]
    try:
        with (
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(out),
            warnings.catch_warnings(),
        ):
            main()
        code = 0
    except SystemExit as stop:
        code = stop.code or 0
    finally:
        sys.argv = before
    return code, out.getvalue()


def shrink(case):
    """Fewer lines and options, and plain ends and codes."""
    for place in range(1, len(case["lines"])):
        yield {**case, "lines": case["lines"][:place] + case["lines"][place + 1 :]}
    for name, value in {"end": "\n", "code": "utf-8", "noise": [], "options": []}.items():
        if case[name] != value:
            yield {**case, name: value}
