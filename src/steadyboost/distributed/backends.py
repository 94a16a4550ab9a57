"""Where workers are: in this process, or on a Dask cluster."""

import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import dask
from dask.delayed import Delayed
from dask.utils import parse_timedelta
from distributed import Client, get_worker

from steadyboost.distributed.coordinator import WorkersLost
from steadyboost.distributed.preprocessing import Partition
from steadyboost.distributed.worker import WorkerActor

POLL_SECONDS = 1.0  # between checks whether a worker that has not answered is still there
LOSS_SECONDS = 10.0  # that a scheduler may take to notice that a worker is lost
PATIENCE = "30s"  # how long to wait for a worker where none is left


def with_rows(partitions: Sequence[Partition | None]) -> list[Partition]:
    return [own for own in partitions if own is not None]


class InProcessBackend:
    """Workers in this process, one after the other: no cluster is needed.

    ``n_workers`` is one by default: more are of use to tests alone.
    """

    def __init__(self, n_workers: int = 1, n_threads: int = 1):
        self.n_wanted, self.n_threads = n_workers, n_threads
        self.workers: list[WorkerActor] = []

    def compute(self, delayed: Sequence[Delayed]) -> list[Any]:
        return list(dask.compute(*delayed))

    def load(self, train: Sequence[Delayed], validation: Sequence[Delayed]) -> None:
        """Compute the partitions, and start workers that share them."""
        parts, held = with_rows(self.compute(train)), with_rows(self.compute(validation))
        n = self.n_workers = min(self.n_wanted, len(parts))
        self.workers = [WorkerActor(k, parts[k::n], held[k::n], self.n_threads) for k in range(n)]

    def call(self, method: str, message: bytes) -> list[bytes]:
        return [getattr(worker, method)(message) for worker in self.workers]

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


class ClusterBackend:
    """Workers of a cluster, as Dask actors: one for each Dask worker that has rows.

    Partitions are made by ordinary tasks, wherever the scheduler puts them. An actor that is lost
    is made again, of the same partitions, on the workers that are left.
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
        """Results of tasks; none is left running if one fails, or if this is interrupted."""
        futures = self.client.compute(list(delayed))
        try:
            return self.client.gather(futures)
        finally:
            self.client.cancel([future for future in futures if not future.done()])

    def _present(self, delayed: Sequence[Delayed], **where: Any) -> list[tuple[int, Any]]:
        """Futures of partitions, with their indices; partitions without rows are left out."""
        futures = self.client.compute(list(delayed), **where)
        try:
            known = self.client.gather(self.client.map(is_present, futures, pure=False))
        except BaseException:
            self.client.cancel(futures)
            raise
        return [(k, future) for k, future in enumerate(futures) if known[k]]

    def load(self, train: Sequence[Delayed], validation: Sequence[Delayed]) -> None:
        """Compute the partitions, and start an actor of those that are on each worker."""
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
        """Make the actor of some partitions, each for training or for validation."""
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
        """What a worker answers; None if it is lost."""
        while asked is not None:
            try:
                return asked.result(timeout=POLL_SECONDS)
            except TimeoutError:
                if not self._is_alive(rank):
                    return None
            except Exception:
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
                    f"All workers are lost, and none has come back in {self.patience:g} s. Rounds "
                    "that were finished are in the model, and in the file of a Checkpoint, from "
                    "which a new cluster can go on."
                )
            time.sleep(0.1)
        return workers

    def close(self) -> None:
        """Cancel what workers are doing; errors of a cluster that is gone do not matter."""
        for actor in self.actors:
            with suppress(Exception):
                if actor is not None:
                    actor.cancel()
        with suppress(Exception):
            self.client.cancel(self.submitted)  # Dask's own references to actors go in circles
        self.actors, self.groups, self.submitted = [], [], []
