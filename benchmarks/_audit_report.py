"""Tables of ``audit.py``, in the terminal and in docs/noise.md, and its bars."""

from collections.abc import Mapping

import pandas as pd
from _audit_methods import OURS, RULE, SELF
from _docs import replace_section
from _noisy_report import DOCS, markdown, show
from rich.console import Console

Tables = dict[str, tuple[pd.DataFrame, int, str]]  # title: table, digits, which figure is bold

TITLES = {
    "f1": ("F1 of the suspects", 3, "highest"),
    "ap": ("Average precision", 3, "highest"),
    "precision": ("Precision at the true number of wrong labels", 3, "highest"),
    "off": ("Error of the estimated share of wrong labels", 3, "lowest"),
}
OWN = {
    "true": "true share",
    "rate": "our estimate",
    "relative": "relative error",
    "covered": "interval holds the truth",
    "calibration": "calibration error",
    "flagged": "listed",
}
PUBLISHED_AQUA = {  # best of four methods: weighted F1, mean of 10 and 40 % noise (NeurIPS 2023)
    ("car", "symmetric"): 83.7,
    ("car", "pair"): 78.6,
    ("pendigits", "symmetric"): 94.7,
    ("pendigits", "pair"): 81.5,
}
PUBLISHED_VALUATION = {"fried": 0.524, "2dplanes": 0.587}  # best of OpenDataVal's table, 20 %


def kind_of(line: pd.Series) -> str:
    """A column of the tables."""
    name = line["kind"].replace("_", " ")
    if line["suite"] == "noise" and line["rate_made"]:
        return f"{name} {100 * line['rate_made']:.0f} %"
    return {"majority": "crowd, majority", "one annotator": "crowd, one annotator"}.get(name, name)


def by_kind(frame: pd.DataFrame, value: str) -> pd.DataFrame:
    """Mean over sets and seeds: methods in rows, kinds of noise in columns."""
    table = frame.pivot_table(index="method", columns="noise", values=value)
    methods = [m for m in dict.fromkeys(frame["method"]) if m in table.index]
    return table.loc[methods, [c for c in dict.fromkeys(frame["noise"]) if c in table]]


def own_figures(frame: pd.DataFrame) -> pd.DataFrame:
    """What our audit says of each kind of noise."""
    ours = frame[frame["method"] == OURS]
    known = [name for name in OWN if name in ours]
    return ours.groupby("noise", sort=False)[known].mean().rename(columns=OWN).T


def noise_tables(frame: pd.DataFrame) -> Tables:
    own = frame[frame["suite"].isin(["noise", "clean"])]
    noisy = own[own["suite"] == "noise"]
    made: Tables = {}
    if len(noisy):
        for value, (title, digits, best) in TITLES.items():
            made[title] = (by_kind(noisy, value), digits, best)
    if len(own):
        made["What our audit says"] = (own_figures(own), 3, "none")
    return made


def aqua_table(frame: pd.DataFrame) -> pd.DataFrame:
    own = frame[(frame["suite"] == "aqua") & (frame["method"] == OURS)]
    ours = 100 * own.groupby(["set", "kind"])["weighted_f1"].mean()
    table = pd.DataFrame({"ours": ours, "best published": pd.Series(PUBLISHED_AQUA)}).T
    table.columns = [f"{name}, {kind}" for name, kind in table.columns]
    return table


def valuation_table(frame: pd.DataFrame) -> pd.DataFrame:
    own = frame[frame["suite"] == "valuation"]
    table = own.pivot_table(index="method", columns="set", values="f1")
    if "two_means" in own:
        split = own.pivot_table(index="method", columns="set", values="two_means")
        table = pd.concat({"list": table, "two means": split}, names=["by"]).reorder_levels([1, 0])
        table.index = [f"{method}, {by}" for method, by in table.index]
    table.loc["best published, two means"] = pd.Series(PUBLISHED_VALUATION)
    return table.dropna(how="all")


def errors_tables(frame: pd.DataFrame) -> Tables:
    """Networks' probabilities: a line per file."""
    parts = {"F1": "f1", "AP": "ap"}
    columns = {
        f"{short}, {method}": own.set_index("set")[value]
        for short, value in parts.items()
        for method, own in frame.groupby("method", sort=False)
        if own[value].notna().any()
    }
    ours = frame[frame["method"] == OURS].set_index("set")
    columns |= {"truly wrong": ours["true"], "our estimate": ours["rate"]}
    columns |= {"interval from": ours["low"], "to": ours["high"]}
    columns |= {"calibration error": ours["calibration"]}
    return {"People's mistakes": (pd.DataFrame(columns), 3, "none")}


