"""Tables in files: CSV, TSV, Parquet, Excel and others, with kinds of columns inferred."""

from steadyboost.io.columns import TableError
from steadyboost.io.formats import from_columns
from steadyboost.io.labels import as_classes, match_classes
from steadyboost.io.screening import screened
from steadyboost.io.table import Found, Table, has_own_labels, read_table

__all__ = [
    "Found",
    "Table",
    "TableError",
    "as_classes",
    "from_columns",
    "has_own_labels",
    "match_classes",
    "read_table",
    "screened",
]
