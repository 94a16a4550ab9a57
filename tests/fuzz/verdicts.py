"""Files of verdicts for the command ``apply``: a table as corrected, or one sentence."""

import csv
import io
import json
import random

from fuzz.running import scratch
from fuzz.tables import run

ROWS = 6
TABLE = "id,a,y\n" + "".join(f"r{k},{k},{'ab'[k % 2]}\n" for k in range(ROWS))
VALUES = [None, True, -1, 0, 2, 5, 6, 10**30, 0.5, "", "a", "keep", "\x1b[2J", "=1", [], {}, "\x00"]
KINDS = ["keep", "change", "change", "unsure", "drop"]


def generate(seed):
    """The text of a file of verdicts, most of them sound."""
    draw = random.Random(seed)
    entries = [entry_of(draw, row) for row in draw.sample(range(ROWS), draw.choice([0, 1, 2, 4]))]
    document = {"format": "steadyboost-verdicts", "version": 1, "target": "y", "verdicts": entries}
    for name in list(document):
        if draw.random() < 0.03:
            document[name] = draw.choice(VALUES)
    suffix = draw.choice([".json", ".json", ".json", ".csv"])
    text = json.dumps(document) if suffix == ".json" else as_csv(entries)
    if draw.random() < 0.15:
        place = draw.randrange(len(text))
        text = text[:place] + draw.choice(["", "{", "\x00", '"', "9" * 5000]) + text[place + 1 :]
    return {"text": text, "suffix": suffix}


def entry_of(draw, row):
    given, verdict = "ab"[row % 2], draw.choice(KINDS)
    label = {"keep": given, "change": draw.choice([*"ab".replace(given, ""), "new", "=1"])}
    entry = {"row": row + 1, "verdict": verdict, "given": given, "label": label.get(verdict, "")}
    for name in draw.sample(["row", "verdict", "given", "label", "id", "hash", "time"], 2):
        if draw.random() < 0.1:
            entry[name] = draw.choice(VALUES)
    return entry


def as_csv(entries):
    stream = io.StringIO()
    writer = csv.DictWriter(stream, ["row", "verdict", "given", "label"], extrasaction="ignore")
    writer.writeheader()
    writer.writerows(entries)
    return stream.getvalue()


def check(case):
    """Raise an ``AssertionError`` if the command fails in another way than by a sentence."""
    table, output = scratch() / "table.csv", scratch() / "new.csv"
    verdicts = scratch() / f"verdicts{case['suffix']}"
    table.write_text(TABLE)
    verdicts.write_text(case["text"])
    try:
        code, shown = run(["apply", str(table), str(verdicts), "-o", str(output), "-t", "y"])
        assert code in (0, 1, 2), f"exit code {code}"
        assert "Traceback" not in shown, shown[-1000:]
        assert table.read_text() == TABLE
        assert output.exists() == (code == 0)
        if code == 0:
            assert len(output.read_text().splitlines()) in range(1, ROWS + 2)
    finally:
        output.unlink(missing_ok=True)
    return "done" if code == 0 else "refused"


def shrink(case):
    """Halves of the text."""
    n = len(case["text"])
    for start in range(0, n, max(1, n // 8)):
        yield {**case, "text": case["text"][:start] + case["text"][start + max(1, n // 8) :]}
