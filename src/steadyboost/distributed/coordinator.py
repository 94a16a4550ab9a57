"""The coordinator of a fit: it reduces what workers contribute, and sends the results back.

Workers that are lost are replaced. All of them then go back to the last finished round, whose
scores follow from the stages, and do the interrupted call again.
"""

from collections.abc import Callable, Iterable
from operator import itemgetter
from typing import Any, Protocol

import cloudpickle

from steadyboost.distributed.collectives import Contribution, TaskKey
from steadyboost.distributed.worker import DONE, FAILED


class WorkersLost(Exception):
    """Workers that do not answer any more."""

    def __init__(self, ranks: list[int]):
        super().__init__(f"workers {ranks} are lost")
        self.ranks = ranks


class Backend(Protocol):
    """Where workers are."""

    n_workers: int

    def call(self, method: str, message: bytes) -> list[bytes]:
        """A method of each worker; raises WorkersLost when all others have answered."""
        ...

    def replace(self, ranks: list[int]) -> None:
        """Start others in the place of workers that are lost."""
        ...

    def close(self) -> None:
        """Stop all workers and release their rows."""
        ...


def reduce_all(contributions: list[dict[TaskKey, Contribution]]) -> dict[TaskKey, Any]:
    """The reduced value of each task, from what each worker contributes to it."""
    if any(own.keys() != contributions[0].keys() for own in contributions):
        raise RuntimeError("the workers have come to different places of the same run.")
    return {key: _reduce([own[key] for own in contributions]) for key in contributions[0]}


def _reduce(contributions: list[Contribution]) -> Any:
    # In a fixed order, so that the sum does not depend on which worker has which partition.
    tagged = [pair for own in contributions for pair in zip(own.order, own.values, strict=True)]
    tagged.sort(key=itemgetter(0))
    return contributions[0].reduce([value for _, value in tagged])


class Coordinator:
    """Calls the same function on all workers; ``restore`` lists what brings new ones up to date."""

    def __init__(self, backend: Backend):
        self.backend = backend
        self.restore: Callable[[], Iterable[tuple]] = tuple
        self.n_trips, self.n_bytes = 0, 0

    def run_on_all(self, function: Callable[..., Any], *arguments: Any) -> list[Any]:
        """``function(worker, *arguments)`` of each worker."""
        lost: list[int] = []
        while True:
            try:
                if lost:
                    self._recover(lost)
                return self._run(function, arguments)
            except WorkersLost as loss:
                lost = loss.ranks

    def _recover(self, lost: list[int]) -> None:
        self.backend.replace(lost)
        for function, *arguments in self.restore():
            self._run(function, tuple(arguments))

    def _run(self, function: Callable[..., Any], arguments: tuple) -> list[Any]:
        """Start the function, and serve one allreduce after another until all workers are done."""
        answers = self._round_trip("start", (function, arguments))
        while any(kind != DONE for kind, _ in answers):
            answers = self._round_trip("resume", reduce_all([content for _, content in answers]))
        return [content for _, content in answers]

    def _round_trip(self, method: str, content: Any) -> list[tuple[str, Any]]:
        message = cloudpickle.dumps(content)
        replies = self.backend.call(method, message)
        self.n_trips += 1
        self.n_bytes += len(message) * len(replies) + sum(map(len, replies))
        answers = [cloudpickle.loads(reply) for reply in replies]
        for kind, content in answers:
            if kind == FAILED:
                raise content
        if len({kind for kind, _ in answers}) > 1:
            raise RuntimeError("some workers are done with a round that others are not done with.")
        return answers

    def close(self) -> None:
        self.backend.close()
