"""Tables in files: CSV, TSV, Parquet, ARFF, libsvm; categories and gaps are found by looking."""

from steadyboost.io.errors import TableError
from steadyboost.io.frames import from_columns
from steadyboost.io.inspection import Found
from steadyboost.io.labels import as_classes, match_classes
from steadyboost.io.reading import Table, has_own_labels, read_table

__all__ = [
    "Found",
    "Table",
    "TableError",
    "as_classes",
    "from_columns",
    "has_own_labels",
    "match_classes",
    "read_table",
]
