"""Tables and pictures of ``noise.py``, in the terminal and in docs/noise.md."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
from _docs import replace_section
from rich.console import Console
from rich.table import Table
from scipy.stats import friedmanchisquare, rankdata, studentized_range

DOCS = Path(__file__).parents[1] / "docs"
OURS = "SteadyBoost"
CASES = ["set", "kind", "rate", "seed"]


def complete(results: Iterable[dict[str, Any]]) -> pd.DataFrame:
    """A row per case that every method has been tried on."""
    frame = pd.DataFrame(results)
    frame["rate"] = frame["rate"].astype(str)
    n_methods = frame["method"].nunique()
    return frame.groupby(CASES).filter(lambda case: case["method"].nunique() == n_methods)


def noise_name(kind: str, rate: str) -> str:
    if kind == "human":
        return f"human, {rate.replace('_', ' ')}"
    return f"{kind.replace('_', ' ')} {100 * float(rate):.0f} %"


def by_noise(frame: pd.DataFrame, value: str) -> pd.DataFrame:
    """Mean of a value: methods in rows, kinds of noise in columns."""
    names = [noise_name(k, r) for k, r in zip(frame["kind"], frame["rate"], strict=True)]
    order = list(dict.fromkeys(names))
    table = frame.assign(noise=names).pivot_table(index="method", columns="noise", values=value)
    return table[order].loc[list(dict.fromkeys(frame["method"]))]


def noises(frame: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """The cases of each kind of noise."""
    for (kind, rate), own in frame.groupby(["kind", "rate"], sort=False):
        yield noise_name(kind, rate), own


def by_set(frame: pd.DataFrame, value: str) -> pd.DataFrame:
    """Mean of a value: methods in rows, sets in columns; NaN where a method was left out."""
    table = frame.pivot_table(index="method", columns="set", values=value)
    return table.loc[list(dict.fromkeys(frame["method"]))]


def ranks(frame: pd.DataFrame) -> pd.DataFrame:
    """Each method's rank in each case, mean over seeds of a set first."""
    means = frame.groupby(["set", "kind", "rate", "method"], as_index=False)["error"].mean()
    means["rank"] = means.groupby(["set", "kind", "rate"])["error"].rank()
    return means


def against_best(errors: pd.DataFrame) -> pd.Series:
    """Our mean error over that of the best single rival, less one."""
    rivals = errors.drop(index=OURS)
    return errors.loc[OURS] / rivals.min() - 1


def gaps(errors: pd.DataFrame) -> str:
    """Our error against that of the best single rival, column by column."""
    return "; ".join(f"{name} {100 * gap:+.1f} %" for name, gap in against_best(errors).items())


def critical_difference(table: pd.DataFrame) -> float:
    """Nemenyi's, at 5 %: mean ranks that differ by more differ."""
    n, k = table.shape
    q = studentized_range.ppf(0.95, k, 10_000) / 2**0.5
    return float(q * (k * (k + 1) / (6 * n)) ** 0.5)


def shown_as(value: float, digits: int) -> str:
    return "–" if pd.isna(value) else f"{value:.{digits}f}"


def markdown(table: pd.DataFrame, digits: int, bold: str = "lowest") -> str:
    """The table, the lowest or highest figure of each column (or none) in bold."""
    best = {"lowest": table.min(), "highest": table.max()}.get(bold)
    lines = ["| | " + " | ".join(table.columns) + " |", "|---" * (len(table.columns) + 1) + "|"]
    for method, values in table.iterrows():
        cells = [
            f"**{shown_as(v, digits)}**"
            if best is not None and v == best[c]
            else shown_as(v, digits)
            for c, v in values.items()
        ]
        lines.append(f"| {method} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def show(console: Console, title: str, table: pd.DataFrame, digits: int) -> None:
    shown = Table(title=title)
    for name in ["", *table.columns]:
        shown.add_column(name, justify="left" if not name else "right")
    for method, values in table.iterrows():
        shown.add_row(str(method), *(shown_as(v, digits) for v in values))
    console.print(shown)


def tables(frame: pd.DataFrame) -> dict[str, tuple[pd.DataFrame, int]]:
    ranked = ranks(frame)
    names = [noise_name(k, r) for k, r in zip(ranked["kind"], ranked["rate"], strict=True)]
    mean_ranks = ranked.assign(noise=names).pivot_table(
        index="method", columns="noise", values="rank"
    )
    errors = 100 * by_noise(frame, "error")
    return {
        "Mean error on clean test rows, %": (errors, 1),
        "Mean rank": (mean_ranks.loc[errors.index, errors.columns], 1),
        "Expected calibration error, %": (100 * by_noise(frame, "calibration_error"), 1),
        "Logarithmic loss": (by_noise(frame, "log_loss"), 2),
        "Median time to fit, s of processor time": (
            frame.pivot_table(index="method", values="fit_seconds", aggfunc="median")
            .rename(columns={"fit_seconds": "fit"})
            .loc[errors.index],
            2,
        ),
    }


def rank_picture(frame: pd.DataFrame, path: Path) -> None:
    """Mean ranks over all cases with labels that are wrong, and the critical difference."""
    import matplotlib.pyplot as plt

    noisy = ranks(frame[frame["rate"] != "0.0"])
    table = noisy.pivot_table(index=["set", "kind", "rate"], columns="method", values="rank")
    table = table.dropna()
    means, width = table.mean().sort_values(), critical_difference(table)
    p = friedmanchisquare(*(rankdata(table, axis=1).T)).pvalue
    figure, ax = plt.subplots(figsize=(7, 0.32 * len(means) + 1.2), layout="constrained")
    places = range(len(means))
    colours = ["#0b5fa5" if name == OURS else "#888888" for name in means.index]
    ax.hlines(places, 1, means, color=colours, linewidth=1)
    ax.scatter(means, places, color=colours, zorder=3)
    ax.axvspan(means.iloc[0], means.iloc[0] + width, color="#0b5fa5", alpha=0.12, linewidth=0)
    ax.set_yticks(places, means.index)
    ax.invert_yaxis()
    ax.set_xlabel(
        f"Mean rank over {len(table)} cases with wrong labels (Friedman p = {p:.1g};\n"
        f"shaded: critical difference {width:.1f} from the best, Nemenyi 5 %)"
    )
    ax.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=150)
    plt.close(figure)


