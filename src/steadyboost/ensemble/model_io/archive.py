"""The outer shell of a model file: a zip of one JSON text and flat ``.npy`` columns.

Arrays of one name and type lie end to end in one column, in the order in which the text mentions
them with their shapes, so that each number of a file is read exactly once. The text is read first,
and columns as far as it names them; all of it has one :class:`Budget`.
"""

import io
import math
import os
import re
import zipfile
from typing import Any, BinaryIO

import numpy as np
from numpy.lib import format as npy

from steadyboost.ensemble.model_io.checks import ModelFileError, need, need_int, need_list

TEXT = "model.json"
MAX_TEXT_BYTES = 2**26  # 64 MB, before it is parsed
MAX_MEMBERS = 128  # of the archive: one for each kind of array, of which a booster has a few
UNFOLD, SLACK = 100, 2**21  # a file of n bytes may take UNFOLD * n + SLACK bytes of memory
PART_BYTES = 16  # of memory, at least, for what is between two brackets or commas of the text
HEADER_BYTES = 256  # enough for the header of a column
CHUNK_BYTES = 2**18  # read from a column at a time
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
    >>> columns.joined()
    {'code.float64': array([1., 0., 0., 1.])}
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


class Budget:
    """What reading a file may cost in memory, in bytes: it follows from the size of the file alone.

    The text, its lists and objects, arrays and tables of all classes draw on it. Work is about
    proportional to it, too.
    """

    def __init__(self, file_size: int):
        self.left = UNFOLD * file_size + SLACK

    def spend(self, n_bytes: int) -> None:
        """Take some of it."""
        self.left -= n_bytes
        need(self.left >= 0, "it decompresses to too much for its size")


class ColumnStream:
    """A column in a zip, read as far as its arrays are asked for."""

    def __init__(self, archive: zipfile.ZipFile, info: zipfile.ZipInfo):
        self._stream = archive.open(info)
        head = self._stream.read(HEADER_BYTES)
        header = HEADER.match(head)
        need(header, "a column is not a vector of numbers")
        assert header is not None
        length = int.from_bytes(header["length"], "little")
        need(length == header.end() - 10, "a column's header is cut off")
        self._dtype = np.dtype(header["type"].decode())
        need(self._dtype.name in NUMERIC, f"a column of {self._dtype} is not known")
        self._buffer, self._at = head, header.end()
        self.left = int(header["size"])  # numbers that have not been taken
        n_bytes = self.left * self._dtype.itemsize
        need(n_bytes == info.file_size - header.end(), "a column has the wrong length")

    @property
    def name(self) -> str:
        """The type, as in the text."""
        return self._dtype.name

    @property
    def itemsize(self) -> int:
        """Bytes of a number."""
        return self._dtype.itemsize

    def take(self, n: int) -> np.ndarray:
        """The next n numbers, aligned and writable as kernels expect them."""
        self.left -= n
        n_bytes = n * self._dtype.itemsize
        if n_bytes > len(self._buffer) - self._at:
            rest = self._buffer[self._at :]
            more = self._stream.read(max(n_bytes - len(rest), CHUNK_BYTES))
            self._buffer, self._at = rest + more, 0
        need(n_bytes <= len(self._buffer) - self._at, "a column is cut off")
        values = np.frombuffer(self._buffer, self._dtype, n, self._at)
        self._at += n_bytes
        need(values.dtype.kind != "b" or (values.view(np.uint8) <= 1).all(), "a truth value")
        return values.astype(self._dtype.newbyteorder("="))

    def finish(self) -> None:
        """Check that all has been taken; reading to the end also checks the zip's checksum."""
        need(self.left == 0 and not self._stream.read(1), "is too long")


