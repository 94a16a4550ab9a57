"""What our functions are compiled for: numba's target, with shorter ways for them.

By itself numba takes every array apart to call a function, and puts it together again inside. Here
an argument is one value to LLVM, be it a tuple of forty arrays.
"""

from copy import copy
from itertools import compress
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.callconv import RETCODE_OK, CPUCallConv
from numba.core.cpu import CPUContext
from numba.core.pythonapi import NativeValue, PythonAPI

MARK = "ByValue"  # in the names of our functions
_sizes: dict[str, int] = {}
_sure: set[str] = set()  # names of functions that cannot fail


class _Values:
    """Arguments as they are, one value each; has the methods of numba's ``ArgPacker``.

    Those that were left out are part of the function's type.
    """

    def __init__(self, models: Any, kinds: Any) -> None:
        self._given = [not isinstance(kind, types.Omitted) for kind in kinds]
        self.argument_types = tuple(
            models[kind].get_value_type() for kind in compress(kinds, self._given)
        )

    def as_arguments(self, builder: Any, values: Any) -> tuple:
        return tuple(compress(values, self._given))

    def from_arguments(self, builder: Any, args: Any) -> list:
        left = iter(args)
        return [next(left) if given else None for given in self._given]

    def assign_names(self, args: Any, names: Any) -> None:
        for arg, name in zip(args, compress(names, self._given), strict=True):
            arg.name = name


class _Calls(CPUCallConv):
    """How our functions are called."""

    def _get_arg_packer(self, argtypes: Any) -> Any:
        return _Values(self.context.data_model_manager, argtypes)

    def decode_arguments(self, builder: Any, argtypes: Any, func: Any) -> list:
        if MARK not in func.name:
            return CPUCallConv(self.context).decode_arguments(builder, argtypes, func)
        return super().decode_arguments(builder, argtypes, func)

    def call_function(self, builder: Any, callee: Any, *args: Any, **options: Any) -> tuple:
        if MARK not in callee.name:
            return CPUCallConv(self.context).call_function(builder, callee, *args, **options)
        return super().call_function(builder, callee, *args, **options)

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
        usual = copy(self)
        usual.__class__ = CPUContext
        return usual.declare_function(module, fndesc)

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
        out = cgutils.alloca_once(builder, callee.args[0].type.pointee)
        packer = self.call_conv._get_arg_packer(described.argtypes)
        values = packer.as_arguments(builder, args)
        builder.call(callee, [out, callee.args[1].type(None), *values])
        return self.get_returned_value(builder, described.restype, builder.load(out))


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
