"""What our functions are compiled for: numba's target, with shorter ways for them.

By itself numba takes every array apart to call a function, and puts it together again inside. Here
a function gets the place of an array, or of a tuple of forty of them, and reads what it needs.
"""

from copy import copy
from functools import wraps
from itertools import compress
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.callconv import RETCODE_OK, CPUCallConv
from numba.core.cpu import CPUContext
from numba.core.errors import NumbaError
from numba.core.imputils import user_function
from numba.core.pythonapi import NativeValue, PythonAPI

MARK = "ByPlace"  # in the names of our functions
_sizes: dict[str, int] = {}
_sure: set[str] = set()  # names of functions that cannot fail


def places_of(builder: Any) -> dict:
    """Where values are in memory that nobody writes to as long as the function runs."""
    return vars(builder).setdefault("places", {})


def has_parts(kind: Any) -> bool:
    """Whether a type of LLVM is an array or a tuple."""
    return isinstance(kind, ir.Aggregate)


def _place(builder: Any, value: Any) -> Any:
    if not has_parts(value.type):
        return value
    if value not in places_of(builder):
        with builder.goto_entry_block():
            place = builder.alloca(value.type)
        builder.store(value, place)
        return place
    return places_of(builder)[value]


class _Places:
    """Arguments, by their places if they have parts; has the methods of numba's ``ArgPacker``.

    Those that were left out are part of the function's type.
    """

    def __init__(self, models: Any, kinds: Any) -> None:
        self._given = [not isinstance(kind, types.Omitted) for kind in kinds]
        values = [models[kind].get_value_type() for kind in compress(kinds, self._given)]
        self._by_place = [has_parts(kind) for kind in values]
        self.argument_types = tuple(
            kind.as_pointer() if by_place else kind
            for kind, by_place in zip(values, self._by_place, strict=True)
        )

    def as_arguments(self, builder: Any, values: Any) -> tuple:
        return tuple(_place(builder, value) for value in compress(values, self._given))

    def from_arguments(self, builder: Any, args: Any) -> list:
        values = []
        for arg, by_place in zip(args, self._by_place, strict=True):
            values.append(builder.load(arg) if by_place else arg)
            if by_place:
                places_of(builder)[values[-1]] = arg
        left = iter(values)
        return [next(left) if given else None for given in self._given]

    def assign_names(self, args: Any, names: Any) -> None:
        for arg, name in zip(args, compress(names, self._given), strict=True):
            arg.name = name


class _Calls(CPUCallConv):
    """How our functions are called."""

    def _get_arg_packer(self, argtypes: Any) -> Any:
        return _Places(self.context.data_model_manager, argtypes)

    def decorate_function(self, fn: Any, args: Any, fe_argtypes: Any, noalias: bool = True) -> None:
        super().decorate_function(fn, args, fe_argtypes, noalias=True)

    def decode_arguments(self, builder: Any, argtypes: Any, func: Any) -> list:
        if MARK not in func.name:
            return CPUCallConv(self.context).decode_arguments(builder, argtypes, func)
        return super().decode_arguments(builder, argtypes, func)

    def call_function(self, builder: Any, callee: Any, *args: Any, **options: Any) -> tuple:
        if MARK not in callee.name:
            return CPUCallConv(self.context).call_function(builder, callee, *args, **options)
        return super().call_function(builder, callee, *args, **options)

    def return_value(self, builder: Any, retval: Any) -> None:
        """None is not written: callers do not look for it. (Nothing else of ours is an address.)"""
        if MARK in builder.function.name and retval.type == cgutils.voidptr_t:
            self._return_errcode_raw(builder, RETCODE_OK)
        else:
            super().return_value(builder, retval)

    def _return_errcode_raw(self, builder: Any, code: Any) -> None:
        if code is not RETCODE_OK:
            _sure.discard(builder.function.name)
        super()._return_errcode_raw(builder, code)