class ArchiveReader:
    """Reads a file within its budget: first the text, then arrays as the text names them.

    Examples
    --------
    >>> columns, file = ColumnWriter(), io.BytesIO()
    >>> what = columns.put("code", np.eye(2))
    >>> write_archive(file, "{}", columns.joined())
    >>> reader = ArchiveReader(file)
    >>> reader.text(), reader.take("code", what)
    (b'{}', array([[1., 0.],
           [0., 1.]]))
    >>> reader.finish()
    """

    def __init__(self, file: BinaryIO):
        need(zipfile.is_zipfile(file), "it is not a complete zip archive")
        size = file.seek(0, os.SEEK_END)
        self.budget = Budget(size)
        self._archive = zipfile.ZipFile(file)
        members = self._archive.infolist()
        _check_members(members, size)
        self._members = {info.filename.removesuffix(".npy"): info for info in members}
        need(len(self._members) == len(members), "two members have one name")
        self._columns: dict[str, ColumnStream] = {}

    def text(self) -> bytes:
        """The JSON text."""
        info = self._members.pop(TEXT)
        self.budget.spend(info.file_size)  # before it is read
        with self._archive.open(info) as stream:
            data = stream.read(info.file_size)
            need(len(data) == info.file_size and not stream.read(1), f"{TEXT} is cut off")
        self.budget.spend(_text_cost(data) - len(data))
        return data

    def take(self, name: str, what: Any) -> np.ndarray:
        """The next array of this name, of the type and shape that the text mentions."""
        need(len(need_list(what, name)) > 0, f"{name} has no type")
        shape = [need_int(length, 0, 2**48, f"a length of {name}") for length in what[1:]]
        column = self._column(f"{name}.{what[0]}")
        need(column.name == what[0], f"{name} is of another type")
        n = math.prod(shape)
        need(n <= column.left, f"column {name} is too short")
        self.budget.spend(n * column.itemsize)
        return column.take(n).reshape(shape)

    def _column(self, key: str) -> ColumnStream:
        if key not in self._columns:
            need(key in self._members, f"there is no column {key}")
            self._columns[key] = ColumnStream(self._archive, self._members.pop(key))
        return self._columns[key]

    def finish(self) -> None:
        """Check that nothing is left."""
        left = sorted(self._members)
        need(not left, f"column {left[:1]} is too long: nothing mentions it")
        for name, column in self._columns.items():
            try:
                column.finish()
            except ModelFileError as error:
                raise ModelFileError(f"column {name} {error}") from error


def write_archive(
    file: BinaryIO, text: str, columns: dict[str, np.ndarray], more_bytes: int = 0
) -> None:
    """Write the text and the columns; equal contents give equal bytes.

    A reader has a budget that follows from the size of the file. Where a sound model compresses so
    well that it would exceed it, spaces after the text make up for that. ``more_bytes`` is what a
    reader spends on other things than the text and the columns.
    """
    need(text.isascii(), "the text of a file is ASCII")
    need(len(columns) < MAX_MEMBERS, "the model has too many different arrays for a file")
    spent = more_bytes + _text_cost(text.encode()) + sum(c.nbytes for c in columns.values())
    _write_members(file, text, columns, zipfile.ZIP_DEFLATED)
    missing = -(-(spent - SLACK) // (UNFOLD - 1)) - file.tell()
    if missing > 0:
        text += " " * missing
        file.seek(0)
        file.truncate()
        _write_members(file, text, columns, zipfile.ZIP_STORED)
    need(len(text) <= MAX_TEXT_BYTES, "the model is too long for a file")


def _write_members(
    file: BinaryIO, text: str, columns: dict[str, np.ndarray], compression: int
) -> None:
    """Write a zip; ``compression`` is that of the text, columns are always compressed."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(_member(TEXT), text.encode(), compression, compresslevel=1)
        for name, column in columns.items():
            stream = io.BytesIO()
            little = column.astype(column.dtype.newbyteorder("<"), copy=False)
            npy.write_array(stream, little, version=(1, 0), allow_pickle=False)
            data = stream.getvalue()
            archive.writestr(_member(f"{name}.npy"), data, zipfile.ZIP_DEFLATED, compresslevel=1)


def _member(name: str) -> zipfile.ZipInfo:
    """A member without the time of day."""
    info = zipfile.ZipInfo(name)
    info.external_attr = 0o644 << 16
    return info


def _text_cost(text: bytes) -> int:
    """Bytes of a budget that reading a text takes."""
    n_parts = text.count(b"[") + text.count(b"{") + text.count(b",")
    return len(text) + PART_BYTES * n_parts


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
        need(not stored or info.file_size == info.compress_size, f"{info.filename} is cut off")
        need(info.file_size <= UNFOLD * size + SLACK, f"{info.filename} decompresses to too much")
        need(info.filename != TEXT or info.file_size <= MAX_TEXT_BYTES, f"{TEXT} is too long")
