"""Threads that stay in compiled code and share its loops.

Waking a thread takes a tenth of a millisecond, and so does handing over the interpreter's lock; a
round of boosting is a few milliseconds, with a dozen loops that threads can share. So they are not
called for each of them: while a fit goes on they look at a ``board`` for what there is to do, and
never need the interpreter. Whoever has a loop to share, the leader, writes it on the board and
takes part in it. No thread counts on another: tasks are taken one by one, and the leader waits for
those only that were taken. Each thread begins with tasks of its own, the same ones from loop to
loop, as what it has read or written last is nearest to it.
"""

import platform
import sys
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from steadyboost.trees.jit import plain, standing
from steadyboost.trees.target import places_of

LINE = 8  # numbers in a line of the cache

# Places on a board, and behind them a ticket for each thread: the number of the loop, and in its
# lower half how many of the thread's tasks are left. Whoever takes one can only take it from the
# loop that is described.
DONE, CALL, LOOP = 0, LINE, 2 * LINE
ENTRY, ARGUMENTS, N_TASKS, N_THREADS = range(LOOP, LOOP + 4)
TICKETS = 3 * LINE

LEFT = 0xFFFFFFFF
LOOKS = 64  # in vain, after which another thread may have the processor
TIRED = 200_000  # looks in vain, some milliseconds, after which a thread sleeps between them
NAP = 50  # microseconds

_NUMBER = ir.IntType(64)


class Crew:
    """A board, and how many threads look at it, the one that leads among them."""

    def __init__(self, n_threads: int) -> None:
        self.n_threads = n_threads
        self.board = np.zeros(TICKETS + n_threads * LINE, dtype=np.int64)
        self.board[N_THREADS] = n_threads


