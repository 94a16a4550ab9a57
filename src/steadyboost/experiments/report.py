"""One self-contained HTML page with all tables, verdicts and pictures; it needs no network."""

from __future__ import annotations

from collections import Counter
from html import escape
from importlib.resources import files

from steadyboost.experiments.claims import Verdict
from steadyboost.experiments.pictures import draw
from steadyboost.experiments.reading import papers
from steadyboost.experiments.tables import (
    MARKS,
    Entry,
    Report,
    asked_by,
    is_best,
    legend,
    ours_text,
    remarks,
)

CLASSES = {"reproduces": "yes", "does not": "no", "cannot be run": "unknown"}
QUICK = (
    "This is the quick version: fewer repeats, rounds and data sets than the papers. "
    "It shows that things run, not whether claims hold."
)


def html_page(reports: list[Report], made_by: str) -> str:
    """The page; ``made_by`` says by which command and when."""
    style = (files("steadyboost.experiments") / "report.css").read_text(encoding="utf-8")
    quick = f'<p class="quick">{QUICK}</p>' if any(r.experiment.is_quick for r in reports) else ""
    return "\n".join(
        [
            '<!doctype html><html lang="en"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            "<title>SteadyBoost: the papers' experiments</title>",
            f"<style>{style}</style></head><body><main>",
            "<h1>The papers' experiments, run again</h1>",
            f'<p class="quiet">{escape(made_by)}</p>',
            quick,
            _overview(reports),
            *_sections(reports),
            "</main></body></html>\n",
        ]
    )


def _overview(reports: list[Report]) -> str:
    """An item per experiment that leads to its section."""
    items = []
    for report in reports:
        states = Counter(verdict.state for verdict in report.verdicts)
        badges = " ".join(_badge(state, f"{state}: {n}") for state, n in states.items())
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
            parts.append(_listing(paper.notes))
            parts += [_section(report) for report in own]
    return parts


def _section(report: Report) -> str:
    experiment = report.experiment
    return "\n".join(
        [
            f'<section id="{_anchor(experiment.name)}">',
            f"<h3>{escape(experiment.name)} · {escape(experiment.title)}</h3>",
            '<p class="quick">Quick version</p>' if experiment.is_quick else "",
            _table(report),
            f'<p class="quiet">{escape(legend(experiment))}</p>',
            _claims(report.verdicts),
            *(_figure(report, k) for k in range(len(experiment.pictures))),
            _listing(remarks(report)),
            "</section>",
        ]
    )


def _table(report: Report) -> str:
    experiment = report.experiment
    columns = [escape(column).replace(" / ", "<br>") for column in report.columns]
    head = "".join(f"<th>{column}</th>" for column in columns)
    body = []
    for label, row in zip(report.rows, report.entries, strict=True):
        bold = experiment.columns == ("method",)
        cells = [
            _cell(entry, experiment.measure, bold and is_best(entry, row, experiment.measure))
            for entry in row
        ]
        body.append(f"<tr><th>{escape(label)}</th>{''.join(cells)}</tr>")
    return (
        f'<div class="scroll"><table class="numbers"><tr><th></th>{head}</tr>'
        f"{''.join(body)}</table></div>"
    )


def _cell(entry: Entry, measure: str, best: bool) -> str:
    words = escape(ours_text(entry, measure))
    ours = f"<b>{words}</b>" if best else words
    hint = f' title="{escape(entry.reason, quote=True)}"' if entry.reason else ""
    printed = f"<small>{escape(entry.printed_text)}</small>" if entry.printed else ""
    return f"<td{hint}>{ours}{printed}</td>"


def _claims(verdicts: list[Verdict]) -> str:
    items = [
        f"<li>{_badge(v.state, v.state)} {escape(asked_by(v))}<br>"
        f'<span class="quiet">{escape(v.sentence)}</span></li>'
        for v in verdicts
    ]
    return f'<ul class="claims">{"".join(items)}</ul>' if items else ""


def _badge(state: str, words: str) -> str:
    return f'<span class="badge {CLASSES.get(state, "unknown")}">{MARKS[state]} {words}</span>'


def _figure(report: Report, index: int) -> str:
    picture = report.experiment.pictures[index]
    keys, panels = draw(picture, report.results)
    if not panels:
        return ""
    caption = f"<figcaption>{escape(picture.title)}</figcaption>"
    return f'<figure>{caption}{keys}<div class="panels">{"".join(panels)}</div></figure>'


def _listing(lines: list[str] | tuple[str, ...]) -> str:
    items = "".join(f"<li>{escape(line)}</li>" for line in lines)
    return f'<ul class="quiet">{items}</ul>' if items else ""


def _anchor(name: str) -> str:
    return "e" + name.replace("/", "-")
