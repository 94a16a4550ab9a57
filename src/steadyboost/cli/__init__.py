"""The command line ``steadyboost``; heavy modules are imported when a command runs."""

import atexit
import gc
import sys
from typing import Any

__all__ = ["app", "main"]


def main() -> None:
    """Run the command line; an interruption is quiet also while its modules are imported."""
    # The interpreter would look for unreachable objects once more before it ends, among all of the
    # compiler's: about a second, also after Ctrl-C.
    atexit.register(gc.freeze)
    try:
        from steadyboost.cli import commands

        commands.main()
    except KeyboardInterrupt:
        print("steadyboost: interrupted.", file=sys.stderr)
        sys.exit(130)


def __getattr__(name: str) -> Any:
    if name != "app":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from steadyboost.cli.commands import app

    return app