def all_tables(frames: Mapping[str, pd.DataFrame], section: str) -> dict[str, Tables]:
    """Tables by section of the docs page; ``section`` is that of kinds of noise."""
    sections: dict[str, Tables] = {}
    tables = frames["tables"]
    if len(tables):
        tables = tables.assign(noise=[kind_of(line) for _, line in tables.iterrows()])
        if set(tables["suite"]) & {"noise", "clean"}:
            sections[section] = noise_tables(tables)
        published: Tables = {}
        if (tables["suite"] == "aqua").any():
            published["AQuA: weighted F1, %"] = (aqua_table(tables), 1, "highest")
        if (tables["suite"] == "valuation").any():
            published["OpenDataVal: F1 at 20 %"] = (valuation_table(tables), 3, "highest")
        if published:
            sections["audit-published"] = published
    if len(frames.get("errors", ())):
        sections["audit-people"] = errors_tables(frames["errors"])
    if len(frames.get("indicator", ())):
        own = frames["indicator"]
        sections["audit-sets"] = {
            f"Average precision of {value}": (
                own.pivot_table(index="method", columns="set", values=value),
                3,
                "highest",
            )
            for value in ("entries", "rows")
        }
    if "time" in frames:
        own = frames["time"].set_index("rows")
        sections["audit-time"] = {"Time, s of processor time": (own, 2, "none")}
    return sections


def report(frames: Mapping[str, pd.DataFrame], write: bool, command: str, section: str) -> None:
    console = Console()
    for name, tables in all_tables(frames, section).items():
        for title, (table, digits, _) in tables.items():
            show(console, title, table, digits)
        if write:
            text = [f"    {command}\n"] + [
                f"#### {title}\n\n{markdown(table, digits, best)}\n"
                for title, (table, digits, best) in tables.items()
            ]
            replace_section(DOCS / "noise.md", name, "\n".join(text))


def bars(frames: Mapping[str, pd.DataFrame]) -> None:
    """What was to be reached, met or missed, with its figures."""
    console = Console()
    for name, is_met, figures in [*people_bars(frames), *table_bars(frames)]:
        console.print(f"{'met   ' if is_met else 'missed'} {name}: {figures}", highlight=False)


def people_bars(frames: Mapping[str, pd.DataFrame]) -> list[tuple[str, bool, str]]:
    """F1 near the better list, order at least as good as self-confidence, a usable count."""
    lines = []
    for name, own in frames.get("errors", pd.DataFrame(columns=["set"])).groupby("set"):
        by = own.set_index("method")
        ours, best = by.loc[OURS], max(by.loc["cleanlab", "f1"], by.loc[RULE, "f1"])
        lines.append((f"{name} F1", ours["f1"] >= best - 0.01, f"{ours['f1']:.3f}, {best:.3f}"))
        self_ap = by.loc[SELF, "ap"]
        lines.append((f"{name} AP", ours["ap"] >= self_ap, f"{ours['ap']:.4f}, {self_ap:.4f}"))
        allowed = 1 / 2 if "roman" in str(name) else 1 / 3
        counts = f"{ours['rate']:.3f}, {ours['true']:.3f}"
        lines.append((f"{name} rate", ours["relative"] <= allowed, counts))
    return lines


def table_bars(frames: Mapping[str, pd.DataFrame]) -> list[tuple[str, bool, str]]:
    """Better than every rival for each kind of noise; clean labels left alone."""
    lines, frame = [], frames["tables"]
    noisy = frame[frame["suite"] == "noise"] if len(frame) else frame
    if len(noisy):
        noisy = noisy.assign(noise=[kind_of(line) for _, line in noisy.iterrows()])
        for value, (title, _, best) in TITLES.items():
            table = by_kind(noisy, value) * (1 if best == "highest" else -1)
            rivals = table.drop(index=OURS).max()
            behind = [c for c in table if table.loc[OURS, c] < rivals[c]]
            lines.append((title, not behind, f"behind a rival in {', '.join(behind) or 'none'}"))
        ours = noisy[noisy["method"] == OURS]
        drawn = ours[ours["kind"].isin(["symmetric", "pair"])]
        off, held, wide = drawn["relative"].mean(), ours["covered"].mean(), ours["calibration"]
        lines.append(("relative error, symmetric and pair", off <= 0.2, f"{off:.3f}"))
        lines.append(("intervals", held >= 0.8, f"{held:.3f}"))
        lines.append(("calibration", wide.mean() <= 0.05, f"{wide.mean():.3f}"))
    clean = frame[frame["suite"] == "clean"] if len(frame) else frame
    if len(clean):
        listed = clean[clean["method"] == OURS]["flagged"].mean()
        lines.append(("clean rows listed", listed <= 0.03, f"{listed:.3f}"))
    return lines
