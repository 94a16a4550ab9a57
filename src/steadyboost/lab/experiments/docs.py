"""The page ``docs/reproduction.md``: a verdict for each claim, and the numbers behind it."""

from __future__ import annotations

import re
from collections import Counter
from typing import NamedTuple

from steadyboost.lab.experiments.plan import Experiment
from steadyboost.lab.experiments.reading import papers
from steadyboost.lab.experiments.results import NOT_RUN
from steadyboost.lab.experiments.tables import MARKS, Entry, Report, asked_by, ours_text, remarks

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
"""
QUICK = " QUICK"
STATES = ("reproduces", "does not", "cannot be run", NOT_RUN)
ROW = re.compile(r"^\| \[(?P<heading>.+?)\]\(#.*?\) \|(?P<counts>.*)\|$", re.MULTILINE)
PART = re.compile(r"^(?=### |## Paper )", re.MULTILINE)


class Section(NamedTuple):
    """An experiment on the page: claims by state, and its text."""

    counts: list[int]
    text: str


def markdown_page(reports: list[Report], options: str, made: str, before: str = "") -> str:
    """The page as Markdown; sections of other experiments stay as they were ``before``."""
    sections = _read(before) | {_heading(r.experiment): _section(r, options, made) for r in reports}
    parts = []
    for paper in papers():
        headings = [e.name + quick for e in paper.experiments for quick in ("", QUICK)]
        own = {heading: sections[heading] for heading in headings if heading in sections}
        if own:
            notes = "".join(f"- {note}\n" for note in paper.notes)
            parts.append((own, f"\n## Paper {paper.id}\n\n{paper.citation}\n\n{notes}"))
    shown = {heading: section for own, _ in parts for heading, section in own.items()}
    texts = [text for own, head in parts for text in (head, *(s.text for s in own.values()))]
    return "\n".join([HEAD, _summary(shown), *texts])


def _read(page: str) -> dict[str, Section]:
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
    return experiment.name + QUICK * experiment.is_quick


def _section(report: Report, options: str, made: str) -> Section:
    experiment = report.experiment
    lines = [f"### {_heading(experiment)}", "", f"{experiment.title}.", ""]
    lines += [f"`steadyboost reproduce {experiment.name}{options}`. {made}", ""]
    if not report.is_empty:
        lines += [*_table(report), ""]
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


def _table(report: Report) -> list[str]:
    columns = [_safe(column) for column in report.columns]
    lines = [f"| | {' | '.join(columns)} |", "|---|" + "---:|" * len(columns)]
    for label, row in zip(report.rows, report.entries, strict=True):
        cells = [_cell(entry, report.experiment.measure) for entry in row]
        lines.append(f"| {_safe(label)} | {' | '.join(cells)} |")
    return lines


def _cell(entry: Entry, measure: str) -> str:
    printed = f" ({entry.printed_text})" if entry.printed else ""
    return ours_text(entry, measure) + printed


def _safe(words: str) -> str:
    return words.replace("|", "\\|")
