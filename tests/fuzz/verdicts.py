"""Files of verdicts for the command ``apply``: a table as corrected, or one sentence."""

import json
import random
import tempfile
from pathlib import Path

from fuzz.tables import run

ROWS = 6
TABLE = "id,a,y\n" + "".join(f"r{k},{k},{'ab'[k % 2]}\n" for k in range(ROWS))
VALUES = [None, True, -1, 0, 2, 5, 6, 10**30, 0.5, "", "a", "keep", "\x1b[2J", "=1", [], {}, "\x00"]
KINDS = ["keep", "change", "unsure", "drop", "nothing", ""]


def generate(seed):
    """The text of a file of verdicts."""
    draw = random.Random(seed)
    entries = []
    for _ in range(draw.choice([0, 1, 2, 4])):
        row = draw.randrange(ROWS)
        entry = {
            "row": row,
            "verdict": draw.choice(KINDS[:4]),
            "given": "ab"[row % 2],
            "label": "b",
        }
        for name in draw.sample(["row", "verdict", "given", "label", "id", "hash", "time"], 2):
            if draw.random() < 0.3:
                entry[name] = draw.choice(VALUES)
        entries.append(entry)
    document = {"format": "steadyboost-verdicts", "version": 1, "target": "y", "verdicts": entries}
    for name in list(document):
        if draw.random() < 0.1:
            document[name] = draw.choice(VALUES)
    text = json.dumps(document)
    if draw.random() < 0.15:
        place = draw.randrange(len(text))
        text = text[:place] + draw.choice(["", "{", "\x00", '"', "9" * 5000]) + text[place + 1 :]
    return {"text": text, "suffix": draw.choice([".json", ".json", ".json", ".csv"])}


def check(case):
    """Raise an ``AssertionError`` if the command fails in another way than by a sentence."""
    with tempfile.TemporaryDirectory() as folder:
        table, verdicts = Path(folder, "table.csv"), Path(folder, f"verdicts{case['suffix']}")
        output = Path(folder, "new.csv")
        table.write_text(TABLE)
        verdicts.write_text(case["text"])
        code, shown = run(["apply", str(table), str(verdicts), "-o", str(output), "-t", "y"])
        assert code in (0, 1, 2), f"exit code {code}"
        assert "Traceback" not in shown, shown[-1000:]
        assert table.read_text() == TABLE
        assert output.exists() == (code == 0)
        if code == 0:
            assert len(output.read_text().splitlines()) in range(1, ROWS + 2)
    return "done" if code == 0 else "refused"


def shrink(case):
    """Halves of the text."""
    n = len(case["text"])
    for start in range(0, n, max(1, n // 8)):
        yield {**case, "text": case["text"][:start] + case["text"][start + max(1, n // 8) :]}
