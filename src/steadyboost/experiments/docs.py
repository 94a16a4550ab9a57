"""The page ``docs/reproduction.md``: a verdict for each claim, and the numbers behind it."""

from __future__ import annotations

from collections import Counter

from steadyboost.experiments.reading import papers
from steadyboost.experiments.results import NOT_RUN
from steadyboost.experiments.tables import MARKS, Entry, Report, asked_by, ours_text, remarks

HEAD = """\
# Do the papers' experiments reproduce?

Every table and figure of the five papers, run again with this package; each claim that the papers
make about them has a verdict. `steadyboost reproduce` lists the experiments and runs them;
`steadyboost data` says where the data come from. This page is written by the same command:

```
{command}
```

{made}

In the tables our number comes first, the printed one in brackets (`?`: not readable in our copy,
`-`: not run by the paper). `+` and `−` are significantly better and worse than the paper's own
method, by the t-test for resampled runs of Nadeau and Bengio (2003) at 5 %. "Most" is more than
half, "almost all" three quarters; a claim about 4 of 7 sets is judged as that share of the sets
that there are. Where the paper printed numbers, the same test is done on these too: some claims
fail on the paper's own.
"""


def markdown_page(reports: list[Report], command: str, made: str) -> str:
    """The page as Markdown."""
    parts = [HEAD.format(command=command, made=made), _summary(reports)]
    for paper in papers():
        own = [report for report in reports if report.experiment.paper == paper.id]
        if own:
            notes = "".join(f"- {note}\n" for note in paper.notes)
            parts.append(f"\n## Paper {paper.id}\n\n{paper.citation}\n\n{notes}")
            parts += [_section(report) for report in own]
    return "\n".join(parts)


def _summary(reports: list[Report]) -> str:
    states = ("reproduces", "does not", "cannot be run", NOT_RUN)
    lines = [f"| experiment | {' | '.join(states)} |", "|---|" + "---:|" * len(states)]
    total: Counter[str] = Counter()
    for report in reports:
        found = Counter(v.state for v in report.verdicts if not v.claim.ours)
        total += found
        name = report.experiment.name
        counts = " | ".join(str(found[state] or "") for state in states)
        lines.append(f"| [{name}](#{_anchor(report)}) | {counts} |")
    counts = " | ".join(f"**{total[state]}**" for state in states)
    return "\n".join([*lines, f"| **claims in all** | {counts} |"]) + "\n"


def _anchor(report: Report) -> str:
    """As Markdown processors make it from the heading."""
    return _heading(report).lower().replace("/", "").replace(" ", "-")


def _heading(report: Report) -> str:
    quick = " QUICK" if report.experiment.is_quick else ""
    return report.experiment.name + quick


def _section(report: Report) -> str:
    lines = [f"### {_heading(report)}", "", f"{report.experiment.title}.", ""]
    if not report.is_empty:
        lines += [*_table(report), ""]
    for verdict in report.verdicts:
        mark = MARKS[verdict.state]
        lines.append(f"- {mark} {asked_by(verdict)} **{_sentence(verdict.sentence)}**")
    notes = [f"- {remark}" for remark in remarks(report)]
    return "\n".join([*lines, "", *notes, ""])


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
