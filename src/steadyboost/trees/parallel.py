"""How trees use threads and machines: maps over blocks of rows, and arrays that threads reuse.

Kernels know nothing of threads. What calls them cuts the rows into blocks and passes a function
and the blocks to a *map function*: that of a thread pool, or :func:`serial_map`. Blocks whose sums
are floats depend on the number of rows alone, so that results do not depend on the threads.
"""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise
from operator import add
from typing import Any, TypeVar, cast

import numpy as np

MapFunction = Callable[[Callable[[Any], Any], Sequence[Any]], list[Any]]
Allreduce = Callable[[Sequence[Any], Callable[[list[Any]], Any]], Any]
Made = TypeVar("Made")


def serial_map(function: Callable[[Any], Any], items: Sequence[Any]) -> list[Any]:
    """Results in the order of the items, computed one after the other."""
    return list(map(function, items))


def sum_in_order(values: Sequence[Any]) -> Any:
    """Sum of numbers or arrays, from left to right."""
    return reduce(add, values)


def split_evenly(n: int, n_blocks: int) -> list[slice]:
    """Slices of ``n`` items, such as rows, that are about equally long."""
    if n_blocks == 1:
        return [slice(0, n)]
    bounds = np.linspace(0, n, n_blocks + 1).astype(int).tolist()
    return [slice(a, b) for a, b in pairwise(bounds)]


@dataclass(frozen=True)
class Parallelism:
    """Threads to grow a tree on: how many, and how to map a function over items in parallel.

    Where rows are on several machines, ``allreduce`` reduces values of all of them.
    """

    n_threads: int = 1
    run: MapFunction = serial_map
    allreduce: Allreduce | None = None


class ScratchArrays(threading.local):
    """Arrays as long as the rows, allocated once for all trees.

    Each thread has its own, as trees may be grown in parallel.
    """

    def __init__(self) -> None:
        self._arrays: dict[str, np.ndarray] = {}
        self._made: dict[str, tuple[Any, tuple, Any]] = {}

    def array(self, name: str, n: int, dtype: Any) -> np.ndarray:
        """An uninitialised array, reused if one of this name is large enough."""
        if name not in self._arrays or len(self._arrays[name]) < n:
            self._arrays[name] = np.empty(n, dtype=dtype)
        return self._arrays[name][:n]

    def once(self, name: str, of: Any, key: tuple, make: Callable[[], Made]) -> Made:
        """What was last made under this name, if it was for the same object and key."""
        if name not in self._made or self._made[name][0] is not of or self._made[name][1] != key:
            self._made[name] = of, key, make()
        return cast(Made, self._made[name][2])
