"""How functions without counts of references become LLVM's code: in less than half of numba's.

By itself numba keeps variables in memory, tests after each call whether it failed, and writes
arrays and ranges to memory to read their parts. LLVM finds out that none of that is needed, which
takes most of the time of a first fit.
"""

import sys
from collections import Counter, defaultdict
from typing import Any

from llvmlite import ir as llvm
from numba.core import cgutils, ir, types
from numba.core.analysis import compute_cfg_from_blocks, compute_use_defs
from numba.core.lowering import Lower

from steadyboost.trees.builder import Builder
from steadyboost.trees.shortcuts import is_plain

N_ITEMS, ITEM_SIZE, DATA, SHAPE, STRIDES = range(2, 7)  # parts of an array
_NUMBER = llvm.IntType(64)
_ZERO, _ONE, _END = _NUMBER(0), _NUMBER(1), _NUMBER(sys.maxsize)


def _parts_of(kind: Any) -> tuple:
    """The types of what is in a tuple; nothing if it is none."""
    return getattr(kind, "types", ()) if isinstance(kind, types.BaseTuple) else ()


class ShortLower(Lower):
    """Writes a function that counts no references."""

    def setup_function(self, fndesc: Any) -> None:
        super().setup_function(fndesc)
        self.builder = Builder(self.entry_block)
        self.call_helper = self.call_conv.init_call_helper(self.builder)
        self.context.begin(self.function)

    def post_lower(self) -> None:
        super().post_lower()
        self.builder.leave_out_unused()

    def pre_block(self, block: Any) -> None:
        """Nothing: there are no exceptions to be caught."""
        self._cur_ir_block = block

    def _find_singly_assigned_variable(self) -> None:
        """Variables that have one value wherever they are used need no memory."""
        used, where = defaultdict(set), {}
        times: Counter[str] = Counter()
        for label, block in self.blocks.items():
            for one in block.find_insts(ir.Assign):
                times[one.target.name] += 1
                where[one.target.name] = label
        for label, names in compute_use_defs(self.blocks).usemap.items():
            for name in names:
                used[name].add(label)
        above = compute_cfg_from_blocks(self.blocks).dominators()
        self._singly_assigned_vars = {
            name
            for name, label in where.items()
            if times[name] == 1 and all(label < at and label in above[at] for at in used[name])
        }
        self._blk_local_varmap: dict[str, Any] = {}

    def storevar(self, value: Any, name: str, argidx: int | None = None) -> None:
        if name in self._singly_assigned_vars:
            self._blk_local_varmap[name] = value
        else:
            self.builder.store(value, self.getvar(name))

    def delvar(self, name: str) -> None:
        """Nothing: there is no count to lower."""

    def lower_inst(self, inst: Any) -> None:
        if isinstance(inst, ir.StaticSetItem) and self._is_array(inst.target):
            known = self.fndesc.calltypes[inst]
            self.lower_setitem(inst.target, inst.index_var, inst.value, known)
        else:
            super().lower_inst(inst)

    def lower_assign(self, ty: Any, inst: Any) -> Any:
        if isinstance(ty, types.Dispatcher):  # is called by its type
            return self.context.get_constant_null(ty)
        return super().lower_assign(ty, inst)

    def lower_expr(self, resty: Any, expr: Any) -> Any:
        if expr.op == "static_getitem":
            kinds = _parts_of(self.typeof(expr.value.name))
            if kinds and isinstance(expr.index, int):
                at = expr.index % len(kinds)
                part = self.builder.extract_value(self.loadvar(expr.value.name), at)
                return self.context.cast(self.builder, part, kinds[at], resty)
            if self._is_array(expr.value) and expr.index_var is not None:
                known = self.fndesc.calltypes[expr]
                return self.lower_getitem(resty, expr, expr.value, expr.index_var, known)
        if expr.op in ("pair_first", "pair_second"):
            pair = self.loadvar(expr.value.name)
            return self.builder.extract_value(pair, int(expr.op == "pair_second"))
        if expr.op in _LOOPS and self.typeof(expr.value.name) == _LOOPS[expr.op]:
            value = self.loadvar(expr.value.name)
            return self._begin_loop(value) if expr.op == "getiter" else self._go_on(value)
        return super().lower_expr(resty, expr)

    def lower_binop(self, resty: Any, expr: Any, op: Any) -> Any:
        """Without a look for definitions that are for constants, which these have not."""
        known, sides = self.fndesc.calltypes[expr], (expr.lhs, expr.rhs)
        if not is_plain(op, known.args):
            return super().lower_binop(resty, expr, op)
        args = [self._cast_var(one, kind) for one, kind in zip(sides, known.args, strict=True)]
        typing = self.context.typing_context
        function = typing.resolve_value_type(op)
        chosen = typing.resolve_function_type(function, known.args, {})
        value = self.context.get_function(function, chosen)(self.builder, args)
        return self.context.cast(self.builder, value, known.return_type, resty)

    def _begin_loop(self, numbers: Any) -> Any:
        """The iterator of a range: where its next number is, its end and step."""
        start, stop, step = (self.builder.extract_value(numbers, k) for k in range(3))
        place = cgutils.alloca_once(self.builder, start.type)
        self.builder.store(start, place)
        whole = self.context.get_value_type(types.range_iter64_type)
        return self._put_together(whole(None), {(0,): place, (1,): stop, (2,): step})

    def _go_on(self, loop: Any) -> Any:
        """The next number, and whether there is one."""
        place, stop, step = (self.builder.extract_value(loop, k) for k in range(3))
        number = self.builder.load(place)
        self.builder.store(self.builder.add(number, step), place)
        more = self.builder.icmp_signed("<", number, stop)
        if not isinstance(step, llvm.Constant) or step.constant < 0:
            down = self.builder.icmp_signed("<", step, _ZERO)
            less = self.builder.icmp_signed(">", number, stop)
            more = self.builder.select(down, less, more)
        return cgutils.make_anonymous_struct(self.builder, [number, more])

    def _put_together(self, whole: Any, parts: dict[tuple, Any]) -> Any:
        for path, part in parts.items():
            whole = self.builder.insert_value(whole, part, path)
        return whole

    def _lower_call_normal(self, fnty: Any, expr: Any, signature: Any) -> Any:
        made = None
        if isinstance(fnty, types.Dispatcher):
            compiled = fnty.dispatcher.overloads.get(signature.args)
            if compiled is not None:
                given = expr.args, expr.vararg, expr.kws
                args = self.fold_call_args(fnty, signature, *given)
                made = self.context.call_compiled(self.builder, compiled, args)
        elif signature.return_type in (types.range_state64_type, types.slice2_type):
            made = self._number_range(expr, signature)
        return super()._lower_call_normal(fnty, expr, signature) if made is None else made

    def _number_range(self, expr: Any, signature: Any) -> Any:
        """A range or a slice: its start, stop and step."""
        values = [
            None if kind is types.none else self._cast_var(arg, types.int64)
            for arg, kind in zip(expr.args, signature.args, strict=True)
        ]
        if len(values) == 1:
            values.insert(0, None)
        parts = [
            default if value is None else value
            for value, default in zip([*values, None][:3], (_ZERO, _END, _ONE), strict=True)
        ]
        return cgutils.make_anonymous_struct(self.builder, parts)

    def _is_array(self, variable: Any) -> bool:
        return type(self.typeof(variable.name)) is types.Array

    def lower_getitem(self, resty: Any, expr: Any, value: Any, index: Any, signature: Any) -> Any:
        kind, found = self.typeof(value.name), self._find(value, index)
        if found is None:
            return super().lower_getitem(resty, expr, value, index, signature)
        if isinstance(resty, types.Array):
            return self._view(resty, *found)
        item = self.context.unpack_value(self.builder, kind.dtype, found[0])
        return self.context.cast(self.builder, item, kind.dtype, resty)

    def lower_setitem(self, target_var: Any, index_var: Any, value_var: Any, signature: Any) -> Any:
        kind, found = self.typeof(target_var.name), self._find(target_var, index_var)
        if found is None or found[1]:
            return super().lower_setitem(target_var, index_var, value_var, signature)
        value, given = self._cast_var(value_var, signature.args[2]), signature.args[2]
        value = self.context.cast(self.builder, value, given, kind.dtype)
        return self.context.pack_value(self.builder, kind.dtype, value, found[0])

    def _find(self, array_var: Any, index_var: Any) -> tuple[Any, list] | None:
        """Where an item of an array is, or a part of it, and the shape of that.

        None if that takes more than numbers, or a slice of the rows.
        """
        kind, taken = self.typeof(array_var.name), self.typeof(index_var.name)
        kinds = _parts_of(taken) or (taken,)
        simple = type(kind) is types.Array and kind.layout == "C" and kind.aligned
        if not simple or not isinstance(kind.dtype, types.Number | types.Boolean):
            return None
        by_slice = kinds == (types.slice2_type,)
        if not by_slice and not all(isinstance(one, types.Integer) for one in kinds):
            return None
        array, index = self.loadvar(array_var.name), self.loadvar(index_var.name)
        shape = [self.builder.extract_value(array, (SHAPE, k)) for k in range(kind.ndim)]
        rest = shape[len(kinds) :]
        if by_slice:
            offset, length = self._cut(index, shape[0])
            left = [length, *rest]
        else:
            numbers = [index]
            if _parts_of(taken):
                numbers = [self.builder.extract_value(index, k) for k in range(len(kinds))]
            offset, left = self._count(numbers, kinds, shape), rest
        for size in rest:
            offset = self.builder.mul(offset, size)
        return self.builder.gep(self.builder.extract_value(array, DATA), [offset]), left

    def _count(self, numbers: list, kinds: tuple, shape: list) -> Any:
        """How many items, or rows, are before one."""
        count = None
        for number, kind, size in zip(numbers, kinds, shape, strict=False):
            at = self._at(number, kind, size)
            count = at if count is None else self.builder.add(self.builder.mul(count, size), at)
        return count

    def _at(self, number: Any, kind: Any, size: Any) -> Any:
        """A place, from the end if it is negative."""
        wide = self.context.cast(
            self.builder, number, kind, types.intp if kind.signed else types.uintp
        )
        if not kind.signed or (isinstance(wide, llvm.Constant) and wide.constant >= 0):
            return wide
        low = self.builder.icmp_signed("<", wide, _ZERO)
        return self.builder.select(low, self.builder.add(wide, size), wide)

    def _cut(self, numbers: Any, size: Any) -> tuple[Any, Any]:
        """Where a slice begins, and its length."""
        start, stop = (self.builder.extract_value(numbers, k) for k in range(2))
        start = start if start is _ZERO else self._bound(start, size)
        stop = size if stop is _END else self._bound(stop, size)
        if start is _ZERO:
            return start, stop
        length = self.builder.sub(stop, start)
        none = self.builder.icmp_signed("<", length, _ZERO)
        return start, self.builder.select(none, _ZERO, length)

    def _bound(self, number: Any, size: Any) -> Any:
        builder = self.builder
        number = self._at(number, types.int64, size)
        if not isinstance(number, llvm.Constant):
            number = builder.select(builder.icmp_signed("<", number, _ZERO), _ZERO, number)
        return builder.select(builder.icmp_signed(">", number, size), size, number)

    def _view(self, kind: Any, data: Any, shape: list) -> Any:
        """An array of others' items."""
        whole = self.context.get_value_type(kind)
        n_items = shape[-1]
        strides = [_NUMBER(self.context.get_abi_sizeof(data.type.pointee))]
        for size in reversed(shape[:-1]):
            strides.insert(0, self.builder.mul(n_items, strides[-1]))
            n_items = self.builder.mul(n_items, size)
        parts: dict[tuple, Any] = {(N_ITEMS,): n_items, (ITEM_SIZE,): strides[-1], (DATA,): data}
        parts |= {(SHAPE, k): size for k, size in enumerate(shape)}
        parts |= {(STRIDES, k): stride for k, stride in enumerate(strides)}
        return self._put_together(whole(None), parts)


_LOOPS = {"getiter": types.range_state64_type, "iternext": types.range_iter64_type}
