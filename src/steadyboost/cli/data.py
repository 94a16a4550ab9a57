"""The command ``steadyboost data``."""

from __future__ import annotations

from dataclasses import asdict

from steadyboost.cli.options import Json
from steadyboost.cli.printing import console, print_json

TITLES = ("data set", "rows x columns, classes", "papers", "from", "what to do")


def data(json: Json = False) -> None:
    """List the data sets: whether they can be had here, from where, and what to do if not."""
    from rich.table import Table

    from steadyboost.lab.datasets import available

    records, papers = available(), papers_by_set()
    if json:
        sets = [{**asdict(record), "papers": papers.get(record.name, [])} for record in records]
        print_json({"data": sets})
        return
    made = Table()
    for title in TITLES:
        made.add_column(title, overflow="fold")
    for record in records:
        size = f"{record.rows:,} x {record.columns}, {record.classes}"
        used = " ".join(papers.get(record.name, []))
        made.add_row(record.name, size, used, record.source or "not available", record.remedy)
    console().print(made)


def papers_by_set() -> dict[str, list[str]]:
    """Which papers use a data set."""
    from steadyboost.lab.experiments.reading import papers

    users: dict[str, set[str]] = {}
    for paper in papers():
        for experiment in paper.experiments:
            for choice in experiment.data:
                users.setdefault(choice.set, set()).add(paper.id)
    return {name: sorted(used) for name, used in users.items()}
