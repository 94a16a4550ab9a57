"""The page of the papers' experiments: all tables, verdicts and pictures."""

from __future__ import annotations

from collections import Counter
from html import escape

from steadyboost.lab.experiments.claims import Verdict
from steadyboost.lab.experiments.pictures import draw
from steadyboost.lab.experiments.reading import papers
from steadyboost.lab.experiments.tables import (
    MARKS,
    Entry,
    Report,
    asked_by,
    is_best,
    legend,
    ours_text,
    remarks,
)
from steadyboost.lab.reports import page
from steadyboost.lab.reports.page import figure, listing, paragraph
from steadyboost.lab.reports.tables import Column, TableCell, data_table, text

CLASSES = {"reproduces": "yes", "does not": "no"}
QUICK = (
    "This is the quick version: fewer repeats, rounds and data sets than the papers. "
    "It shows that things run, not whether claims hold."
)


def html_page(reports: list[Report], made_by: str) -> str:
    """The page; ``made_by`` says by which command and when."""
    quick = paragraph(QUICK, "note") if any(r.experiment.is_quick for r in reports) else ""
    return page.html_page(
        "SteadyBoost: the papers' experiments",
        "The papers' experiments, run again",
        made_by,
        [quick, _overview(reports), *_sections(reports)],
    )


def _overview(reports: list[Report]) -> str:
    """An item per experiment that leads to its section."""
    items = []
    for report in reports:
        states = Counter(verdict.state for verdict in report.verdicts)
        badges = " ".join(_badge(s, f"{s}: {states[s]}") for s in MARKS if states[s])
        name = report.experiment.name
        items.append(
            f'<li><a href="#{_anchor(name)}">{name}</a> '
            f"<span>{escape(report.experiment.title)}</span> <span>{badges}</span></li>"
        )
    return f'<h2>Claims of the papers</h2><ul class="overview">{"".join(items)}</ul>'


def _sections(reports: list[Report]) -> list[str]:
    parts = []
    for paper in papers():
        own = [report for report in reports if report.experiment.paper == paper.id]
        if own:
            parts.append(f"<h2>Paper {paper.id}</h2><p>{escape(paper.citation)}</p>")
            parts.append(listing(paper.notes))
            parts += [_section(report) for report in own]
    return parts


def _section(report: Report) -> str:
    experiment = report.experiment
    return "\n".join(
        [
            f'<section id="{_anchor(experiment.name)}">',
            f"<h3>{escape(experiment.name)} · {escape(experiment.title)}</h3>",
            paragraph("Quick version", "note") if experiment.is_quick else "",
            _table(report),
            paragraph(legend(experiment), "quiet"),
            _claims(report.verdicts),
            *(_figure(report, k) for k in range(len(experiment.pictures))),
            listing(remarks(report)),
            "</section>",
        ]
    )


def _table(report: Report) -> str:
    experiment = report.experiment
    bold = experiment.columns == ("method",)
    rows = [
        [
            text(label),
            *(
                _cell(entry, experiment.measure, bold and is_best(entry, row, experiment.measure))
                for entry in row
            ),
        ]
        for label, row in zip(report.rows, report.entries, strict=True)
    ]
    columns = [Column("", is_number=False), *map(Column, report.columns)]
    return data_table("t" + _anchor(experiment.name), columns, rows)


def _cell(entry: Entry, measure: str, best: bool) -> TableCell:
    words = escape(ours_text(entry, measure))
    ours = f"<b>{words}</b>" if best else words
    printed = f"<small>{escape(entry.printed_text)}</small>" if entry.printed else ""
    return TableCell(ours + printed, entry.ours.mean if entry.ours else "", entry.reason)


def _claims(verdicts: list[Verdict]) -> str:
    items = [
        f"<li>{_badge(v.state, v.state)} {escape(asked_by(v))}<br>"
        f'<span class="quiet">{escape(v.sentence)}</span></li>'
        for v in verdicts
    ]
    return f'<ul class="claims">{"".join(items)}</ul>' if items else ""


def _badge(state: str, words: str) -> str:
    return page.badge(f"{MARKS[state]} {words}", CLASSES.get(state, ""))


def _figure(report: Report, index: int) -> str:
    picture = report.experiment.pictures[index]
    keys, panels = draw(picture, report.results)
    return figure(picture.title, panels, keys)


def _anchor(name: str) -> str:
    return "e" + name.replace("/", "-")
