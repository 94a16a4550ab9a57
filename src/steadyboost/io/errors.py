"""What is wrong with a file, in one sentence that names file, column and row."""


class TableError(ValueError):
    """A file that cannot be read as a table, or lacks what was asked for.

    Examples
    --------
    >>> from steadyboost.io import TableError, read_table
    >>> read_table("nowhere.csv")
    Traceback (most recent call last):
    steadyboost.io.errors.TableError: nowhere.csv: there is no such file.
    """
