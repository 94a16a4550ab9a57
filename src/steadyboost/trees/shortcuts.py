"""Shorter ways through numba's compiler, taken while a kernel is compiled: the code is the same.

By itself numba looks things up for each use that it has found before, and writes much that LLVM has
to read and throw away again.
"""

import operator
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.pythonapi import NativeValue, PythonAPI

# These are defined for numbers by tables alone: no definition is compiled when one is chosen.
_NAMES = ("add", "sub", "mul", "lshift", "rshift", "and_", "or_", "iadd", "isub", "imul", "ior")
_COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")
_OPERATORS = frozenset(getattr(operator, name) for name in (*_NAMES, *_COMPARISONS))
_chosen: dict[tuple, tuple] = {}
_sizes: dict[str, int] = {}


def choosing_once(usual: Callable) -> Callable:
    """Choose the definition of an operator on some types of numbers once.

    By itself numba does so for each use, and writes down why each of the others does not fit.
    """

    def resolve(function: Any, args: tuple, kws: dict) -> Any:
        numbers = all(isinstance(arg, types.Number | types.Boolean) for arg in args)
        if not numbers or getattr(function, "typing_key", None) not in _OPERATORS:
            return usual(function, args, kws)
        key = id(function), args
        if key not in _chosen:
            _chosen[key] = function, usual(function, args, kws)  # while it is kept, so is its id
        return _chosen[key][1]

    return resolve


class _Arguments(PythonAPI):
    """Unpacks what Python calls a kernel with, in less than half of the code.

    There is one function per kind of array, and tuples are never written to memory as a whole.
    """

    def to_native_value(self, typ: Any, obj: Any) -> NativeValue:
        if isinstance(typ, types.BaseTuple):
            return self._unpack(typ, obj)
        if isinstance(typ, types.Array):
            return self._open(typ, obj)
        return super().to_native_value(typ, obj)

    def _unpack(self, typ: Any, obj: Any) -> NativeValue:
        """The parts of a tuple; its length is part of its type, by which the kernel was chosen."""
        parts = [
            self.to_native_value(kind, self.tuple_getitem(obj, k)) for k, kind in enumerate(typ)
        ]
        failed = cgutils.false_bit
        for part in parts:
            failed = self.builder.or_(failed, part.is_error)
        value = self.context.make_tuple(self.builder, typ, [part.value for part in parts])
        return NativeValue(value, is_error=failed)

    def _open(self, typ: Any, obj: Any) -> NativeValue:
        kind, name = self.context.get_value_type(typ), f"open {typ}"
        function = self.module.globals.get(name)
        if function is None:
            taken = ir.FunctionType(ir.IntType(1), [obj.type, kind.as_pointer()])
            function = ir.Function(self.module, taken, name=name)
            function.linkage = "internal"
            inside = ir.IRBuilder(function.append_basic_block())
            native = PythonAPI(self.context, inside).to_native_value(typ, function.args[0])
            inside.store(native.value, function.args[1])
            inside.ret(native.is_error)
        out = cgutils.alloca_once(self.builder, kind)
        failed = self.builder.call(function, [obj, out])
        return NativeValue(self.builder.load(out), is_error=failed)


def _begin_loop(builder: Any, args: tuple, loc: Any = None) -> Any:
    """The iterator of a range: its next number, end, step and how many are left, if positive.

    No step is zero: numba would look for one at each loop, and have an exception ready.
    """
    start, stop, step = (builder.extract_value(args[0], k) for k in range(3))
    one = ir.Constant(start.type, 1)
    down = builder.icmp_signed("<", step, ir.Constant(start.type, 0))
    last = builder.add(builder.sub(stop, start), builder.select(down, one, one.type(-1)))
    count = builder.sdiv(builder.add(last, step), step)
    places = [cgutils.alloca_once_value(builder, value) for value in (start, count)]
    return cgutils.make_anonymous_struct(builder, [places[0], stop, step, places[1]])


def _go_on_with_loop(builder: Any, args: tuple, loc: Any = None) -> Any:
    """The next number, and whether there is one; after the last one nobody looks any more."""
    place, _, step, left = (builder.extract_value(args[0], k) for k in range(4))
    number, count = builder.load(place), builder.load(left)
    builder.store(builder.add(number, step), place)
    builder.store(builder.sub(count, ir.Constant(count.type, 1), flags=["nsw"]), left)
    more = builder.icmp_signed(">", count, ir.Constant(count.type, 0))
    return cgutils.make_anonymous_struct(builder, [number, more])


_LOOPS = {
    ("getiter", types.range_state64_type): _begin_loop,
    ("iternext", types.range_iter64_type): _go_on_with_loop,
}


def shorten(target: Any) -> None:
    """Have a target take shorter ways: each function that is compiled has one of its own.

    By itself numba asks LLVM for the size of a type for each use of an array, and LLVM reads a
    module of text each time.
    """
    measure, find = target.get_abi_sizeof, target.get_function

    def size_of(kind: Any) -> int:
        name = str(kind)
        if name not in _sizes:
            _sizes[name] = measure(kind)
        return _sizes[name]

    def function_of(key: Any, signature: Any, *more: Any, **options: Any) -> Any:
        loop = _LOOPS.get((key, *signature.args)) if isinstance(key, str) else None
        return loop or find(key, signature, *more, **options)

    target.get_abi_sizeof, target.get_function = size_of, function_of
    target.get_python_api = partial(_Arguments, target)


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
    ):
        yield