class Target(CPUContext):
    """The target of one function."""

    @property
    def call_conv(self) -> CPUCallConv:
        return _Calls(self)

    def get_python_api(self, builder: Any) -> PythonAPI:
        return _Arguments(self, builder)

    def get_abi_sizeof(self, kind: Any) -> int:
        """By itself numba has LLVM read a module of text for each use of an array."""
        name = str(kind)
        if name not in _sizes:
            _sizes[name] = super().get_abi_sizeof(kind)
        return _sizes[name]

    def declare_function(self, module: Any, fndesc: Any) -> Any:
        if MARK in fndesc.mangled_name:
            return super().declare_function(module, fndesc)
        usual: Any = copy(self)
        usual.__class__ = CPUContext
        return usual.declare_function(module, fndesc)

    def insert_user_function(self, func: Any, fndesc: Any, libs: Any = ()) -> None:
        """For functions of this target: others would call it in another way, and crash."""
        usual = user_function(fndesc, libs)

        @wraps(usual)
        def call(context: Any, *args: Any) -> Any:
            if MARK in fndesc.mangled_name and not isinstance(context, Target):
                raise NumbaError(f"{fndesc.qualname} can be called by Python and our kernels only")
            return usual(context, *args)

        self._defns[func].append(call, fndesc.argtypes)

    def begin(self, function: Any) -> None:
        """A function cannot fail until it is seen to."""
        _sure.add(function.name)

    def call_compiled(self, builder: Any, compiled: Any, args: Any) -> Any:
        """Call one of our functions; None if it can fail, and is to be called as numba does."""
        described = compiled.fndesc
        if described.mangled_name not in _sure or isinstance(described.restype, types.Optional):
            return None
        self.add_linking_libs([compiled.library])
        callee = self.declare_function(builder.module, described)
        values = _Places(self.data_model_manager, described.argtypes).as_arguments(builder, args)
        out, nowhere = (arg.type(None) for arg in callee.args[:2])
        if described.restype != types.none:
            with builder.goto_entry_block():
                out = builder.alloca(out.type.pointee)
        builder.call(callee, [out, nowhere, *values])
        if described.restype == types.none:
            return self.get_dummy_value()
        return self.get_returned_value(builder, described.restype, builder.load(out))


class _Arguments(PythonAPI):
    """Unpacks what Python calls a kernel with, in a quarter of the code.

    There is one function per kind of array, and all is written to where the kernel reads it.
    """

    def to_native_value(self, typ: Any, obj: Any) -> NativeValue:
        if not isinstance(typ, types.BaseTuple | types.Array):
            return super().to_native_value(typ, obj)
        with self.builder.goto_entry_block():
            place = self.builder.alloca(self.context.get_value_type(typ))
        failed = self._write(typ, obj, place)
        value = self.builder.load(place)
        places_of(self.builder)[value] = place
        return NativeValue(value, is_error=failed)

    def _write(self, typ: Any, obj: Any, place: Any) -> Any:
        """Write a value to its place; whether that failed."""
        if isinstance(typ, types.Array):
            return self.builder.call(self._open(typ, obj.type), [obj, place])
        if not isinstance(typ, types.BaseTuple):
            native = super().to_native_value(typ, obj)
            self.builder.store(native.value, place)
            return native.is_error
        failed = cgutils.false_bit  # its length is part of its type, by which the kernel was chosen
        kinds: Any = typ
        for k, kind in enumerate(kinds):
            part = cgutils.gep_inbounds(self.builder, place, 0, k)
            bad = self._write(kind, self.tuple_getitem(obj, k), part)
            failed = self.builder.or_(failed, bad)
        return failed

    def _open(self, typ: Any, of: Any) -> Any:
        """The function that reads an array."""
        kind, name = self.context.get_value_type(typ), f"open {typ}"
        function = self.module.globals.get(name)
        if function is None:
            taken = ir.FunctionType(ir.IntType(1), [of, kind.as_pointer()])
            function = ir.Function(self.module, taken, name=name)
            function.linkage = "internal"
            inside = ir.IRBuilder(function.append_basic_block())
            native = PythonAPI(self.context, inside).to_native_value(typ, function.args[0])
            inside.store(native.value, function.args[1])
            inside.ret(native.is_error)
        return function
