"""Tables for the command line: whatever they hold, it ends with 0, 1 or 2, and a sentence."""

import contextlib
import functools
import io
import json
import random
import sys
import warnings

from fuzz.running import scratch

CELLS = ["", "1", "-1.5", "x", "1e400", "nan", "inf", "?", '"', '"a""b"', '"a,b"', "\x00"]
CELLS += ["\x1b[2J", "=1+1", "ä", "\u202e", "9" * 400, "x" * 200_000, "1;2", "1,5", "01.02.2020"]
CELLS += ["\t", " ", "None", "TRUE", "1'000", "2020-13-45", "0x1f", "1_000", "-", "\ud7ff", "\r"]
NAMES = ["a", "b", "y", "", "a", '"q"', "with space", "\x1b[31m", "=1", "y ", "Ä", "0", "row"]
NAMES += ["n" * 140_000, "prediction", "weight", '"a ""b"""', "proba_u", "\x00", "None"]
ENDS = [*["\n"] * 20, "\r\n", "\r", "\n\n"]
CODES = [*["utf-8"] * 16, "latin-1", "utf-16", "utf-8-sig", "utf-16-be", "cp1252"]
SUFFIXES = [*[".csv"] * 12, ".tsv", ".arff", ".svm", ".parquet", ".jsonl", ".csv.gz", ".txt"]
OPTIONS = {  # of each command
    "fit": ["--json", "--force", "--categorical a", "--ignore b", "--weights b", "--use a"],
    "audit": ["--json", "--force", "--spreadsheet", "--folds 2", "--precision 0.5", "same"],
    "predict": ["--json", "--force", "--spreadsheet", "--proba", "--keep a", "same", "--stream"],
    "evaluate": ["--json", "--decimal ,", "--separator ;", "--encoding latin-1"],
    "explain": ["--json"],
    "compare": ["--json", "--noise 0.2", "--repeats 2"],
}
OPTIONS["fit"] += ["--drop-unlabelled", "--decimal ,", "--separator ;", "--encoding utf-16"]


def generate(seed):
    """The cells of a table, how it is written, and a command line."""
    draw = random.Random(seed)
    names = ["y", "a", "b", "c"][: draw.choice([1, 2, *[4] * 18])]
    if draw.random() < 0.08:
        names = [draw.choice(NAMES) if draw.random() < 0.4 else name for name in names]
    nasty, ragged = draw.choice([0, 0, 0, 0.02, 0.1]), draw.random() < 0.04
    command = draw.choices(list(OPTIONS), [4, 3, 4, 3, 1, 1])[0]
    return {
        "names": names,
        "rows": [row_of(draw, row, names, nasty, ragged) for row in range(rows_of(draw))],
        "end": draw.choice(ENDS),
        "code": draw.choice(CODES),
        "separator": draw.choice([*[","] * 5, ";", "\t", "|"]),
        "suffix": draw.choice(SUFFIXES),
        "is_what_it_says": draw.random() < 0.95,
        "noise": [draw.randrange(10**6) for _ in range(draw.choice([0, 0, 0, 0, 0, 3]))],
        "command": command,
        "options": draw.sample(OPTIONS[command], draw.choice([0, 0, 1])),
        "target": draw.choice([*["y"] * 40, "a", "a", "nothing", "", "\x1b[2J"]),
        "is_model": draw.random() < 0.03,  # whether the table is passed as the model, too
    }


def rows_of(draw):
    return draw.choice([0, 1, 2, *[12, 20, 20, 40] * 5])


def row_of(draw, row, names, nasty, ragged):
    cells = ["uv"[row % 2], *(str(draw.randrange(90)) for _ in names[1:])]
    cells = [draw.choice(CELLS) if draw.random() < nasty else cell for cell in cells]
    return cells[: draw.randrange(5)] if ragged and draw.random() < 0.1 else cells