def _pointer(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    array = context.make_array(signature.args[0])(context, builder, args[0])
    return builder.gep(array.data, [args[1]])


@intrinsic
def read(_: Any, array: Any, at: Any) -> Any:
    """A number that another thread may write, and after it what that one wrote before."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.load_atomic(_pointer(context, builder, signature, args), "acquire", 8)

    return types.int64(array, at), generate


@intrinsic
def write(_: Any, array: Any, at: Any, value: Any) -> Any:
    """The other side of ``read``."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = _pointer(context, builder, signature, args)
        builder.store_atomic(args[2], pointer, "release", 8)
        return context.get_dummy_value()

    return types.void(array, at, types.int64), generate


@intrinsic
def add(_: Any, array: Any, at: Any, value: Any) -> Any:
    """Add to a number that others may add to as well; what it was before."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = _pointer(context, builder, signature, args)
        return builder.atomic_rmw("add", pointer, args[2], "acq_rel")

    return types.int64(array, at, types.int64), generate


@intrinsic
def _swap(_: Any, array: Any, at: Any, before: Any, after: Any) -> Any:
    """Write a number in place of another; whether that one was still there."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = _pointer(context, builder, signature, args)
        pair = builder.cmpxchg(pointer, args[2], args[3], "acq_rel", "acquire")
        return builder.extract_value(pair, 1)

    return types.boolean(array, at, types.int64, types.int64), generate


def _call_by_name(builder: Any, name: str, result: Any, *args: Any) -> None:
    kind = ir.FunctionType(result, [arg.type for arg in args])
    builder.call(cgutils.get_or_insert_function(builder.module, kind, name), args)


@intrinsic
def _pause(_: Any) -> Any:
    """Leave the processor's parts to whoever shares them, for a moment."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        if platform.machine().lower() in ("x86_64", "amd64"):
            _call_by_name(builder, "llvm.x86.sse2.pause", ir.VoidType())
        return context.get_dummy_value()

    return types.void(), generate


@intrinsic
def _give_way(_: Any) -> Any:
    """Let other threads that wait for this processor run first; at once back if there are none."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        name = "SwitchToThread" if sys.platform == "win32" else "sched_yield"
        _call_by_name(builder, name, ir.IntType(32))
        return context.get_dummy_value()

    return types.void(), generate


@intrinsic
def _nap(_: Any) -> Any:
    """Sleep for a while."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = ir.IntType(32)
        if sys.platform == "win32":
            _call_by_name(builder, "Sleep", ir.VoidType(), kind(1))
        else:
            _call_by_name(builder, "usleep", kind, kind(NAP))
        return context.get_dummy_value()

    return types.void(), generate


@intrinsic
def _stow(_: Any, arguments: Any) -> Any:
    """Where a copy of the arguments is, as long as the calling function runs."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        place = cgutils.alloca_once(builder, context.get_value_type(arguments))
        builder.store(args[0], place)
        return builder.ptrtoint(place, _NUMBER)

    return types.int64(arguments), generate


@intrinsic
def _call(_: Any, entry: Any, place: Any, task: Any, who: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = ir.FunctionType(ir.VoidType(), [_NUMBER] * 3).as_pointer()
        builder.call(builder.inttoptr(args[0], kind), args[1:])
        return context.get_dummy_value()

    return types.void(*[types.int64] * 4), generate


@plain
def _take_from(board, whose, who):
    """Do tasks of a thread while there are any; whether there was one."""
    found, n_threads, place = False, board[N_THREADS], TICKETS + whose * LINE
    while True:
        ticket = read(board, place)
        left = ticket & LEFT
        if left == 0:
            return found
        if _swap(board, place, ticket, ticket - 1):
            found = True
            task = board[N_TASKS] * (whose + 1) // n_threads - left
            _call(board[ENTRY], board[ARGUMENTS], task, who)
            add(board, DONE, 1)


@plain
def _take_part(board, who):
    """Do own tasks, then those that others leave; whether there was one."""
    found, n_threads = False, board[N_THREADS]
    for k in range(n_threads):
        found |= _take_from(board, (who + k) % n_threads, who)
    return found


@plain
def _lead(board, n_tasks, entry, place):
    """Have all tasks of a loop done."""
    n_threads = board[N_THREADS]
    board[ENTRY], board[ARGUMENTS], board[N_TASKS] = entry, place, n_tasks
    write(board, DONE, 0)
    for who in range(n_threads):
        n_own = n_tasks * (who + 1) // n_threads - n_tasks * who // n_threads
        ticket = TICKETS + who * LINE
        write(board, ticket, (((read(board, ticket) >> 32) + 1) << 32) | n_own)
    _take_part(board, np.int64(0))
    looks = np.int64(0)
    while read(board, DONE) < n_tasks:
        _pause()
        looks += 1
        if looks % LOOKS == 0:
            _give_way()


def _entry_of(function: Any) -> Any:
    """The address of a function that reads arguments, and calls the given one with them."""

    @intrinsic
    def entry_of(typing: Any, arguments: Any) -> Any:
        numbers = types.int64, types.int64
        call: Any = types.Dispatcher(function).get_call_type(typing, (*numbers, arguments), {})

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            compiled = function.overloads[call.args]
            context.add_linking_libs([compiled.library])
            kind = ir.FunctionType(ir.VoidType(), [_NUMBER] * 3)
            name = "entry." + compiled.fndesc.mangled_name
            entry = cgutils.get_or_insert_function(builder.module, kind, name)
            if entry.is_declaration:
                _write_entry(context, entry, compiled.fndesc, arguments)
            return builder.ptrtoint(entry, _NUMBER)

        return types.int64(arguments), generate

    return entry_of


def _write_entry(context: Any, entry: Any, called: Any, arguments: Any) -> None:
    inside = ir.IRBuilder(entry.append_basic_block())
    place, task, who = entry.args
    pointer = inside.inttoptr(place, context.get_value_type(arguments).as_pointer())
    values = task, who, inside.load(pointer)
    places_of(inside)[values[-1]] = pointer
    callee = context.declare_function(entry.module, called)
    context.call_conv.call_function(inside, callee, called.restype, called.argtypes, values)
    inside.ret_void()


def shared_loop(function: Any) -> Any:
    """Make a loop, ``loop(board, n_tasks, arguments)``, of a function of one of its tasks.

    It is called with the number of the task, in any order, the number of the thread that has taken
    it, 0 for the one that leads, and the arguments; ``board`` is None for one thread.
    """
    one = plain(function)
    entry_of = _entry_of(one)

    @plain
    def loop(board, n_tasks, arguments):
        if board is None:
            for task in range(n_tasks):
                one(np.int64(task), np.int64(0), arguments)
        else:
            _lead(board, n_tasks, entry_of(arguments), _stow(arguments))

    return loop


@standing
def serve(board, who, call):
    """Take part in whatever is on the board, until the call is another."""
    looks = np.int64(0)
    while read(board, CALL) == call:
        if _take_part(board, who):
            looks = 0
        looks += 1
        if looks > TIRED:
            _nap()
        elif looks % LOOKS == 0:
            _give_way()
        else:
            _pause()
