"""The coordinator of a distributed fit, and the backends on which its workers run.

The coordinator reduces the contributions of all workers and sends the results back. A worker that
is lost is replaced. All workers then return to the last finished round, whose scores follow from
the stages, and repeat the interrupted call.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from operator import itemgetter
from typing import Any, Protocol

import cloudpickle
import dask
from dask.delayed import Delayed
from dask.utils import parse_timedelta
from distributed import Client, get_worker

from steadyboost.distributed.collectives import Contribution, TaskKey
from steadyboost.distributed.preprocessing import Partition
from steadyboost.distributed.worker import DONE, FAILED, WorkerActor


class WorkersLost(Exception):
    """Some workers no longer answer."""

    def __init__(self, ranks: list[int]):
        super().__init__(f"workers {ranks} are lost")
        self.ranks = ranks


class Backend(Protocol):
    """A place where workers run: this process or a cluster."""

    n_workers: int

    def call(self, method: str, message: bytes) -> list[bytes]:
        """Call a method of each worker; raises WorkersLost after all others have answered."""
        ...

    def replace(self, ranks: list[int]) -> None:
        """Start replacements for workers that are lost."""
        ...

    def close(self) -> None:
        """Stop all workers and release their rows."""
        ...


def reduce_all(contributions: list[dict[TaskKey, Contribution]]) -> dict[TaskKey, Any]:
    """The reduced value of each task, from what each worker contributes to it."""
    if any(own.keys() != contributions[0].keys() for own in contributions):
        raise RuntimeError("the workers are not at the same allreduce of the run.")
    return {key: _reduce([own[key] for own in contributions]) for key in contributions[0]}


def _reduce(contributions: list[Contribution]) -> Any:
    # In a fixed order, so that the sum does not depend on which worker has which partition.
    tagged = [pair for own in contributions for pair in zip(own.order, own.values, strict=True)]
    tagged.sort(key=itemgetter(0))
    return contributions[0].reduce([value for _, value in tagged])


class Coordinator:
    """Calls a function on all workers; ``recovery`` lists the calls a new worker needs first."""

    def __init__(self, backend: Backend):
        self.backend = backend
        self.recovery: list[tuple] = []  # functions with their arguments
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
        for function, *arguments in self.recovery:
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
            raise RuntimeError("some workers have finished a call that others have not.")
        return answers

    def close(self) -> None:
        self.backend.close()


POLL_SECONDS = 1.0  # between checks whether a worker that has not answered is still alive
LOSS_SECONDS = 10.0  # for a scheduler to notice that a worker is lost
PATIENCE = "30s"  # to wait for a new worker when none is left


def with_rows(partitions: Sequence[Partition | None]) -> list[Partition]:
    return [own for own in partitions if own is not None]


class InProcessBackend:
    """Workers in this process, called one after the other: no cluster is needed.

    ``n_workers`` is one by default; more are useful for tests only.
    """

    def __init__(self, n_workers: int = 1, n_threads: int = 1):
        self.n_wanted, self.n_threads = n_workers, n_threads
        self.workers: list[WorkerActor] = []

    def compute(self, delayed: Sequence[Delayed]) -> list[Any]:
        return list(dask.compute(*delayed))

    def load(self, train: Sequence[Delayed], validation: Sequence[Delayed]) -> None:
        """Compute the partitions and start workers that hold them."""
        parts, held = with_rows(self.compute(train)), with_rows(self.compute(validation))
        n = self.n_workers = min(self.n_wanted, len(parts))
        self.workers = [WorkerActor(k, parts[k::n], held[k::n], self.n_threads) for k in range(n)]

    def call(self, method: str, message: bytes) -> list[bytes]:
        return [getattr(worker, method)(message) for worker in self.workers]

    def gather(self, tasks: Sequence[Delayed]) -> tuple[list[int], Iterator[Partition | None]]:
        """The number of rows of each partition, and the partitions, one after the other."""
        found = self.compute(tasks)
        return [size_of(own) for own in found], iter(found)

    def replace(self, ranks: list[int]) -> None:
        raise RuntimeError(f"workers {ranks} of this process are lost.")

    def close(self) -> None:
        for worker in self.workers:
            worker.cancel()
        self.workers = []


def make_actor(rank: int, train: list[Partition], validation: list[Partition]) -> WorkerActor:
    """The actor of the Dask worker that this runs on."""
    return WorkerActor(rank, with_rows(train), with_rows(validation), get_worker().state.nthreads)


def is_present(partition: Partition | None) -> bool:
    return partition is not None


def size_of(partition: Partition | None) -> int:
    """Rows of a partition."""
    return 0 if partition is None else len(partition.y)


class ClusterBackend:
    """Workers of a cluster, as Dask actors: one for each Dask worker that has rows.

    Partitions are computed by ordinary tasks, wherever the scheduler places them. An actor that is
    lost is created again, with the same partitions, on the remaining workers.
    """

    def __init__(self, client: Client):
        self.client = client
        self.groups: list[list[tuple[Delayed, bool]]] = []
        self.actors: list[Any] = []
        self.addresses: dict[int, str] = {}
        self.submitted: list[Any] = []
        self.patience = parse_timedelta(dask.config.get("steadyboost.patience", PATIENCE))

    @property
    def n_workers(self) -> int:
        return len(self.groups)

    def compute(self, delayed: Sequence[Delayed]) -> list[Any]:
        """Results of tasks; all are cancelled if one fails, or on an interrupt."""
        futures = self.client.compute(list(delayed))
        try:
            return self.client.gather(futures)
        finally:
            self.client.cancel([future for future in futures if not future.done()])

    def gather(self, tasks: Sequence[Delayed]) -> tuple[list[int], Iterator[Partition | None]]:
        """The number of rows of each partition, and the partitions, one after the other.

        They stay on the workers until their turn comes. The scheduler computes those of a lost
        worker again, elsewhere.
        """
        futures = self.client.compute(list(tasks))
        self.submitted += futures
        sizes = self.client.gather(self.client.map(size_of, futures, pure=False))

        def each() -> Iterator[Partition | None]:
            for future in futures:
                yield self.client.gather(future)
                self.client.cancel(future)

        return sizes, each()

    def _present(self, delayed: Sequence[Delayed], **where: Any) -> list[tuple[int, Any]]:
        """Futures of the partitions that have rows, with their indices."""
        futures = self.client.compute(list(delayed), **where)
        try:
            known = self.client.gather(self.client.map(is_present, futures, pure=False))
        except BaseException:
            self.client.cancel(futures)
            raise
        return [(k, future) for k, future in enumerate(futures) if known[k]]

    def load(self, train: Sequence[Delayed], validation: Sequence[Delayed]) -> None:
        """Compute the partitions, and start one actor per worker with the partitions it holds."""
        n, present = len(train), self._present([*train, *validation])
        has = self.client.who_has([future for _, future in present])
        at = {k: has[future.key][0] for k, future in present}
        workers = sorted({at[k] for k, _ in present if k < n})
        groups: list[list[tuple[int, Any]]] = [[] for _ in workers]
        for k, future in present:
            rank = workers.index(at[k]) if at[k] in workers else k % len(workers)
            groups[rank].append((k, future))
        delayed = [*train, *validation]
        self.groups = [[(delayed[k], k >= n) for k, _ in own] for own in groups]
        self.actors = [None] * len(groups)
        for rank, (address, own) in enumerate(zip(workers, groups, strict=True)):
            with suppress(WorkersLost):  # the first call will notice
                self._start_actor(rank, address, [(future, k >= n) for k, future in own])

    def _start_actor(self, rank: int, address: str, partitions: list[tuple[Any, bool]]) -> None:
        """Create the actor of some partitions, each for training or for validation."""
        train = [future for future, is_held_out in partitions if not is_held_out]
        held_out = [future for future, is_held_out in partitions if is_held_out]
        future = self.client.submit(
            make_actor, rank, train, held_out, actor=True, workers=[address], pure=False
        )
        self.submitted.append(future)
        try:
            self.actors[rank] = future.result()
        except Exception as error:
            if address in self.client.nthreads():
                raise
            raise WorkersLost([rank]) from error
        self.addresses[rank] = address

    def call(self, method: str, message: bytes) -> list[bytes]:
        asked = [self._ask(rank, method, message) for rank in range(len(self.actors))]
        answers = [self._answer(rank, future) for rank, future in enumerate(asked)]
        lost = [rank for rank, answer in enumerate(answers) if answer is None]
        if lost:
            raise WorkersLost(lost)
        return [answer for answer in answers if answer is not None]

    def _ask(self, rank: int, method: str, message: bytes) -> Any:
        if self.actors[rank] is None:
            return None
        try:
            return getattr(self.actors[rank], method)(message)
        except RuntimeError:  # what Dask raises for an actor that is lost
            return None

    def _answer(self, rank: int, asked: Any) -> bytes | None:
        """The answer of a worker; None if it is lost."""
        while asked is not None:
            try:
                return asked.result(timeout=POLL_SECONDS)
            except TimeoutError:
                if not self._is_alive(rank):
                    return None
            except Exception:
                # An error of the worker, or of its loss, of which the scheduler may not know yet.
                end = time.monotonic() + LOSS_SECONDS
                while self._is_alive(rank):
                    if time.monotonic() > end:
                        raise
                    time.sleep(0.1)
                return None
        return None

    def _is_alive(self, rank: int) -> bool:
        return self.addresses[rank] in self.client.nthreads()

    def replace(self, ranks: list[int]) -> None:
        """Load the partitions of lost workers again, on workers that have none if there are any."""
        for rank in ranks:
            self.addresses.pop(rank, None)
            self.actors[rank] = None
        for rank in [k for k, actor in enumerate(self.actors) if actor is None]:
            workers = self._workers()
            free = [address for address in workers if address not in self.addresses.values()]
            own = self.groups[rank]
            present = self._present(
                [delayed for delayed, _ in own],
                workers=free or workers,
                allow_other_workers=True,
            )
            partitions = [(future, own[k][1]) for k, future in present]
            self._start_actor(rank, (free or workers)[rank % len(free or workers)], partitions)

    def _workers(self) -> list[str]:
        """Addresses of all workers; waits for one, as a nanny may be starting it again."""
        end = time.monotonic() + self.patience
        while not (workers := sorted(self.client.nthreads())):
            if time.monotonic() > end:
                raise RuntimeError(
                    f"All workers are lost, and none has come back within {self.patience:g} s. The "
                    "finished rounds are in the model, and in the file of a Checkpoint, from "
                    "which a new cluster can resume."
                )
            time.sleep(0.1)
        return workers

    def close(self) -> None:
        """Cancel the tasks of the workers; errors of a cluster that is gone do not matter."""
        for actor in self.actors:
            with suppress(Exception):
                if actor is not None:
                    actor.cancel()
        with suppress(Exception):
            self.client.cancel(self.submitted)  # Dask holds reference cycles to its actors
        self.actors, self.groups, self.submitted = [], [], []
