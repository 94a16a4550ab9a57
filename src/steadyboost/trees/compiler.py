"""numba's compiler, less what takes time and changes nothing.

By itself numba optimises a function that others call as a whole and translates it, then does both
again for each of its callers, and for theirs. Here this is done once, for the kernel that Python
calls.
"""

import gc
from typing import Any

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder, Flags
from numba.core.compiler_machinery import PassManager, register_pass
from numba.core.typed_passes import (
    InlineOverloads,
    IRLegalization,
    NativeLowering,
    NopythonRewrites,
    PreLowerStripPhis,
)
from numba.core.untyped_passes import InlineClosureLikes, InlineInlinables, LiteralUnroll

from steadyboost.trees.lowering import ShortLower
from steadyboost.trees.shortcuts import shortcuts
from steadyboost.trees.target import MARK, Target

# What these look for is not in functions that allocate nothing, or is as good without them. (The
# last but one says where variables are no longer used, which matters to counts of references.)
LEFT_OUT = (
    InlineClosureLikes,
    InlineInlinables,
    InlineOverloads,
    LiteralUnroll,
    IRLegalization,
    NopythonRewrites,
)


class _Library(JITCodeLibrary):
    """The code of a function."""

    def _optimize_functions(self, module: Any) -> None:
        """As part of the whole."""
        module.data_layout = self._codegen._data_layout


class _Whole(_Library):
    """The code of a function that Python calls.

    What unpacks its arguments is not optimised: that is long where they are many, and runs once.
    """

    def add_ir_module(self, module: Any) -> None:
        if module.name == "wrapper":
            for function in module.functions:
                if not function.is_declaration:
                    function.attributes.add("noinline")
                    function.attributes.add("optnone")
        super().add_ir_module(module)


class _Part(_Library):
    """The code of a function that is called by compiled code only."""

    def finalize(self) -> None:
        for function in self._final_module.functions:
            if not function.is_declaration:
                function.linkage = "linkonce_odr"  # several callers may bring it along
        self._finalize_dynamic_globals()
        self._finalized = True

    def _called(self, found: dict[JITCodeLibrary, None]) -> dict[JITCodeLibrary, None]:
        """Add all that this one needs, over any number of calls, what is called before callers."""
        for library in self._linking_libraries:
            if library not in found:
                if isinstance(library, _Part):
                    library._called(found)
                found[library] = None
        return found

    def _get_module_for_linking(self) -> Any:
        self._ensure_finalized()
        if self._shared_module is None:
            whole = self._final_module.clone()
            for library in reversed(self._called({})):  # what nobody calls yet is not taken over
                part = isinstance(library, _Part)
                own = library._final_module if part else library._get_module_for_linking()
                whole.link_in(own, preserve=True)
            self._shared_module = whole
        return self._shared_module

    def get_pointer_to_function(self, name: str) -> int:
        """None: it is part of its callers."""
        self._ensure_finalized()
        return 0

    @property
    def codegen(self) -> Any:
        return self

    def set_env(self, name: str, environment: Any) -> None:
        """Nothing to set: what has no address cannot be called by Python."""


_FLAGS, _FLAG_NAMES = Flags().values(), hash(Flags())


class QuickFlags(Flags):
    """Flags that compare fast: numba does so for each definition of an operator that it tries.

    By itself it reads all options one by one to compare them, and to hash their names.
    """

    def __hash__(self) -> int:
        return _FLAG_NAMES

    def __eq__(self, other: object) -> bool:
        return self is other or super().__eq__(other)

    def values(self) -> dict[str, Any]:
        return _FLAGS | self._values

    def get_mangle_string(self) -> str:
        return MARK + super().get_mangle_string()


@register_pass(mutates_CFG=True, analysis_only=False)
class _ShortPhis(PreLowerStripPhis):
    """Without a list of where variables are no longer used."""

    _name = "short_phis"

    def run_pass(self, state: Any) -> bool:
        state.func_ir = self._strip_phi_nodes(state.func_ir)
        return True


@register_pass(mutates_CFG=True, analysis_only=False)
class _ShortLowering(NativeLowering):
    _name = "short_lowering"
    lowering_class = ShortLower


SHORTER = {NativeLowering: _ShortLowering, PreLowerStripPhis: _ShortPhis}


class KernelCompiler(CompilerBase):
    """Compiles what Python calls.

    Garbage is not collected meanwhile: there is little, and numba's structures are large, so that
    looking for it takes a tenth of the time.
    """

    library: type[JITCodeLibrary] = _Whole

    def define_pipelines(self) -> list[Any]:
        state = self.state
        state.library = self.library(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        usual = DefaultPassBuilder.define_nopython_pipeline(state)
        if state.flags.nrt:
            return [usual]
        passes = PassManager("short")
        for one, why in usual.passes:
            if one not in LEFT_OUT:
                passes.add_pass(SHORTER.get(one, one), why)
        passes.finalize()
        return [passes]

    def _compile_core(self) -> Any:
        self.state.flags = QuickFlags(self.state.flags)
        self.state.targetctx.__class__ = Target
        collecting = gc.isenabled()
        gc.disable()
        try:
            with shortcuts(self.state.typingctx):
                return super()._compile_core()
        finally:
            if collecting:
                gc.enable()


class PartCompiler(KernelCompiler):
    """Compiles what other compiled code calls."""

    library = _Part
