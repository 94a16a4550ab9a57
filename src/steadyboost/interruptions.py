"""When Ctrl-C takes effect: always, after a file is written; and whether a fit keeps its rounds."""

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import FrameType
from typing import Any

COMPILER = ("numba", "llvmlite")
LOCKING = ("__enter__", "__exit__", "acquire", "release")
MOMENT = 0.02  # seconds; taking a lock, and a callback of the compiler, take less

_keeps_rounds: ContextVar[bool] = ContextVar("keeps_rounds", default=True)


def keeps_rounds() -> bool:
    """Whether a fit that is interrupted returns with the rounds that were finished."""
    return _keeps_rounds.get()


@contextmanager
def interrupted_fits_raise() -> Iterator[None]:
    """Let Ctrl-C end all of the block: fits in it do not go on with the rounds they have.

    For whoever fits several models, or goes on to work with one: a user who ends an audit or a
    command does not want the next fold.
    """
    token = _keeps_rounds.set(False)
    try:
        with interrupts_heard():
            yield
    finally:
        _keeps_rounds.reset(token)


@contextmanager
def interrupts_heard() -> Iterator[None]:
    """Let Ctrl-C end the block also if it comes while a function is compiled, loaded or called.

    Left alone, numba would stop there for ever, or not at all:

    - One that comes between taking a lock of the compiler and entering the block that gives it back
      leaves it taken, and the next thread that compiles waits for ever. It is put off.
    - What is raised in a callback of the compiler is printed and forgotten. It is raised again.
    - On the way into a compiled function it does not keep that from returning a result, which is
      a ``SystemError`` to Python. That becomes a ``KeyboardInterrupt``.

    Only the main thread gets interruptions; in others nothing is done.
    """
    is_main = threading.current_thread() is threading.main_thread()
    before: Any = signal.getsignal(signal.SIGINT) if is_main else None
    if not callable(before):
        yield
        return
    hook = sys.unraisablehook

    def interrupt(number: int, frame: FrameType | None) -> None:
        if is_at_a_lock(frame):
            interrupt_again()
        else:
            before(number, frame)

    def hear(lost: Any) -> None:
        if lost.exc_type is not None and issubclass(lost.exc_type, KeyboardInterrupt):
            interrupt_again()
        else:
            hook(lost)

    signal.signal(signal.SIGINT, interrupt)
    sys.unraisablehook = hear
    try:
        yield
    except SystemError as error:
        if isinstance(error.__cause__, KeyboardInterrupt):
            raise KeyboardInterrupt from error
        raise
    finally:
        sys.unraisablehook = hook
        signal.signal(signal.SIGINT, before)


def is_at_a_lock(frame: FrameType | None) -> bool:
    """Whether the compiler takes or gives back one of its locks, which are written in Python."""
    while frame is not None:
        if frame.f_code.co_name in LOCKING and _package(frame) in COMPILER:
            return True
        frame = frame.f_back
    return False


def _package(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", "")).partition(".")[0]


def interrupt_again() -> None:
    """Interrupt the main thread a little later."""
    again = threading.Timer(MOMENT, interrupt_main_thread)
    again.daemon = True
    again.start()


def interrupt_main_thread() -> None:
    """What Ctrl-C does, from any thread; where possible it also ends a wait of the main thread."""
    if hasattr(signal, "pthread_kill"):
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
    else:  # on Windows
        signal.raise_signal(signal.SIGINT)


@contextmanager
def interrupts_held() -> Iterator[None]:
    """Let Ctrl-C take effect at the end of the block; a second one takes effect at once.

    Only the main thread gets interruptions; in others nothing is to be done.
    """
    is_main = threading.current_thread() is threading.main_thread()
    before: Any = signal.getsignal(signal.SIGINT) if is_main else None
    if not callable(before):
        yield
        return
    held: list[tuple[int, FrameType | None]] = []

    def hold(number: int, frame: FrameType | None) -> None:
        if held:
            before(number, frame)
        held.append((number, frame))

    signal.signal(signal.SIGINT, hold)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if len(held) == 1:
        before(*held[0])
