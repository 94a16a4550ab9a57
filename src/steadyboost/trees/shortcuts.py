"""Shorter ways through numba's compiler, taken while a kernel is compiled: the code is the same.

By itself numba looks things up for each use that it has found before, and writes much that LLVM has
to read and throw away again.
"""

import operator
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from numba.core import cgutils, errors, interpreter, ir, types

# These are defined for numbers by tables alone: no definition is compiled when one is chosen.
_NAMES = ("add", "sub", "mul", "lshift", "rshift", "and_", "or_", "iadd", "isub", "imul", "ior")
_COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")
_OPERATORS = frozenset(getattr(operator, name) for name in (*_NAMES, *_COMPARISONS)) | {bool}
_OF_ARRAYS = frozenset((operator.getitem, len))
_INDICES = types.Array | types.Integer | types.SliceType | types.BaseTuple
_WITHOUT_VARIABLES = frozenset((str, int, float, bool, type(None), ir.Loc))
_chosen: dict[tuple, tuple] = {}


def is_plain(function: Any, args: tuple) -> bool:
    """Whether a function of numbers is defined by a table."""
    numbers = all(isinstance(arg, types.Number | types.Boolean) for arg in args)
    return numbers and function in _OPERATORS


def choosing_once(usual: Callable) -> Callable:
    """Choose the definition of an operator on some types of numbers or arrays once.

    By itself numba does so for each use, and writes down why each of the others does not fit.
    """

    def resolve(function: Any, args: tuple, kws: dict) -> Any:
        name = getattr(function, "typing_key", function)
        of_arrays = name in _OF_ARRAYS and all(isinstance(arg, _INDICES) for arg in args)
        if not of_arrays and not is_plain(name, args):
            return usual(function, args, kws)
        key = id(function), args
        if key not in _chosen:
            _chosen[key] = function, usual(function, args, kws)  # while it is kept, so is its id
        return _chosen[key][1]

    return resolve


def listing_variables(usual: Callable) -> Callable:
    """List the variables of a statement, past what has none.

    numba does so for each statement half a dozen times, by a call for each part of each part.
    """

    def list_all(self: Any, value: Any) -> list:
        if isinstance(value, dict):
            value = value.values()
        elif not isinstance(value, list | tuple):
            return usual(self, value)
        found = []
        for part in value:
            kind = type(part)
            if kind is ir.Var:
                found.append(part)
            elif kind not in _WITHOUT_VARIABLES:
                found += part.list_vars() if kind is ir.Expr else list_all(self, part)
        return found

    return list_all


def reading_values(usual: Callable) -> Callable:
    """Take the parts of an array from its value.

    By itself numba writes the value to memory for each use, and reads the parts from there.
    """
    known: dict[types.Type, Callable] = {}

    def make_array(typ: Any) -> Callable:
        if typ not in known:
            known[typ] = _reader(typ, usual(typ)) if type(typ) is types.Array else usual(typ)
        return known[typ]

    return make_array


def _reader(typ: types.Array, writable: Any) -> Callable:
    class Read(cgutils.create_struct_proxy(typ)):  # type: ignore[misc]
        def __init__(self, context: Any, builder: Any, value: Any) -> None:
            self._context, self._builder, self._whole = context, builder, value
            self._datamodel = context.data_model_manager[typ]

        def __getattr__(self, name: str) -> Any:
            if name in ("_value", "_outer_ref"):  # it is to have an address, after all
                self._value = cgutils.alloca_once_value(self._builder, self._whole)
                self._outer_ref = self._value
                return self._value
            return super().__getattr__(name)

        def __getitem__(self, index: int) -> Any:
            if "_value" in vars(self):
                return super().__getitem__(index)
            return self._builder.extract_value(self._whole, index)

    def make(context: Any, builder: Any, value: Any = None, ref: Any = None) -> Any:
        if value is None:
            return writable(context, builder, ref=ref)
        return Read(context, builder, value)

    return make


class _NoColours:
    """Of the errors that numba makes and drops while it looks for definitions."""

    def __getattr__(self, name: str) -> Callable:
        return lambda text: text


@contextmanager
def _replaced(owner: Any, name: str, make: Callable) -> Iterator[None]:
    before = vars(owner).get(name)
    setattr(owner, name, make(getattr(owner, name)))
    try:
        yield
    finally:
        if before is None:
            delattr(owner, name)
        else:
            setattr(owner, name, before)


@contextmanager
def shortcuts(typing: Any) -> Iterator[None]:
    """Take shorter ways while a kernel and its parts are compiled."""
    if "resolve_function_type" in vars(typing):  # a part
        yield
        return
    from numba.np import arrayobj  # a process that compiles nothing has no need of it

    with (
        _replaced(typing, "resolve_function_type", choosing_once),
        _replaced(arrayobj, "make_array", reading_values),
        _replaced(ir.Inst, "_rec_list_vars", listing_variables),
        _replaced(interpreter, "peep_hole_delete_with_exit", lambda usual: lambda code: code),
        _replaced(errors, "_termcolor_inst", lambda usual: _NoColours()),
    ):
        yield
