"""CollectiveTasks wait at meetings, side by side, and can be left."""

import threading
import time

import pytest

from steadyboost.distributed.collectives import CollectiveTasks, DistributedWorkers
from steadyboost.distributed.coordinator import reduce_all

PATIENCE = 60  # seconds after which a thread is said to hang


class Game:
    """Some workers in this thread: each function of its workers runs until all wait."""

    def __init__(self, n):
        self.tasks = [CollectiveTasks() for _ in range(n)]
        self.workers = [DistributedWorkers(own, 1, k) for k, own in enumerate(self.tasks)]
        self.n_trips = 0

    def play(self, function):
        contributed = [
            own.start(lambda w=w: function(w))
            for own, w in zip(self.tasks, self.workers, strict=True)
        ]
        while contributed[0] is not None:
            self.n_trips += 1
            reduced = reduce_all(contributed)
            contributed = [own.resume(reduced) for own in self.tasks]
        return [own.result() for own in self.tasks]


@pytest.fixture
def game():
    made = Game(3)
    yield made
    for own in made.tasks:
        own.close()


def test_all_get_the_reduced_values_in_order(game):
    found = game.play(lambda w: w.allreduce([w.rank, -w.rank], list, [w.rank, -w.rank]))
    assert found == [[-2, -1, 0, 0, 1, 2]] * 3


def test_one_allreduce_after_another(game):
    assert game.play(lambda w: w.allreduce([w.allreduce([1], sum)], sum)) == [9] * 3
    assert game.n_trips == 2


def test_a_parallel_map_takes_one_trip(game):
    def three_times(w):
        return w.parallel_map(lambda k: w.allreduce([w.allreduce([k], sum)], sum), [1, 2, 3])

    assert game.play(three_times) == [[9, 18, 27]] * 3
    assert game.n_trips == 2


def test_parallel_maps_within_parallel_maps(game):
    def inner(w, k):
        return w.parallel_map(lambda j: w.allreduce([10 * k + j], sum), range(k + 2))

    found = game.play(lambda w: w.parallel_map(lambda k: inner(w, k), range(3)))
    assert found == [[[0, 3], [30, 33, 36], [60, 63, 66, 69]]] * 3
    assert game.n_trips == 1


def test_tasks_of_different_lengths(game):
    def repeat(w, n):
        return sum(w.allreduce([1], sum) for _ in range(n))

    found = game.play(lambda w: w.parallel_map(lambda n: repeat(w, n), [0, 3, 1]))
    assert found == [[0, 9, 3]] * 3
    assert game.n_trips == 3


def test_an_error_in_a_task_is_raised_outside(game):
    def fail(w):
        return w.parallel_map(lambda k: w.allreduce([k], sum) / (k - 1), [0, 1])

    with pytest.raises(ZeroDivisionError):
        game.play(fail)
    assert game.play(lambda w: w.allreduce([1], sum)) == [3] * 3  # they can be used again


def test_workers_that_part_ways_are_noticed(game):
    with pytest.raises(RuntimeError, match="not at the same allreduce"):
        game.play(lambda w: w.parallel_map(lambda k: w.allreduce([k], sum), range(w.rank + 2)))


def test_threads_live_on_until_they_are_closed(game):
    for _ in range(5):
        game.play(lambda w: w.parallel_map(lambda k: w.allreduce([k], sum), range(4)))
    alive = [own for own in game.tasks[0]._threads if own.is_alive()]
    assert len(alive) == 5
    game.tasks[0].close()
    for thread in alive:
        thread.join(PATIENCE)
    assert not any(thread.is_alive() for thread in alive)


def test_tasks_that_are_cancelled_end():
    tasks = CollectiveTasks()
    workers = DistributedWorkers(tasks, 1, 0)
    tasks.start(lambda: workers.parallel_map(lambda k: workers.allreduce([k], sum), range(3)))
    tasks.cancel()
    tasks.close()
    before = time.monotonic()
    while any(t.name == "steadyboost task" and t in tasks._threads for t in threading.enumerate()):
        assert time.monotonic() - before < PATIENCE
        time.sleep(0.01)
