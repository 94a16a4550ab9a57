"""When Ctrl-C takes effect: after a file is written, and whether a fit keeps its rounds."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import FrameType
from typing import Any

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
        yield
    finally:
        _keeps_rounds.reset(token)


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
