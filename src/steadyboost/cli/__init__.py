"""The command line ``steadyboost``; heavy modules are imported when a command runs."""

import sys
from typing import Any

__all__ = ["app", "main"]


def main() -> None:
    """Run the command line; an interruption is quiet also while its modules are imported."""
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