def curve_picture(frame: pd.DataFrame, path: Path) -> None:
    """Mean error by the rate of symmetric noise."""
    import matplotlib.pyplot as plt

    own = frame[frame["kind"] == "symmetric"]
    table = 100 * own.pivot_table(index=own["rate"].astype(float), columns="method", values="error")
    figure, ax = plt.subplots(figsize=(7, 4.5), layout="constrained")
    shown = table.iloc[-1].sort_values().index
    for place, name in enumerate(shown):
        ours = name == OURS
        ax.plot(
            100 * table.index, table[name], label=name, marker="o", markersize=3,
            linewidth=2.5 if ours else 1, color="#0b5fa5" if ours else None, zorder=2 + ours,
            linestyle="-" if place < 8 else "--",
        )  # fmt: skip
    ax.set_xlabel("Wrong training labels, %")
    ax.set_ylabel("Mean error on clean test rows, %")
    ax.legend(fontsize=7, frameon=False, ncols=2)
    ax.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=150)
    plt.close(figure)


def report(results: Iterable[dict[str, Any]], write_docs: bool) -> None:
    frame, console = complete(results), Console()
    made = tables(frame)
    for title, (table, digits) in made.items():
        show(console, title, table, digits)
    against = gaps(made["Mean error on clean test rows, %"][0])
    console.print(f"SteadyBoost's error against the best single rival: {against}", highlight=False)
    if not write_docs:
        return
    rank_picture(frame, DOCS / "images" / "noise-ranks.png")
    curve_picture(frame, DOCS / "images" / "noise-curves.png")
    sets, seeds = frame["set"].nunique(), frame["seed"].nunique()
    intro = f"{sets} sets, {seeds} seeds, {len(frame)} fits; at most {frame['rows'].max()} rows.\n"
    text = [
        f"### {title}\n\n{markdown(table, digits)}\n" for title, (table, digits) in made.items()
    ]
    text.append(f"SteadyBoost's mean error against the best single rival: {against}.\n")
    replace_section(DOCS / "noise.md", "noise", "\n".join([intro, *text]))


def report_large(results: Iterable[dict[str, Any]], write_docs: bool) -> None:
    """Tables of large sets, set by set: some are too large for some methods."""
    frame = pd.DataFrame(results)
    frame["rate"] = frame["rate"].astype(str)
    titles = {"error": ("Error on clean test rows, %", 100, 1)}
    titles["calibration_error"] = ("Expected calibration error, %", 100, 1)
    titles["log_loss"] = ("Logarithmic loss", 1, 2)
    made = {
        f"{title}, {noise}": (factor * by_set(own, name), digits)
        for name, (title, factor, digits) in titles.items()
        for noise, own in noises(frame)
    }
    made["Mean time to fit, s of processor time"] = by_set(frame, "fit_seconds"), 1
    for title, (table, digits) in made.items():
        show(Console(), title, table, digits)
    if write_docs:
        rows = frame.groupby("set")["rows"].max()
        counts = ", ".join(f"{name} {n:,}" for name, n in rows.items())
        text = [f"Rows to learn from: {counts}.\n"]
        for title, (table, digits) in made.items():
            text.append(f"#### {title}\n\n{markdown(table, digits)}\n")
            if title.startswith("Error"):
                text.append(f"SteadyBoost against the best of the others: {gaps(table)}.\n")
        replace_section(DOCS / "noise.md", "noise-large", "\n".join(text))
