"""When Ctrl-C takes effect: always, after a file is written; and whether a fit keeps its rounds."""

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import FrameType
from typing import Any

CALLBACK_SECONDS = 0.05  # a callback of the compiler takes less

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
    """Let Ctrl-C end the block also if it comes while a compiled function is loaded or called.

    Python may call the handler in a callback of the compiler then, whose exceptions are printed and
    forgotten, or on the way into a compiled function, which returns all the same: that is a
    ``SystemError`` to Python. Only the main thread gets interruptions; in others nothing is done.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = sys.unraisablehook

    def hear(lost: Any) -> None:
        if lost.exc_type is None or not issubclass(lost.exc_type, KeyboardInterrupt):
            before(lost)
            return
        # A little later, as the callback has yet to return.
        again = threading.Timer(CALLBACK_SECONDS, interrupt_main_thread)
        again.daemon = True
        again.start()

    sys.unraisablehook = hear
    try:
        yield
    except SystemError as error:
        if isinstance(error.__cause__, KeyboardInterrupt):
            raise KeyboardInterrupt from error
        raise
    finally:
        sys.unraisablehook = before


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
