"""An experiment's table: our numbers, the printed ones, and what tells them apart."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from rich.table import Table
from rich.text import Text

from steadyboost.lab.experiments.claims import Verdict, judge
from steadyboost.lab.experiments.plan import Experiment, Point, Printed
from steadyboost.lab.experiments.printed import point_at, row_label
from steadyboost.lab.experiments.results import NOT_RUN, Results
from steadyboost.lab.experiments.statistics import LEVEL, Estimate, corrected_t_test, estimate

LEGEND = (
    "First line: ours, mean (± standard deviation) over the runs; below it: as printed. "
    "+ / − : significantly better / worse than {focus} (corrected resampled t-test, 5 %)."
)
MARKS = {"reproduces": "✓", "does not": "✗", "cannot be run": "–", NOT_RUN: "…"}
SHORT = {NOT_RUN: "…"}
WIDE = 6  # columns; of more, the terminal shows no standard deviations


@dataclass(frozen=True)
class Entry:
    """One place of a table; ``reason`` says why there is no number of ours."""

    point: Point
    ours: Estimate | None
    printed: Printed | None
    mark: str = ""
    reason: str = ""

    @property
    def printed_text(self) -> str:
        return self.printed.text if self.printed else ""


@dataclass(frozen=True)
class Report:
    """All there is to say of an experiment."""

    results: Results
    rows: list[str]
    columns: list[str]
    entries: list[list[Entry]]
    verdicts: list[Verdict]

    @property
    def experiment(self) -> Experiment:
        return self.results.experiment

    @property
    def is_empty(self) -> bool:
        return not any(self.results.runs.values())

    @property
    def runs_text(self) -> str:
        """How many of the planned runs the numbers are means of, where not of all."""
        counts = self.results.counts()
        done, planned = (sum(pair[k] for pair in counts.values()) for k in (0, 1))
        partly = [f"{name} {d:,} of {p:,}" for name, (d, p) in counts.items() if d < p]
        where = f" ({', '.join(partly)})" if done and len(counts) > 1 else ""
        return "" if done == planned else f"{done:,} of {planned:,} runs are there{where}."

    @property
    def agreement(self) -> str:
        """How many printed numbers lie within two standard deviations of ours."""
        both = [
            (entry.ours, entry.printed.mean)
            for row in self.entries
            for entry in row
            if entry.ours and entry.ours.sd is not None
            if entry.printed and entry.printed.mean is not None
        ]
        near = sum(abs(ours.mean - mean) <= 2 * (ours.sd or 0.0) for ours, mean in both)
        words = "printed numbers lie within two standard deviations of ours."
        return f"{near} of {len(both)} {words}" if both else ""


def make_report(results: Results) -> Report:
    """The table and the verdicts."""
    experiment = results.experiment
    rows, columns = experiment.points(experiment.rows), experiment.points(experiment.columns)
    return Report(
        results,
        [row_label(experiment, row) for row in rows],
        [row_label(experiment, column) for column in columns],
        [[_entry(results, row, column) for column in columns] for row in rows],
        [judge(claim, results) for claim in experiment.claims],
    )


def _entry(results: Results, row: dict[str, Any], column: dict[str, Any]) -> Entry:
    point = point_at(results.experiment, row, column)
    values = results.values(point)
    ours = estimate(values)
    printed = results.experiment.printed.get(point)
    if ours is None:
        return Entry(point, None, printed, reason=results.reason(point) or NOT_RUN)
    return Entry(point, ours, printed, mark=_mark(results, point, values))


def _mark(results: Results, point: Point, values: np.ndarray) -> str:
    """Whether the method is significantly better or worse than the experiment's own."""
    focus = results.experiment.focus
    if not focus or focus == point.method:
        return ""
    differences = values - results.values(replace(point, method=focus))
    differences = differences[~np.isnan(differences)]
    if len(differences) < 2:
        return ""
    statistic, p = corrected_t_test(differences, results.test_share(point.data))
    if p >= LEVEL:
        return ""
    is_better = (statistic < 0) == (results.experiment.measure == "error")
    return "+" if is_better else "−"


def number(value: float, measure: str) -> str:
    """As the papers print: errors in percent, F1 as a fraction."""
    return f"{value:.1f}" if measure == "error" else f"{value:.3f}"


def ours_text(entry: Entry, measure: str, with_sd: bool = True) -> str:
    """Our number in words."""
    if entry.ours is None:
        return SHORT.get(entry.reason, "n/a")
    shown = with_sd and entry.ours.sd is not None
    sd = f" ± {number(entry.ours.sd or 0.0, measure)}" if shown else ""
    return number(entry.ours.mean, measure) + sd + (f" {entry.mark}" if entry.mark else "")


def lowest(row: list[Entry], measure: str) -> float:
    """The best number of a row, NaN where there is none."""
    means = [entry.ours.mean for entry in row if entry.ours]
    if not means:
        return np.nan
    return min(means) if measure == "error" else max(means)


def is_best(entry: Entry, row: list[Entry], measure: str) -> bool:
    return entry.ours is not None and entry.ours.mean == lowest(row, measure)


def legend(experiment: Experiment) -> str:
    """What the marks of the table mean."""
    if not experiment.focus:
        return LEGEND.split(" + /")[0]
    return LEGEND.format(focus=experiment.method(experiment.focus).label)


def title(experiment: Experiment) -> str:
    quick = "QUICK VERSION, not the paper's protocol: " if experiment.is_quick else ""
    return f"{quick}{experiment.name}  {experiment.title}"


def terminal_table(report: Report) -> Table:
    """For the terminal: ours above, the printed number below."""
    experiment = report.experiment
    narrow = len(report.columns) > WIDE
    grid = Table()
    grid.add_column("")
    for column in report.columns:
        grid.add_column(column.replace(" / ", "\n"), justify="right")
    for label, row in zip(report.rows, report.entries, strict=True):
        grid.add_row(Text(label), *(_cell(entry, row, experiment, narrow) for entry in row))
    return grid


def _cell(entry: Entry, row: list[Entry], experiment: Experiment, narrow: bool) -> Text:
    bold = experiment.columns == ("method",) and is_best(entry, row, experiment.measure)
    words = ours_text(entry, experiment.measure, with_sd=not narrow)
    text = Text(words, style="bold green" if bold else "")
    return text.append(f"\n{entry.printed_text}", style="not bold dim") if entry.printed else text


def terminal_lines(report: Report) -> list[Text]:
    """Legend, verdicts and remarks, for the terminal."""
    colors = {"reproduces": "green", "does not": "red"}
    lines = [Text(legend(report.experiment), style="dim")]
    for verdict in report.verdicts:
        color = colors.get(verdict.state, "yellow")
        line = Text(f"{MARKS[verdict.state]} ", style=color)
        line.append(asked_by(verdict), style="default").append(f"\n  {verdict.sentence}")
        lines.append(line)
    return lines + [Text(remark, style="dim") for remark in remarks(report)]


def asked_by(verdict: Verdict) -> str:
    """The claim; a question of our own is marked as such."""
    return ("(Our question) " if verdict.claim.ours else "") + verdict.claim.says


def remarks(report: Report) -> list[str]:
    """What a reader must know of the numbers."""
    experiment = report.experiment
    methods = [f"{m.label}: {m.note}." for m in experiment.methods if m.note]
    found = [report.runs_text, report.agreement, *report.results.lacking(), *experiment.notes]
    return [line for line in (*found, *methods, *report.results.warnings()) if line]
