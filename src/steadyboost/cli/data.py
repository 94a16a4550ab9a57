"""The command ``steadyboost data``."""

from steadyboost.cli.printing import console


def data() -> None:
    """List the data sets: whether they can be had here, from where, and what to do if not."""
    from rich.table import Table

    from steadyboost.datasets import available
    from steadyboost.experiments.reading import papers

    users: dict[str, set[str]] = {}
    for paper in papers():
        for experiment in paper.experiments:
            for choice in experiment.data:
                users.setdefault(choice.set, set()).add(paper.id)
    grid = Table()
    for title in ("data set", "rows x columns, classes", "papers", "from", "what to do"):
        grid.add_column(title, overflow="fold")
    for record in available():
        size = f"{record.rows:,} x {record.columns}, {record.classes}"
        used = " ".join(sorted(users.get(record.name, ())))
        grid.add_row(record.name, size, used, record.source or "not available", record.remedy)
    console().print(grid)
