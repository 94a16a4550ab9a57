"""The outer shell of a model file: a zip of one JSON text and flat ``.npy`` columns.

Arrays of one name and type lie end to end in one column, in the order in which the text mentions
them with their shapes, so that each number of a file is read exactly once.
"""

import io
import math
import os
import re
import zipfile
import zlib
from typing import Any, BinaryIO

import numpy as np
from numpy.lib import format as npy

from steadyboost.ensemble.model_io.checks import need, need_int, need_list

TEXT = "model.json"
MAX_TEXT_BYTES = 2**26
MAX_CONTAINERS = 2**22  # lists and objects of the text: each takes far more memory than bytes
MAX_MEMBERS = 128
UNFOLD, SLACK = 100, 2**18  # a member of n bytes unfolds to at most UNFOLD * n + SLACK
TYPES = ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
# An .npy file, version 1.0, of a vector: numpy's own reader parses the header as Python.
HEADER = re.compile(
    rb"\x93NUMPY\x01\x00(?P<length>..)"
    rb"\{'descr': '(?P<type>[<|][biuf][1248])', 'fortran_order': False, "
    rb"'shape': \((?P<size>[0-9]{1,15}),\), \} *\n",
    re.DOTALL,
)
NUMERIC = frozenset((*TYPES, "float32", "float64"))


class ColumnWriter:
    """Arrays to be written, laid end to end.

    Examples
    --------
    >>> columns = ColumnWriter()
    >>> columns.put("code", np.eye(2))
    ['float64', 2, 2]
    >>> ColumnReader(columns.joined()).take("code", ["float64", 2, 2])
    array([[1., 0.],
           [0., 1.]])
    """

    def __init__(self) -> None:
        self._parts: dict[str, list[np.ndarray]] = {}

    def put(self, name: str, array: np.ndarray) -> list[Any]:
        """Add an array; what the text says of it: its type and shape."""
        array = np.asarray(array)
        need(array.dtype.name in NUMERIC, f"{name} is an array of {array.dtype}, not of numbers")
        need(all(part.isidentifier() for part in name.split(".")), f"{name!r} is not a name")
        self._parts.setdefault(f"{name}.{array.dtype.name}", []).append(array.ravel())
        return [array.dtype.name, *array.shape]

    def joined(self) -> dict[str, np.ndarray]:
        """The columns by name."""
        return {name: np.concatenate(parts) for name, parts in self._parts.items()}


class ColumnReader:
    """Takes arrays off the columns of a file, each number once."""

    def __init__(self, columns: dict[str, np.ndarray]):
        self._columns = columns
        self._taken = dict.fromkeys(columns, 0)

    def take(self, name: str, what: Any) -> np.ndarray:
        """The next array of this name, of the type and shape that the text mentions."""
        need(len(need_list(what, name)) > 0, f"{name} has no type")
        shape = [need_int(length, 0, 2**48, f"a length of {name}") for length in what[1:]]
        key = f"{name}.{what[0]}"
        need(key in self._columns, f"there is no column {key}")
        column, start = self._columns[key], self._taken[key]
        stop = start + math.prod(shape)
        need(stop <= len(column), f"column {key} is too short")
        self._taken[key] = stop
        return column[start:stop].reshape(shape)

    def finish(self) -> None:
        """Check that nothing is left."""
        for name, column in self._columns.items():
            need(self._taken[name] == len(column), f"column {name} is too long")


def write_archive(file: BinaryIO, text: str, columns: dict[str, np.ndarray]) -> None:
    """Write the text and the columns; equal contents give equal bytes."""
    need(text.isascii() and len(text) <= MAX_TEXT_BYTES, "the model is too long for a file")
    need(len(columns) < MAX_MEMBERS, "the model has too many different arrays for a file")
    with zipfile.ZipFile(file, "w") as archive:
        _add_member(archive, TEXT, text.encode())
        for name, column in columns.items():
            stream = io.BytesIO()
            little = column.astype(column.dtype.newbyteorder("<"), copy=False)
            npy.write_array(stream, little, version=(1, 0), allow_pickle=False)
            _add_member(archive, f"{name}.npy", stream.getvalue())


def _add_member(archive: zipfile.ZipFile, name: str, data: bytes) -> None:
    """Deflate a member, unless it would look like a bomb to the reader."""
    info = zipfile.ZipInfo(name)
    info.external_attr = 0o644 << 16
    fits = len(data) <= SLACK or len(data) <= UNFOLD * len(zlib.compress(data, 1)) // 2
    info.compress_type = zipfile.ZIP_DEFLATED if fits else zipfile.ZIP_STORED
    archive.writestr(info, data, compresslevel=1)


def read_archive(file: BinaryIO) -> tuple[bytes, dict[str, np.ndarray]]:
    """The text and the columns of a file; nothing larger than it says it is, or than allowed."""
    need(zipfile.is_zipfile(file), "it is no zip file, or not all of one")
    size = file.seek(0, os.SEEK_END)
    with zipfile.ZipFile(file) as archive:
        members = archive.infolist()
        _check_members(members, size)
        data = {info.filename: _read_member(archive, info) for info in members}
    text = data.pop(TEXT)
    return text, {name.removesuffix(".npy"): _parse(raw) for name, raw in data.items()}


def _check_members(members: list[zipfile.ZipInfo], size: int) -> None:
    """Bound what reading will allocate, from the directory alone."""
    names = [info.filename for info in members]
    need(len(members) <= MAX_MEMBERS and len(set(names)) == len(names), "too many members")
    need(TEXT in names, f"there is no {TEXT}")
    need(all(n == TEXT or n.endswith(".npy") for n in names), "a member is neither text nor array")
    need(sum(info.compress_size for info in members) <= size, "members overlap")
    for info in members:
        stored = info.compress_type == zipfile.ZIP_STORED
        need(stored or info.compress_type == zipfile.ZIP_DEFLATED, "an unknown compression")
        limit = info.compress_size if stored else UNFOLD * info.compress_size + SLACK
        need(info.file_size <= limit, f"{info.filename} unfolds to too much")
        need(info.filename != TEXT or info.file_size <= MAX_TEXT_BYTES, f"{TEXT} is too long")


def _read_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    with archive.open(info) as stream:
        data = stream.read(info.file_size)
        need(len(data) == info.file_size and not stream.read(1), f"{info.filename} is cut off")
    return data


def _parse(raw: bytes) -> np.ndarray:
    """A column from the bytes of an ``.npy`` file, aligned and writable as kernels expect it."""
    header = HEADER.match(raw)
    need(header, "a column is not a vector of numbers")
    assert header is not None
    start, dtype = header.end(), np.dtype(header["type"].decode())
    need(dtype.name in NUMERIC, f"a column of {dtype} is not known")
    need(int.from_bytes(header["length"], "little") == start - 10, "a column's header is cut off")
    need(int(header["size"]) * dtype.itemsize == len(raw) - start, "a column has the wrong length")
    column = np.frombuffer(raw, dtype, offset=start)
    need(dtype.kind != "b" or (column.view(np.uint8) <= 1).all(), "a truth value is neither")
    return column.astype(dtype.newbyteorder("="))
