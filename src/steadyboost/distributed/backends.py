"""Where members are: here, or on the workers of a Dask cluster."""

import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import dask
from dask.delayed import Delayed
from dask.utils import parse_timedelta
from distributed import Client, get_worker

from steadyboost.distributed.coordinator import Lost
from steadyboost.distributed.preprocessing import Piece
from steadyboost.distributed.worker import Member

GLANCE = 1.0  # seconds after which one looks whether a worker that does not answer is still there
PARTING = 10.0  # seconds that a scheduler may take to notice that a worker is lost
PATIENCE = "30s"  # how long to wait for a worker where none is left


def kept(pieces: Sequence[Piece | None]) -> list[Piece]:
    return [piece for piece in pieces if piece is not None]


class Here:
    """Members in this process, one after the other: no cluster is needed.

    ``n_members`` is one by default: more are of use to tests alone.
    """

    def __init__(self, n_members: int = 1, n_threads: int = 1):
        self.n_wanted, self.n_threads = n_members, n_threads
        self.members: list[Member] = []

    def compute(self, promises: Sequence[Delayed]) -> list[Any]:
        return list(dask.compute(*promises))

    def gather(self, train: Sequence[Delayed], validation: Sequence[Delayed]) -> None:
        pieces, watched = kept(self.compute(train)), kept(self.compute(validation))
        n = self.n_members = min(self.n_wanted, len(pieces))
        self.members = [Member(k, pieces[k::n], watched[k::n], self.n_threads) for k in range(n)]

    def call(self, method: str, message: bytes) -> list[bytes]:
        return [getattr(member, method)(message) for member in self.members]

    def replace(self, numbers: list[int]) -> None:
        raise RuntimeError(f"members {numbers} of this process are lost.")

    def close(self) -> None:
        for member in self.members:
            member.abandon()
        self.members = []


def make_member(number: int, train: list[Piece], validation: list[Piece]) -> Member:
    """A member on the worker that this runs on."""
    return Member(number, kept(train), kept(validation), get_worker().state.nthreads)


def is_something(piece: Piece | None) -> bool:
    return piece is not None


class Abroad:
    """Members on the workers of a cluster, as Dask actors: one for each worker that has rows.

    Pieces are made by ordinary tasks, wherever the scheduler puts them. A member that is lost is
    made anew, of the same partitions, on the workers that are left.
    """

    def __init__(self, client: Client):
        self.client = client
        self.groups: list[list[tuple[Delayed, bool]]] = []
        self.actors: list[Any] = []
        self.homes: dict[int, str] = {}
        self.appointed: list[Any] = []
        self.patience = parse_timedelta(dask.config.get("steadyboost.patience", PATIENCE))

    @property
    def n_members(self) -> int:
        return len(self.groups)

    def compute(self, promises: Sequence[Delayed]) -> list[Any]:
        """Results of tasks; none is left running if one fails, or if this is interrupted."""
        futures = self.client.compute(list(promises))
        try:
            return self.client.gather(futures)
        finally:
            self.client.cancel([future for future in futures if not future.done()])

    def _present(self, promises: Sequence[Delayed], **where: Any) -> list[tuple[int, Any]]:
        """Pieces on the workers, with their places among the promises; empty ones are left out."""
        futures = self.client.compute(list(promises), **where)
        try:
            known = self.client.gather(self.client.map(is_something, futures, pure=False))
        except BaseException:
            self.client.cancel(futures)
            raise
        return [(k, future) for k, future in enumerate(futures) if known[k]]

    def gather(self, train: Sequence[Delayed], validation: Sequence[Delayed]) -> None:
        """Make pieces, and a member of those that are on each worker."""
        n, present = len(train), self._present([*train, *validation])
        has = self.client.who_has([future for _, future in present])
        homes = {k: has[future.key][0] for k, future in present}
        workers = sorted({homes[k] for k, _ in present if k < n})
        groups: list[list[tuple[int, Any]]] = [[] for _ in workers]
        for k, future in present:
            home = workers.index(homes[k]) if homes[k] in workers else k % len(workers)
            groups[home].append((k, future))
        promises = [*train, *validation]
        self.groups = [[(promises[k], k >= n) for k, _ in own] for own in groups]
        self.actors = [None] * len(groups)
        for number, (address, own) in enumerate(zip(workers, groups, strict=True)):
            with suppress(Lost):  # the first trip will notice
                self._appoint(number, address, [(future, k >= n) for k, future in own])

    def _appoint(self, number: int, address: str, pieces: list[tuple[Any, bool]]) -> None:
        """Make the member of some pieces, each to be trained on or to be watched."""
        train = [future for future, is_watched in pieces if not is_watched]
        watched = [future for future, is_watched in pieces if is_watched]
        future = self.client.submit(
            make_member, number, train, watched, actor=True, workers=[address], pure=False
        )
        self.appointed.append(future)
        try:
            self.actors[number] = future.result()
        except Exception as error:
            if address in self.client.nthreads():
                raise
            raise Lost([number]) from error
        self.homes[number] = address

    def call(self, method: str, message: bytes) -> list[bytes]:
        asked = [self._ask(number, method, message) for number in range(len(self.actors))]
        answers = [self._answer(number, future) for number, future in enumerate(asked)]
        lost = [number for number, answer in enumerate(answers) if answer is None]
        if lost:
            raise Lost(lost)
        return [answer for answer in answers if answer is not None]

    def _ask(self, number: int, method: str, message: bytes) -> Any:
        if self.actors[number] is None:
            return None
        try:
            return getattr(self.actors[number], method)(message)
        except RuntimeError:  # what Dask says of an actor that is lost
            return None

    def _answer(self, number: int, asked: Any) -> bytes | None:
        """What a member says; None if its worker is lost."""
        while asked is not None:
            try:
                return asked.result(timeout=GLANCE)
            except TimeoutError:
                if not self._is_there(number):
                    return None
            except Exception:
                end = time.monotonic() + PARTING
                while self._is_there(number):
                    if time.monotonic() > end:
                        raise
                    time.sleep(0.1)
                return None
        return None

    def _is_there(self, number: int) -> bool:
        return self.homes[number] in self.client.nthreads()

    def replace(self, numbers: list[int]) -> None:
        """Load the partitions of lost members again, on workers that have none if there are any."""
        for number in numbers:
            self.homes.pop(number, None)
            self.actors[number] = None
        for number in [k for k, actor in enumerate(self.actors) if actor is None]:
            workers = self._workers()
            free = [address for address in workers if address not in self.homes.values()]
            own = self.groups[number]
            present = self._present(
                [promise for promise, _ in own],
                workers=free or workers,
                allow_other_workers=True,
            )
            pieces = [(future, own[k][1]) for k, future in present]
            self._appoint(number, (free or workers)[number % len(free or workers)], pieces)

    def _workers(self) -> list[str]:
        """Those that there are; waits for one, as a nanny may be starting it again."""
        end = time.monotonic() + self.patience
        while not (workers := sorted(self.client.nthreads())):
            if time.monotonic() > end:
                raise RuntimeError(
                    f"All workers are lost, and none has come back in {self.patience:g} s. Rounds "
                    "that were finished are in the model, and in the file of a Checkpoint, from "
                    "which a new cluster can go on."
                )
            time.sleep(0.1)
        return workers

    def close(self) -> None:
        """End what members are doing; what is left of a cluster that is gone is none of ours."""
        for actor in self.actors:
            with suppress(Exception):
                if actor is not None:
                    actor.abandon()
        with suppress(Exception):
            self.client.cancel(self.appointed)  # Dask's own references to actors go in circles
        self.actors, self.groups, self.appointed = [], [], []