def written(case):
    """The bytes of a table in its format, or as delimited text where it is not what it says."""
    suffix, names, rows = case["suffix"], case["names"], case["rows"]
    kind = suffix if case["is_what_it_says"] else ".csv"
    # Parquet has rows of one length, and columns with names of their own.
    whole = bool(rows) and len({len(row) for row in [names, *rows]}) == 1
    whole = whole and all(names) and len(names) == len({*names})
    if kind == ".parquet" and whole:
        import polars as pl

        stream = io.BytesIO()
        table = pl.DataFrame(rows, schema=names, orient="row")
        numbers = [pl.col(name).cast(pl.Float64, strict=False) for name in names[1::2]]
        table.with_columns(numbers).write_parquet(stream)
        return stream.getvalue()
    if kind == ".jsonl":
        lines = [json.dumps(dict(zip(names, row, strict=False))) for row in rows]
    elif kind == ".svm":
        lines = [" ".join([r[0], *(f"{k}:{v}" for k, v in enumerate(r[1:], 1))]) for r in rows if r]
    elif kind == ".arff":
        lines = ["@relation r", *(f"@attribute {name} string" for name in names), "@data"]
        lines += [",".join(row) for row in rows]
    else:
        separator = "\t" if kind == ".tsv" else case["separator"]
        lines = [separator.join(row) for row in [names, *rows]]
    data = (case["end"].join(lines) + case["end"]).encode(case["code"], "replace")
    if suffix.endswith(".gz"):
        import gzip

        data = gzip.compress(data, mtime=0)
    return data


def check(case):
    """Raise an ``AssertionError`` if a command fails in another way than by a sentence."""
    table = scratch() / f"table{case['suffix']}"
    data = bytearray(written(case))
    for place in case["noise"]:
        data[place % len(data)] = place % 256
    table.write_bytes(data)
    try:
        code, shown = run(arguments(case, table))
        assert code in (0, 1, 2), f"exit code {code}"
        assert "Traceback" not in shown, shown[-1000:]
        assert not any(char < " " and char not in "\n\t" for char in shown), "control characters"
        assert code == 0 or len(shown) < 5000, f"a message of {len(shown)} characters"
        assert table.read_bytes() == bytes(data), "the input has changed"
        left = sorted(path.name for path in scratch().iterdir() if path.suffix == ".tmp")
        assert not left, f"files are left over: {left}"
    finally:
        for path in scratch().iterdir():
            if path.name != "sound.sb":
                path.unlink()
    return "done" if code == 0 else "refused"


@functools.cache
def sound_model():
    """The file of a model of the columns a, b and c."""
    path, table = scratch() / "sound.sb", scratch() / "sound.csv"
    rows = [f"{'uv'[k % 2]},{k % 7},{k % 5},{k % 3}" for k in range(40)]
    table.write_text("\n".join(["y,a,b,c", *rows]))
    code, shown = run(["fit", str(table), "-t", "y", "-o", str(path), *SMALL])
    assert code == 0, shown
    table.unlink()
    return path


SMALL = ["--booster", "samme", "--rounds", "2"]


def arguments(case, table):
    command, options = case["command"], [o for o in case["options"] if o != "same"]
    extra = [word for option in options for word in option.split()]
    model = str(table if case["is_model"] else sound_model())
    output = str(table if "same" in case["options"] else scratch() / "out.csv")
    target = ["-t", case["target"]]
    known = {
        "fit": [str(table), *target, "-o", str(scratch() / "m.sb"), *SMALL],
        "audit": [str(table), *target, "-o", output, "--booster", "samme"],
        "predict": [model, str(table), "-o", output],
        "evaluate": [model, str(table), *target],
        "explain": [model],
        "compare": [str(table), *target, "--methods", "SAMME,MSmoothBoost", "--folds", "2"],
    }
    return [command, *known[command], *extra]


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
    """Fewer rows and options, and plain ends and codes."""
    for n in (0, 1, 2, len(case["rows"]) // 2, len(case["rows"]) - 1):
        if 0 <= n < len(case["rows"]):
            yield {**case, "rows": case["rows"][:n]}
            yield {**case, "rows": case["rows"][-n:]}
    plain = {"end": "\n", "code": "utf-8", "separator": ",", "noise": [], "options": []}
    for name, value in plain.items():
        if case[name] != value:
            yield {**case, name: value}
