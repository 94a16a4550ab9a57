"""Columns of numbers as people read them: their names, and thresholds."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from steadyboost.exports.trees import feature_names

WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")  # a weekday of 1 is a Monday
SECONDS_PER_DAY = 86_400


@dataclass(frozen=True)
class ColumnText:
    """How a column of numbers is written: a date's days as the date, other values as numbers.

    ``part`` is the part of a date that the column holds, if any, and ``has_time`` whether the time
    of day varies in the training data.
    """

    name: str
    part: str | None = None
    has_time: bool = False

    def threshold(self, value: float, digits: int = 4) -> str:
        """A value that others are compared with."""
        if self.part == "days":
            seconds = np.datetime64(0, "s") + np.timedelta64(round(value * SECONDS_PER_DAY), "s")
            text = str(seconds.astype("datetime64[m]" if self.has_time else "datetime64[D]"))
            return text.replace("T", " ")
        # With at least one decimal: 2013.5 must not be rounded to 2014.
        whole = len(f"{abs(value):.0f}")
        return f"{value:.{max(digits, min(whole + 1, 17))}g}"

    def interval(self, low: float | None, high: float | None) -> str:
        """Values above ``low``, up to ``high``; None for an end that is open."""
        if self.part in ("year", "month", "weekday", "hour"):
            return self._whole(low, high)
        ends = [f"{sign} {self.threshold(end)}" for sign, end in ((">", low), ("<=", high))
                if end is not None]  # fmt: skip
        return " and ".join(ends)

    def _whole(self, low: float | None, high: float | None) -> str:
        """An interval of whole numbers by those that are in it; days of the week by name."""
        first = None if low is None else int(np.floor(low)) + 1
        last = None if high is None else int(np.floor(high))
        if self.part == "weekday":
            days = WEEKDAYS[(first or 1) - 1 : last]
            return f"= {days[0]}" if len(days) == 1 else f"{days[0]} to {days[-1]}"
        if first is None or last is None:
            return f"<= {last}" if first is None else f">= {first}"
        return f"= {first}" if first == last else f"{first} to {last}"


def column_texts(model: Any) -> list[ColumnText]:
    """The columns of numbers of a model, in order."""
    names, encoder = feature_names(model), model._encoder
    found = []
    for feature, part in encoder.parts:
        name = names[feature] if part in (None, "days") else f"{names[feature]}.{part}"
        has_time = part is not None and "hour" in encoder.dates[feature]
        found.append(ColumnText(name, part, has_time))
    return found
