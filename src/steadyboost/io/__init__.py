"""Tables in files: CSV, TSV, Parquet, ARFF, libsvm; categories and gaps are found by looking."""

from steadyboost.tables.errors import TableError
from steadyboost.tables.found import Found
from steadyboost.tables.frames import from_columns
from steadyboost.tables.labels import as_classes, match_classes
from steadyboost.tables.reading import Table, has_own_labels, read_table

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
