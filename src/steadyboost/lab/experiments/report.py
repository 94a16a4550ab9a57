"""The report of an experiment: table and verdicts, for the terminal, as CSV, JSON and Markdown."""

from __future__ import annotations

import csv
import io
import json
import re
from collections import Counter
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from rich.table import Table
from rich.text import Text

from steadyboost.lab.experiments.claims import ClaimVerdict, judge
from steadyboost.lab.experiments.plan import Experiment, Point, Printed
from steadyboost.lab.experiments.reading import papers, point_at, row_label
from steadyboost.lab.experiments.results import NOT_RUN, Results
from steadyboost.lab.runs import LEVEL, Estimate, corrected_t_test, estimate

LEGEND = (
    "First line: ours, mean (± standard deviation) over the runs; below it: as printed. "
    "+ / − : significantly better / worse than {focus} (corrected resampled t-test, 5 %)."
)
MARKS = {"reproduces": "✓", "does not": "✗", "undecided": "≈", "cannot be run": "–", NOT_RUN: "…"}
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
    """The table, verdicts and remarks of an experiment."""

    results: Results
    rows: list[str]
    columns: list[str]
    entries: list[list[Entry]]
    verdicts: list[ClaimVerdict]

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
    """Our result as text."""
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
        grid.add_row(
            Text(label), *(_terminal_cell(entry, row, experiment, narrow) for entry in row)
        )
    return grid


def _terminal_cell(entry: Entry, row: list[Entry], experiment: Experiment, narrow: bool) -> Text:
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


def asked_by(verdict: ClaimVerdict) -> str:
    """The claim; a question of our own is marked as such."""
    return ("(Our question) " if verdict.claim.ours else "") + verdict.claim.says


def remarks(report: Report) -> list[str]:
    """Remarks on the results: missing runs, agreement with the paper, notes and warnings."""
    experiment = report.experiment
    methods = [f"{m.label}: {m.note}." for m in experiment.methods if m.note]
    found = [report.runs_text, report.agreement, *report.results.lacking(), *experiment.notes]
    return [line for line in (*found, *methods, *report.results.warnings()) if line]


CSV_COLUMNS = (
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
    writer = csv.DictWriter(out, CSV_COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(_record(report, entry) for row in report.entries for entry in row)
    return out.getvalue()


def _record(report: Report, entry: Entry) -> dict[str, Any]:
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
        "table": [_record(report, entry) for row in report.entries for entry in row],
        "claims": [
            {"says": v.claim.says, "state": v.state, "verdict": v.sentence, "ours": v.claim.ours}
            for v in report.verdicts
        ],
        "remarks": remarks(report),
    }


HEAD = """\
# Do the papers' experiments reproduce?

Every table and figure of the five papers, run again with this package; each claim that the papers
make about them has a verdict. `steadyboost reproduce` lists the experiments and runs them;
`steadyboost data` says where the data come from. This page is written by the same command, with
`--docs`: it replaces the sections of the experiments that it is given, each of which names its
command and its day, and leaves the others.

In the tables our number comes first, the printed one in brackets (`?`: not readable in our copy,
`-`: not run by the paper). `+` and `−` are significantly better and worse than the paper's own
method, by the t-test for resampled runs of Nadeau and Bengio (2003) at 5 %. "Most" is more than
half, "almost all" three quarters; a claim about 4 of 7 sets is judged as that share of the sets
that there are. Where the paper printed numbers, the same test is done on these too: some claims
fail on the paper's own.

A verdict has three values. A claim *reproduces* if it holds in at least 95 % of 1,000 resamples of
the runs, *does not* if it holds in at most 5 %, and is *undecided* in between: more runs could turn
it. Resampled means vary as the corrected t-test has it; of a single run, errors vary as shares of
the test rows do. A claim of significance is a test already, and is judged by the corrected one;
where the plain t-test, as the papers did it, says otherwise, the verdict says so.

Sections of a day before 2026-11-18 were judged by older rules: two values, and "often" as a third
of the sets. Their runs were not kept; they wait to be run again.
"""
QUICK_MARK = " QUICK_MARK"
STATES = ("reproduces", "does not", "undecided", "cannot be run", NOT_RUN)
ROW = re.compile(r"^\| \[(?P<heading>.+?)\]\(#.*?\) \|(?P<counts>.*)\|$", re.MULTILINE)
PART = re.compile(r"^(?=### |## Paper )", re.MULTILINE)


class Section(NamedTuple):
    """An experiment on the page: claims by state, and its text."""

    counts: list[int]
    text: str


def markdown_page(reports: list[Report], options: str, made: str, before: str = "") -> str:
    """The page as Markdown; sections of other experiments stay as they were ``before``."""
    sections = _read_sections(before) | {
        _heading(r.experiment): _section(r, options, made) for r in reports
    }
    parts = []
    for paper in papers():
        headings = [e.name + quick for e in paper.experiments for quick in ("", QUICK_MARK)]
        own = {heading: sections[heading] for heading in headings if heading in sections}
        if own:
            notes = "".join(f"- {note}\n" for note in paper.notes)
            parts.append((own, f"\n## Paper {paper.id}\n\n{paper.citation}\n\n{notes}"))
    shown = {heading: section for own, _ in parts for heading, section in own.items()}
    texts = [text for own, head in parts for text in (head, *(s.text for s in own.values()))]
    return "\n".join([HEAD, _summary(shown), *texts])


def _read_sections(page: str) -> dict[str, Section]:
    """The sections of a page that was written before."""
    counts = {m["heading"]: [int(n or 0) for n in _cells(m["counts"])] for m in ROW.finditer(page)}
    texts = [part for part in PART.split(page) if part.startswith("### ")]
    found = {text.split("\n", 1)[0].removeprefix("### "): _ended([text]) for text in texts}
    return {name: Section(counts[name], text) for name, text in found.items() if name in counts}


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.split("|")]


