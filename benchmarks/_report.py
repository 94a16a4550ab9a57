"""The tables of a run: for the terminal, and as Markdown in the documentation."""

from dataclasses import dataclass
from pathlib import Path

from _bars import Bar, fit_ratio, prediction_ratio
from _models import MODELS, OURS
from _results import Fits, Results, typical
from _sets import SETS
from rich.console import Console
from rich.table import Table

TEXT_COLUMNS = ("", "data set", "model", "figure", "value", "verdict")
VERDICTS = {"PASS": "[green]PASS[/]", "FAIL": "[bold red]FAIL[/]"}
START_LABELS = {
    "import steadyboost": "`import steadyboost`",
    "import SAMMEClassifier": "`from steadyboost import SAMMEClassifier`, scikit-learn included",
    "import scikit-learn's AdaBoost": "`from sklearn.ensemble import AdaBoostClassifier`",
    "compile": "first SAMME fit ever: compilation, processor time",
    "compile SteadyBoost": "first SteadyBoost fit ever: compilation, processor time",
    "first fit of a process": "first fit of any later process, 500 rows",
    "later fit": "next fit of the same process, 500 rows",
}


@dataclass(frozen=True)
class Sheet:
    """A table as text; ``name`` is that of its place in the documentation."""

    name: str
    title: str
    header: list[str]
    rows: list[list[str]]

    def show(self, console: Console) -> None:
        table = Table(title=self.title, title_justify="left")
        for column in self.header:
            table.add_column(column, justify="left" if column in TEXT_COLUMNS else "right")
        for row in self.rows:
            table.add_row(*(VERDICTS.get(cell, cell.replace("`", "")) for cell in row))
        console.print(table)

    def markdown(self) -> str:
        marks = ["---" if column in TEXT_COLUMNS else "---:" for column in self.header]
        return "\n".join(f"| {' | '.join(row)} |" for row in [self.header, marks, *self.rows])


def all_sheets(results: Results, bars: list[Bar]) -> list[Sheet]:
    return [
        _machine_sheet(results),
        _data_sheet(results),
        _fit_sheet(results),
        _prediction_sheet(results),
        _start_sheet(results),
        _bar_sheet(results, bars),
    ]


def duration(seconds: float | None) -> str:
    if seconds is None:
        return ""
    units = {"s": 1.0, "ms": 1e-3, "µs": 1e-6}
    unit = next((unit for unit, size in units.items() if abs(seconds) >= size), "µs")
    return f"{_three_digits(seconds / units[unit])} {unit}"


def times(number: float | None) -> str:
    return "" if number is None else f"{_three_digits(number)}×"


def _three_digits(number: float) -> str:
    digits = 0 if abs(number) >= 100 else 1 if abs(number) >= 10 else 2
    return f"{number:,.{digits}f}"


def _megabytes(size: int | None) -> str:
    return "" if size is None else f"{_three_digits(size / 1e6)} MB"


def _machine_sheet(results: Results) -> Sheet:
    rows = [[key, value] for key, value in results.machine.items()]
    rows.append(["additions alone, 1 thread over 2 threads", _spread(results.thread_gains)])
    rows.append(["date", results.date])
    rows.append(["repeats", f"{results.repeats}{' (quick: tiny sizes)' if results.quick else ''}"])
    return Sheet("machine", "Machine", ["", "value"], rows)


def _spread(values: list[float]) -> str:
    """The median, and the least and the largest."""
    if not values:
        return "not measured"
    return f"{typical(values):.2f} ({min(values):.2f} to {max(values):.2f})"


def _data_sheet(results: Results) -> Sheet:
    header = ["data set", "rows", "columns", "classes", *(model.label for model in MODELS.values())]
    rows = []
    for name, shape in results.shapes.items():
        fits = [results.fits_of(name, model, 1) for model in MODELS]
        rounds = ["{} and {}".format(*record.rounds) if record else "" for record in fits]
        rows.append([SETS[name].title, *(f"{number:,}" for number in shape), *rounds])
    return Sheet("data", "Data sets, and rounds whose times are compared", header, rows)


def _fit_sheet(results: Results) -> Sheet:
    header = ["data set", "model", "round", "round, 2 threads", "tree", "fixed cost"]
    header += ["round over ours", "tree over ours", "peak memory", "of it code"]
    rows = [row for name in results.shapes for row in _fit_rows(results, name)]
    return Sheet("fits", "Training, trees of depth 3, 1 thread unless stated", header, rows)


def _fit_rows(results: Results, name: str) -> list[list[str]]:
    rows = []
    for model in MODELS:
        one = results.fits_of(name, model, 1)
        if one is not None:
            rows.append([SETS[name].title, MODELS[model].label, *_fit_cells(results, one)])
    return rows


def _fit_cells(results: Results, one: Fits) -> list[str]:
    name, model = one.data_set, one.model
    two = results.fits_of(name, model, 2)
    over = [
        fit_ratio(results, name, (model, 1), (OURS, 1), figure)
        for figure in ("per_round", "per_tree")
    ]
    return [
        duration(typical(one.per_round)),
        duration(typical(two.per_round) if two else None),
        duration(typical(one.per_tree)),
        duration(typical(one.fixed)) if one.rounds[0] else "in the round",
        *map(times, over),
        _megabytes(one.memory),
        _megabytes(one.code),
    ]


def _prediction_sheet(results: Results) -> Sheet:
    header = ["data set", "model", "trees", "rows", "rows/s", "rows/s, 2 threads", "ours over it"]
    rows = [row for name in results.shapes for row in _prediction_rows(results, name)]
    title = "predict_proba, trees of depth 3, 1 thread unless stated"
    return Sheet("predictions", title, header, rows)


def _prediction_rows(results: Results, name: str) -> list[list[str]]:
    rows = []
    for model in MODELS:
        one, two = (results.predictions_of(name, model, threads) for threads in (1, 2))
        if one is not None:
            speeds = [_speed(record.rows_per_second if record else []) for record in (one, two)]
            ours = times(prediction_ratio(results, name, model, 1))
            sizes = [f"{one.trees}", f"{one.rows:,}"]
            rows.append([SETS[name].title, MODELS[model].label, *sizes, *speeds, ours])
    return rows


def _speed(rows_per_second: list[float]) -> str:
    speed = typical(rows_per_second)
    return "" if speed is None else f"{speed:,.0f}"


def _start_sheet(results: Results) -> Sheet:
    rows = [[START_LABELS[key], duration(typical(v))] for key, v in results.startup.items()]
    return Sheet("start", "Start, in fresh processes", ["", "seconds"], rows)


def _bar_sheet(results: Results, bars: list[Bar]) -> Sheet:
    rows = [
        [bar.what, "" if bar.measured is None else f"{bar.measured:.3g}", bar.wanted, bar.verdict]
        for bar in bars
    ]
    title = "Bars" + (" (QUICK RUN: verdicts do not count)" if results.quick else "")
    return Sheet("bars", title, ["figure", "measured", "bar", "verdict"], rows)


def write_docs(path: Path, sheets: list[Sheet]) -> None:
    """Replace what stands between the marks of each sheet."""
    text = path.read_text(encoding="utf-8")
    for sheet in sheets:
        begin, end = f"<!-- speed:{sheet.name} -->", f"<!-- end of speed:{sheet.name} -->"
        before, found, rest = text.partition(begin)
        _, closed, after = rest.partition(end)
        if not (found and closed):
            raise SystemExit(f"{path.name} has no place {begin} ... {end} for a table")
        text = f"{before}{begin}\n\n{sheet.markdown()}\n\n{end}{after}"
    path.write_text(text, encoding="utf-8")
