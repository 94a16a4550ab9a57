"""What was measured: raw timings, the figures taken from them, and their JSON file."""

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median
from typing import Any


@dataclass
class Fits:
    """Fits of one model on one data set, each repeat with few and with more rounds."""

    data_set: str
    model: str
    threads: int
    rounds: tuple[int, int]
    trees_per_round: int
    seconds: list[tuple[float, float]] = field(default_factory=list)
    memory: int | None = None  # peak of the first fit of a process, over the data
    code: int | None = None  # share of it that a fit of a few rows takes as well

    @property
    def per_round(self) -> list[float]:
        """Slope of time over rounds, of each repeat."""
        few, more = self.rounds
        return [(late - early) / (more - few) for early, late in self.seconds]

    @property
    def per_tree(self) -> list[float]:
        return [seconds / self.trees_per_round for seconds in self.per_round]

    @property
    def fixed(self) -> list[float]:
        """What a fit costs besides its rounds."""
        slopes = zip(self.seconds, self.per_round, strict=True)
        return [early - self.rounds[0] * slope for (early, _), slope in slopes]


@dataclass
class Predictions:
    """Predictions of one model with so many trees on so many rows."""

    data_set: str
    model: str
    threads: int
    trees: int
    rows: int
    seconds: list[float] = field(default_factory=list)

    @property
    def rows_per_second(self) -> list[float]:
        return [self.rows / seconds for seconds in self.seconds]


@dataclass
class Results:
    """One run of the benchmark."""

    date: str
    quick: bool
    repeats: int
    machine: dict[str, str]
    shapes: dict[str, tuple[int, int, int]] = field(default_factory=dict)
    fits: list[Fits] = field(default_factory=list)
    predictions: list[Predictions] = field(default_factory=list)
    startup: dict[str, list[float]] = field(default_factory=dict)
    thread_gains: list[float] = field(default_factory=list)  # of additions alone
    problems: list[str] = field(default_factory=list)

    def fits_of(self, data_set: str, model: str, threads: int) -> Fits | None:
        return _find(self.fits, data_set, model, threads)

    def predictions_of(self, data_set: str, model: str, threads: int) -> Predictions | None:
        return _find(self.predictions, data_set, model, threads)

    def updated(self, newer: "Results") -> "Results":
        """With the data sets that were measured again, in the order of this run."""
        both = {**dict.fromkeys(self.shapes, self), **dict.fromkeys(newer.shapes, newer)}
        newer.shapes = {name: run.shapes[name] for name, run in both.items()}
        for kind in ("fits", "predictions"):
            of_sets = [
                [r for r in getattr(run, kind) if r.data_set == s] for s, run in both.items()
            ]
            setattr(newer, kind, [record for records in of_sets for record in records])
        newer.startup = newer.startup or self.startup
        return newer

    def save(self, path: Path, bars: list[dict[str, Any]]) -> None:
        """Raw timings, with medians and bars for whoever reads the file."""
        content = asdict(self)
        for record, fits in zip(content["fits"], self.fits, strict=True):
            record["medians"] = {
                name: typical(getattr(fits, name)) for name in ("per_round", "per_tree", "fixed")
            }
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({**content, "bars": bars}, indent=1) + "\n")


def load(path: Path) -> Results:
    """Read what ``save`` wrote; medians and bars are computed anew."""
    content = json.loads(path.read_text())
    del content["bars"]
    for record in content["fits"]:
        del record["medians"]
        record["rounds"] = tuple(record["rounds"])
    content["fits"] = [Fits(**record) for record in content["fits"]]
    content["predictions"] = [Predictions(**record) for record in content["predictions"]]
    return Results(**content)


def typical(values: list[float]) -> float | None:
    return median(values) if values else None


def ratio(above: list[float], below: list[float]) -> float | None:
    """Median of the ratios within each repeat, so that slow drifts of the machine cancel.

    Repeats that one of them has alone do not count. A difference of two timings that is not
    positive is noise, and left out.
    """
    pairs = zip(above, below, strict=False)
    return typical([a / b for a, b in pairs if a > 0 and b > 0])


def _find(records: list[Any], data_set: str, model: str, threads: int) -> Any:
    wanted = (data_set, model, threads)
    matches = (r for r in records if (r.data_set, r.model, r.threads) == wanted)
    return next(matches, None)
