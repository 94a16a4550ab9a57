"""Results as CSV and JSON."""

import csv
import io
import json
from dataclasses import asdict
from typing import Any

from steadyboost.lab.experiments.tables import Entry, Report, remarks

COLUMNS = (
    "experiment",
    "quick",
    "data",
    "noise",
    "method",
    "round",
    "part",
    "mean",
    "sd",
    "runs",
    "printed",
    "printed_mean",
    "printed_sd",
    "significance",
    "reason",
)


def as_csv(report: Report) -> str:
    """A line per place of the table."""
    out = io.StringIO()
    writer = csv.DictWriter(out, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(_line(report, entry) for row in report.entries for entry in row)
    return out.getvalue()


def _line(report: Report, entry: Entry) -> dict[str, Any]:
    ours, printed = entry.ours, entry.printed
    return {
        "experiment": report.experiment.name,
        "quick": report.experiment.is_quick,
        **asdict(entry.point),
        "round": entry.point.round or "last",
        "mean": None if ours is None else ours.mean,
        "sd": None if ours is None else ours.sd,
        "runs": 0 if ours is None else ours.n,
        "printed": entry.printed_text,
        "printed_mean": None if printed is None else printed.mean,
        "printed_sd": None if printed is None else printed.sd,
        "significance": entry.mark,
        "reason": entry.reason,
    }


def as_json(report: Report) -> str:
    """The table, verdicts and remarks."""
    return json.dumps(_document(report), indent=1, ensure_ascii=False)


def _document(report: Report) -> dict[str, Any]:
    return {
        "experiment": report.experiment.name,
        "title": report.experiment.title,
        "quick": report.experiment.is_quick,
        "table": [_line(report, entry) for row in report.entries for entry in row],
        "claims": [
            {"says": v.claim.says, "state": v.state, "verdict": v.sentence, "ours": v.claim.ours}
            for v in report.verdicts
        ],
        "remarks": remarks(report),
    }
