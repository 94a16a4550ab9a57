"""The training history, through which callbacks pass values to each other."""

from collections.abc import Iterable
from typing import Any, overload


class History(list[dict[str, Any]]):
    """One record per round; a name in brackets gives that column.

    Examples
    --------
    >>> history = History([{"round": 1, "error": 0.3}, {"round": 2}])
    >>> history["error"]
    [0.3, None]
    >>> history[0]["round"]
    1
    """

    @overload  # type: ignore[override]
    def __getitem__(self, key: str) -> list[Any]: ...
    @overload
    def __getitem__(self, key: int) -> dict[str, Any]: ...
    @overload
    def __getitem__(self, key: slice) -> "History": ...
    def __getitem__(self, key: str | int | slice) -> Any:
        if isinstance(key, str):
            if not any(key in record for record in self):
                raise KeyError(f"no round recorded {key!r}; recorded: {self.columns}")
            return [record.get(key) for record in self]
        if isinstance(key, slice):
            return History(super().__getitem__(key))
        return super().__getitem__(key)

    @property
    def columns(self) -> list[str]:
        """Names recorded in any round, in the order of their first appearance."""
        names: Iterable[str] = (name for record in self for name in record)
        return list(dict.fromkeys(names))
