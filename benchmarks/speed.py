"""Speed and memory against scikit-learn, LightGBM and XGBoost, interleaved in one run.

``python benchmarks/speed.py`` takes about forty minutes on two cores and wants the machine to
itself; ``--quick`` only shows that everything works.
"""

import argparse
import os
import platform
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from tempfile import gettempdir

import psutil
from _bars import Bar, all_bars
from _harness import Clock, SetRun, set_cost
from _models import MODELS
from _report import all_sheets, write_docs
from _results import Results, load
from _sets import SETS
from _startup import SECONDS as STARTUP_SECONDS
from _startup import measure_startup
from rich.console import Console

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("steadyboost", "numpy", "numba", "scikit-learn", "lightgbm", "xgboost")
BUSY = 0.5  # load average above which timings suffer
REPEATS, QUICK_REPEATS = 5, 2


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--sets", nargs="+", choices=SETS, default=list(SETS), metavar="SET", help=_names(SETS))
    add("--models", nargs="+", choices=MODELS, default=list(MODELS), help=_names(MODELS))
    add("--repeats", type=int, help=f"{REPEATS} by default, {QUICK_REPEATS} with --quick")
    add("--quick", action="store_true", help="tiny sizes: shows that it works, measures nothing")
    add("--json", type=Path, help="where results go (benchmarks/results/speed.json)")
    add("--chart", type=Path, help="where the chart goes (docs/images/speed.png)")
    add("--write-docs", action="store_true", help="write the tables into docs/performance.md")
    add("--update", action="store_true", help="keep the other sets and the start of the last run")
    add("--from-json", type=Path, help="report an earlier run's results instead of measuring")
    return parser.parse_args()


def _names(choices: dict) -> str:
    return "some of " + ", ".join(choices)


def destination(given: Path | None, full: str, quick: bool) -> Path:
    """Where a file goes; a quick run leaves those of the last full run alone."""
    scratch = Path(gettempdir(), "quick-" + Path(full).name)
    return given or (scratch if quick else ROOT / full)


def machine_facts() -> dict[str, str]:
    facts = {
        "processor": _processor(),
        "cores": f"{os.cpu_count()}",
        "memory": f"{psutil.virtual_memory().total / 2**30:.0f} GB",
        "system": f"{platform.system()} {platform.machine()}",
        "load at the start": f"{psutil.getloadavg()[0]:.2f}",
        "Python": platform.python_version(),
    }
    return facts | {package: _version(package) for package in PACKAGES}


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    names = (line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor())


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def installed(models: list[str], results: Results, console: Console) -> list[str]:
    """The models whose package is there; a line for each that is not."""
    missing = [model for model in models if find_spec(MODELS[model].package) is None]
    for model in missing:
        results.problems.append(f"{MODELS[model].label}: not installed")
        console.print(f"  [yellow]{results.problems[-1]}[/]", highlight=False)
    return [model for model in models if model not in missing]


def measure(arguments: argparse.Namespace, console: Console) -> Results:
    now = datetime.now(UTC).strftime("%Y-%m-%d")
    repeats = arguments.repeats or (QUICK_REPEATS if arguments.quick else REPEATS)
    results = Results(now, arguments.quick, repeats, machine_facts())
    if float(results.machine["load at the start"]) > BUSY:
        console.print("[yellow]The machine is busy: timings will be unsteady.[/]")
    models = installed(arguments.models, results, console)
    costs = [set_cost(SETS[name], repeats, arguments.quick) for name in arguments.sets]
    clock = Clock(console, STARTUP_SECONDS * repeats + sum(costs))
    if not arguments.update:
        measure_startup(results, clock)
    for name in arguments.sets:
        SetRun(name, models, results, clock).run()
    return results


def draw_chart(results: Results, path: Path, console: Console) -> None:
    if find_spec("matplotlib") is None:
        console.print("  [yellow]chart: matplotlib is not installed[/]")
        return
    from _chart import draw

    draw(results, path)
    console.print(f"chart: {path}")


def show(results: Results, bars: list[Bar], console: Console) -> None:
    for sheet in all_sheets(results, bars):
        sheet.show(console)
    for problem in results.problems:
        console.print(f"[yellow]{problem}[/]", highlight=False)
    if results.quick:
        console.print("[bold red]QUICK RUN: tiny sizes, so these figures mean nothing.[/]")


def main() -> None:
    arguments, console = parse(), Console()
    results = load(arguments.from_json) if arguments.from_json else measure(arguments, console)
    if not arguments.from_json:
        path = destination(arguments.json, "benchmarks/results/speed.json", results.quick)
        results = load(path).updated(results) if arguments.update else results
        results.save(path, [bar.as_json() for bar in all_bars(results)])
        console.print(f"results: {path}")
    bars = all_bars(results)
    chart = destination(arguments.chart, "docs/images/speed.png", results.quick)
    draw_chart(results, chart, console)
    show(results, bars, console)
    if arguments.write_docs:
        if results.quick:
            raise SystemExit("--write-docs wants the figures of a full run: nothing is written")
        write_docs(ROOT / "docs/performance.md", all_sheets(results, bars))


if __name__ == "__main__":
    main()
