"""Compiled kernels on disk, and a shorter way back than numba's.

By itself numba gets ready to compile before it loads what is compiled already: it fills its tables
of operators, and compiles a runtime of its own by LLVM. A process that only loads kernels would pay
40 MB and most of the time of its first fit for that, and use none of it.
"""

from functools import cache
from pathlib import Path
from typing import Any

from llvmlite import binding
from numba.core.caching import CompileResultCacheImpl, FunctionCache
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompileResult, compile_result
from numba.core.runtime import _nrt_python  # type: ignore[attr-defined]


class _Loaded(JITCodeLibrary):
    """Machine code, beside what other functions are linked with: that is read when one is."""

    def __init__(self, codegen: Any, name: str, machine_code: bytes, bitcode: bytes) -> None:
        super().__init__(codegen, name)
        self._bitcode = bitcode
        codegen._engine._ee.add_object_file(binding.ObjectFileRef.from_data(machine_code))
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        return self._codegen._engine.get_function_address(name)

    def _get_module_for_linking(self) -> Any:
        if self._shared_module is None:
            self._shared_module = binding.parse_bitcode(self._bitcode)
        return self._shared_module


class _Kept(CompileResultCacheImpl):
    """How a kernel is read; it is written as numba does."""

    def rebuild(self, target_context: Any, payload: tuple) -> CompileResult:
        (name, _, code), described, environment, signature, *rest = payload
        object_mode, lifted, annotation, init, environments = rest
        for function in init:
            function()
        library = _Loaded(target_context.codegen(), name, *code)
        entry = target_context.get_executable(library, described, environment)
        for other in environments:
            library.codegen.set_env(other.env_name, other)
        return compile_result(
            typing_context=target_context.typing_context,
            target_context=target_context,
            entry_point=entry,
            type_annotation=annotation,
            signature=signature,
            objectmode=object_mode,
            lifted=lifted,
            fndesc=described,
            library=library,
            environment=environment,
            reload_init=init,
            referenced_envs=environments,
        )


@cache
def _name_runtime() -> None:
    """Tell LLVM where numba's runtime is, which kernels call by name."""
    for name, address in _nrt_python.c_helpers.items():
        binding.add_symbol(name if name.startswith("_") else f"NRT_{name}", address)


@cache
def _stamps() -> tuple:
    """When the functions of this folder, which are parts of all kernels, were last changed."""
    files = sorted(Path(__file__).parent.glob("*.py"))
    return tuple((path.name, path.stat().st_mtime_ns, path.stat().st_size) for path in files)


class KernelCache(FunctionCache):
    """The kernels that were made of one function, while it and this folder are the same."""

    _impl_class = _Kept

    def __init__(self, function: Any) -> None:
        super().__init__(function)
        self._cache_file._source_stamp = self._cache_file._source_stamp, _stamps()

    def load_overload(self, sig: Any, target_context: Any) -> CompileResult | None:
        _name_runtime()
        with self._guard_against_spurious_io_errors():
            return self._load_overload(sig, target_context)
        return None
