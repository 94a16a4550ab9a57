"""Writes LLVM's code for functions whose arguments are given by their places."""

from contextlib import nullcontext
from typing import Any

from llvmlite import ir
from llvmlite.ir.instructions import InsertValue
from numba.core import cgutils

from steadyboost.trees.target import has_parts, places_of


class Builder(ir.IRBuilder):
    """Takes parts of a value that was put together from where they were before."""

    def __init__(self, block: Any) -> None:
        super().__init__(block)
        self._taken: dict[tuple, Any] = {}

    def leave_out_unused(self) -> None:
        """Do not read what is only passed on, by its place."""
        unused = {id(value) for value in places_of(self)}
        for block in self.function.blocks:
            for one in block.instructions:
                unused.difference_update(map(id, one.operands))
                unused.difference_update(id(value) for value, _ in getattr(one, "incomings", ()))
        early = self.function.entry_basic_block.instructions
        early[:] = [one for one in early if id(one) not in unused]

    def extract_value(self, agg: Any, idx: Any, name: str = "") -> Any:
        path = tuple(idx) if isinstance(idx, tuple | list) else (idx,)
        while isinstance(agg, InsertValue):
            put = tuple(agg.indices)
            if put == path[: len(put)]:
                rest = path[len(put) :]
                return self.extract_value(agg.value, rest) if rest else agg.value
            if path == put[: len(path)]:
                break
            agg = agg.aggregate
        if isinstance(agg, ir.Constant) and isinstance(agg.constant, list | tuple):
            part = agg.constant[path[0]]
            return self.extract_value(part, path[1:]) if path[1:] else part
        return self._take(agg, path)

    def _take(self, agg: Any, path: tuple) -> Any:
        """Once, for all that comes later, where the value is known from the start."""
        entry, place = self.function.entry_basic_block, places_of(self).get(agg)
        early = place is not None or getattr(agg, "parent", None) is entry
        key = agg, path, None if early else self.block
        if key not in self._taken:
            with self.goto_block(entry) if early else nullcontext():
                if place is None:
                    self._taken[key] = super().extract_value(agg, path)
                else:
                    self._taken[key] = self._read(cgutils.gep_inbounds(self, place, 0, *path))
        return self._taken[key]

    def _read(self, place: Any) -> Any:
        value = self.load(place)
        if has_parts(value.type):
            places_of(self)[value] = place
        return value
