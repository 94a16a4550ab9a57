"""Numbers and dates as people write them: decimal commas, thousands separators, orders of dates.

A *notation* is what reading a column again takes: the decimal sign of its numbers, ``","`` or
``"."``, where they have a decimal comma or thousands separators; or the order of its dates, such
as ``"%d.%m.%Y"``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

DECIMALS = (".", ",")
# Signs between groups of three digits: a blank, two kinds of narrow ones, and apostrophes.
BLANKS = " \u00a0\u202f'’"
_NUMBER = r"^[+-]?(?:\d{1,3}(?:[%s]\d{3})+|\d*)(?:[%s]\d*)?(?:[eE][+-]?\d+)?$"
_OTHER = {".": ",", ",": "."}
NUMBERS = {sign: _NUMBER % (_OTHER[sign] + BLANKS, sign) for sign in DECIMALS}
# What both notations read, and differently: one sign with three digits after it.
AMBIGUOUS = r"^[+-]?\d{1,3}[.,]\d{3}$"

_YEAR, _SHORT, _ONE, _MONTH = r"\d{4}", r"\d{2}", r"\d{1,2}", r"[A-Za-z]{3,9}"
# Of two orders that fit all values, the first is taken: for / the American one.
ORDERS = {
    "%Y-%m-%d": f"{_YEAR}-{_ONE}-{_ONE}",
    "%Y/%m/%d": f"{_YEAR}/{_ONE}/{_ONE}",
    "%Y.%m.%d": rf"{_YEAR}\.{_ONE}\.{_ONE}",
    "%d.%m.%Y": rf"{_ONE}\.{_ONE}\.{_YEAR}",
    "%d.%m.%y": rf"{_ONE}\.{_ONE}\.{_SHORT}",
    "%m/%d/%Y": f"{_ONE}/{_ONE}/{_YEAR}",
    "%d/%m/%Y": f"{_ONE}/{_ONE}/{_YEAR}",
    "%m/%d/%y": f"{_ONE}/{_ONE}/{_SHORT}",
    "%d/%m/%y": f"{_ONE}/{_ONE}/{_SHORT}",
    "%d-%m-%Y": f"{_ONE}-{_ONE}-{_YEAR}",
    "%m-%d-%Y": f"{_ONE}-{_ONE}-{_YEAR}",
    "%d %b %Y": f"{_ONE} {_MONTH} {_YEAR}",
    "%d-%b-%Y": f"{_ONE}-{_MONTH}-{_YEAR}",
    "%d-%b-%y": f"{_ONE}-{_MONTH}-{_SHORT}",
    "%d %B %Y": f"{_ONE} {_MONTH} {_YEAR}",
    "%b %d, %Y": f"{_MONTH} {_ONE}, {_YEAR}",
    "%B %d, %Y": f"{_MONTH} {_ONE}, {_YEAR}",
}
WORDS = {"%Y": "year", "%y": "year", "%m": "month", "%b": "month", "%B": "month", "%d": "day"}
_TIME = (
    r"(?:[T ] ?(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2}(?:\.\d+)?))?"
    r" ?(?P<half>[AaPp][Mm])? ?(?P<zone>Z|[+-]\d{2}:?\d{2})?)?"
)
SAMPLE = 200  # distinct values that rule out most orders before all rows are read


def decimals_of(text: pl.Series) -> set[str]:
    """The decimal signs with which all values of a column are numbers."""
    known = text.drop_nulls()
    return {
        sign
        for sign, pattern in NUMBERS.items()
        if len(known) and known.head(SAMPLE).str.contains(pattern).all()
        and parse_numbers(known, sign) is not None
    }  # fmt: skip


def parse_numbers(text: pl.Series, decimal: str) -> pl.Series | None:
    """The numbers that texts stand for; None if any of them is not a number in this notation."""
    import polars as pl

    if not text.drop_nulls().str.contains(NUMBERS[decimal]).all():
        return None
    plain = text.str.replace_all(f"[{BLANKS}{_OTHER[decimal]}]", "").str.replace(
        decimal, ".", literal=True
    )
    numbers = plain.cast(pl.Float64, strict=False)
    return numbers if numbers.null_count() == text.null_count() else None


def first_misfit(text: pl.Series, decimal: str) -> int | None:
    """Place of the first value that is not a number in this notation."""
    fits = text.str.contains(NUMBERS[decimal]).fill_null(True)
    return None if fits.all() else int((~fits).arg_max() or 0)


def is_ambiguous(text: pl.Series) -> bool:
    """Whether a value is a different number with the other decimal sign."""
    return bool(text.drop_nulls().str.contains(AMBIGUOUS).any())


def orders_of(text: pl.Series) -> list[str]:
    """The orders in which all values of a column are dates, the preferred one first."""
    known = text.drop_nulls().unique(maintain_order=True)
    if not len(known):
        return []
    few = known.head(SAMPLE)
    fitting = [order for order in ORDERS if not parse_dates(few, order).null_count()]
    return [order for order in fitting if not parse_dates(known, order).null_count()]


def nearly_dates(text: pl.Series, most: float = 0.1) -> int | None:
    """Place of the first value that is not a date in a column where nearly all are."""
    known = text.drop_nulls().unique(maintain_order=True)
    if len(known) < 10:
        return None
    for order in ORDERS:
        if parse_dates(known.head(SAMPLE), order).null_count() <= most * min(len(known), SAMPLE):
            wrong = parse_dates(text, order).is_null() & text.is_not_null()
            return int(wrong.arg_max() or 0)
    return None


def parse_dates(text: pl.Series, order: str) -> pl.Series:
    """Dates with the time of day, in UTC where they have a zone; null for what is no date."""
    import polars as pl

    parts = text.str.extract_groups(f"^(?P<date>{ORDERS[order]}){_TIME}$").struct.unnest()
    hour = parts["hour"].cast(pl.Int64)
    half = parts["half"].str.to_lowercase()
    hour = (
        pl.select(
            pl.when(half.is_null())
            .then(hour)
            .otherwise(hour % 12 + 12 * (half == "pm").cast(pl.Int64))
        ).to_series()
    )  # fmt: skip
    date = parts["date"].str.to_date(order, strict=False)
    offset = _offsets(parts["zone"])
    wrong = (hour > 23).fill_null(False) | (parts["minute"].cast(pl.Int64) > 59).fill_null(False)
    at = (
        hour.fill_null(0) * 3_600_000_000
        + parts["minute"].cast(pl.Int64).fill_null(0) * 60_000_000
        + (parts["second"].cast(pl.Float64).fill_null(0) * 1e6).round().cast(pl.Int64)
        - offset * 60_000_000
    )
    moment = date.cast(pl.Datetime("us")) + at.cast(pl.Duration("us"))
    made = pl.select(pl.when(~wrong).then(moment)).to_series()
    return made.alias(text.name)


def _offsets(zone: pl.Series) -> pl.Series:
    """Minutes east of Greenwich; 0 without a zone."""
    import polars as pl

    parts = zone.str.extract_groups(r"^(?P<sign>[+-])(?P<hours>\d{2}):?(?P<minutes>\d{2})$")
    fields = parts.struct.unnest()
    minutes = 60 * fields["hours"].cast(pl.Int64) + fields["minutes"].cast(pl.Int64)
    sign = 1 - 2 * (fields["sign"] == "-").fill_null(False).cast(pl.Int64)
    return (sign * minutes).fill_null(0)


def in_words(notation: str) -> str:
    """An order of dates as people say it: ``day.month.year``.

    Examples
    --------
    >>> in_words("%d.%m.%Y")
    'day.month.year'
    """
    for sign, word in WORDS.items():
        notation = notation.replace(sign, word)
    return notation


def other_orders(orders: Sequence[str]) -> list[str]:
    """Orders that would give other dates than the first."""
    return [in_words(order) for order in orders[1:]]