def _summary(sections: dict[str, Section]) -> str:
    lines = [f"| experiment | {' | '.join(STATES)} |", "|---|" + "---:|" * len(STATES)]
    for heading, section in sections.items():
        counts = " | ".join(str(count or "") for count in section.counts)
        lines.append(f"| [{heading}](#{_anchor(heading)}) | {counts} |")
    totals = map(sum, zip(*(section.counts for section in sections.values()), strict=True))
    counts = " | ".join(f"**{total}**" for total in totals)
    return "\n".join([*lines, f"| **claims in all** | {counts} |"]) + "\n"


def _anchor(heading: str) -> str:
    """As Markdown processors make it from the heading."""
    return heading.lower().replace("/", "").replace(" ", "-")


def _heading(experiment: Experiment) -> str:
    return experiment.name + QUICK_MARK * experiment.is_quick


def _section(report: Report, options: str, made: str) -> Section:
    experiment = report.experiment
    lines = [f"### {_heading(experiment)}", "", f"{experiment.title}.", ""]
    lines += [f"`steadyboost reproduce {experiment.name}{options}`. {made}", ""]
    if not report.is_empty:
        lines += [*_markdown_table(report), ""]
    for verdict in report.verdicts:
        mark = MARKS[verdict.state]
        lines.append(f"- {mark} {asked_by(verdict)} **{_sentence(verdict.sentence)}**")
    notes = [f"- {remark}" for remark in remarks(report)]
    found = Counter(v.state for v in report.verdicts if not v.claim.ours)
    return Section([found[state] for state in STATES], _ended([*lines, "", *notes]))


def _ended(lines: list[str]) -> str:
    return "\n".join(lines).rstrip() + "\n"


def _sentence(words: str) -> str:
    return words[0].upper() + words[1:] + ("" if words.endswith(".") else ".")


def _markdown_table(report: Report) -> list[str]:
    columns = [_safe(column) for column in report.columns]
    lines = [f"| | {' | '.join(columns)} |", "|---|" + "---:|" * len(columns)]
    for label, row in zip(report.rows, report.entries, strict=True):
        cells = [_markdown_cell(entry, report.experiment.measure) for entry in row]
        lines.append(f"| {_safe(label)} | {' | '.join(cells)} |")
    return lines


def _markdown_cell(entry: Entry, measure: str) -> str:
    printed = f" ({entry.printed_text})" if entry.printed else ""
    return ours_text(entry, measure) + printed


def _safe(words: str) -> str:
    return words.replace("|", "\\|")
