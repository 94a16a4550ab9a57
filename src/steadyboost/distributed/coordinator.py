"""The one that members meet through: it brings their values together, and their conclusions back.

Members that are lost are replaced. All of them then go back to the last finished round, whose
scores follow from the stages, and do again what they were asked to do.
"""

from collections.abc import Callable, Iterable
from operator import itemgetter
from typing import Any, Protocol

import cloudpickle

from steadyboost.distributed.collectives import Key, Meeting
from steadyboost.distributed.worker import DONE, FAILED


class Lost(Exception):
    """Members that do not answer any more."""

    def __init__(self, numbers: list[int]):
        super().__init__(f"members {numbers} are lost")
        self.numbers = numbers


class Crew(Protocol):
    """Where members are."""

    n_members: int

    def call(self, method: str, message: bytes) -> list[bytes]:
        """A method of each member; raises Lost when all others have answered."""
        ...

    def replace(self, numbers: list[int]) -> None:
        """Put others in the place of members that are lost."""
        ...

    def close(self) -> None:
        """Leave nothing behind."""
        ...


def concluded(meetings: list[dict[Key, Meeting]]) -> dict[Key, Any]:
    """The conclusion of each strand's meeting, from what each member brings to it."""
    if any(own.keys() != meetings[0].keys() for own in meetings):
        raise RuntimeError("the machines have come to different places of the same run.")
    return {key: _conclusion([own[key] for own in meetings]) for key in meetings[0]}


def _conclusion(meetings: list[Meeting]) -> Any:
    tagged = [pair for own in meetings for pair in zip(own.order, own.values, strict=True)]
    tagged.sort(key=itemgetter(0))
    return meetings[0].conclude([value for _, value in tagged])


class Team:
    """Members that do the same together; ``restore`` lists what brings new ones up to date."""

    def __init__(self, crew: Crew):
        self.crew = crew
        self.restore: Callable[[], Iterable[tuple]] = tuple
        self.n_trips, self.n_bytes = 0, 0

    def everywhere(self, function: Callable[..., Any], *arguments: Any) -> list[Any]:
        """``function(member, *arguments)`` of each member."""
        lost: list[int] = []
        while True:
            try:
                if lost:
                    self._recover(lost)
                return self._do(function, arguments)
            except Lost as loss:
                lost = loss.numbers

    def _recover(self, lost: list[int]) -> None:
        self.crew.replace(lost)
        for function, *arguments in self.restore():
            self._do(function, tuple(arguments))

    def _do(self, function: Callable[..., Any], arguments: tuple) -> list[Any]:
        """Begin, and bring conclusions to each meeting, until all are done."""
        answers = self._trip("begin", (function, arguments))
        while any(kind != DONE for kind, _ in answers):
            answers = self._trip("go_on", concluded([content for _, content in answers]))
        return [content for _, content in answers]

    def _trip(self, method: str, content: Any) -> list[tuple[str, Any]]:
        message = cloudpickle.dumps(content)
        replies = self.crew.call(method, message)
        self.n_trips += 1
        self.n_bytes += len(message) * len(replies) + sum(map(len, replies))
        answers = [cloudpickle.loads(reply) for reply in replies]
        for kind, content in answers:
            if kind == FAILED:
                raise content
        if len({kind for kind, _ in answers}) > 1:
            raise RuntimeError("some machines are done with a round that others are not done with.")
        return answers

    def close(self) -> None:
        self.crew.close()
