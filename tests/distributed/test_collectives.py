"""Strands wait at meetings, side by side, and can be left."""

import threading
import time

import pytest

from steadyboost.distributed.collectives import Spread, Strands
from steadyboost.distributed.coordinator import concluded


class Game:
    """Some machines in this thread: each function of its workers runs until all meet."""

    def __init__(self, n):
        self.strands = [Strands() for _ in range(n)]
        self.workers = [Spread(own, 1, k) for k, own in enumerate(self.strands)]
        self.n_trips = 0

    def play(self, function):
        brought = [
            own.start(lambda w=w: function(w))
            for own, w in zip(self.strands, self.workers, strict=True)
        ]
        while brought[0] is not None:
            self.n_trips += 1
            conclusions = concluded(brought)
            brought = [own.go_on(conclusions) for own in self.strands]
        return [own.result() for own in self.strands]


@pytest.fixture
def game():
    made = Game(3)
    yield made
    for own in made.strands:
        own.close()


def test_all_get_the_conclusion_of_all_values_in_order(game):
    found = game.play(lambda w: w.meet([w.number, -w.number], list, [w.number, -w.number]))
    assert found == [[-2, -1, 0, 0, 1, 2]] * 3


def test_meetings_follow_each_other(game):
    assert game.play(lambda w: w.meet([w.meet([1], sum)], sum)) == [9] * 3
    assert game.n_trips == 2


def test_what_is_done_side_by_side_meets_in_one_trip(game):
    def three_times(w):
        return w.side_by_side(lambda k: w.meet([w.meet([k], sum)], sum), [1, 2, 3])

    assert game.play(three_times) == [[9, 18, 27]] * 3
    assert game.n_trips == 2


def test_side_by_side_within_side_by_side(game):
    def inner(w, k):
        return w.side_by_side(lambda j: w.meet([10 * k + j], sum), range(k + 2))

    found = game.play(lambda w: w.side_by_side(lambda k: inner(w, k), range(3)))
    assert found == [[[0, 3], [30, 33, 36], [60, 63, 66, 69]]] * 3
    assert game.n_trips == 1


def test_strands_of_different_lengths(game):
    def repeat(w, n):
        return sum(w.meet([1], sum) for _ in range(n))

    found = game.play(lambda w: w.side_by_side(lambda n: repeat(w, n), [0, 3, 1]))
    assert found == [[0, 9, 3]] * 3
    assert game.n_trips == 3


def test_an_error_in_a_strand_is_raised_outside(game):
    def fail(w):
        return w.side_by_side(lambda k: w.meet([k], sum) / (k - 1), [0, 1])

    with pytest.raises(ZeroDivisionError):
        game.play(fail)
    assert game.play(lambda w: w.meet([1], sum)) == [3] * 3  # and they can go on with other things


def test_machines_that_part_ways_are_noticed(game):
    with pytest.raises(RuntimeError, match="different places"):
        game.play(lambda w: w.side_by_side(lambda k: w.meet([k], sum), range(w.number + 2)))


def test_threads_live_on_until_they_are_closed(game):
    for _ in range(5):
        game.play(lambda w: w.side_by_side(lambda k: w.meet([k], sum), range(4)))
    alive = [own for own in game.strands[0]._threads if own.is_alive()]
    assert len(alive) == 5
    game.strands[0].close()
    for thread in alive:
        thread.join(5)
    assert not any(thread.is_alive() for thread in alive)


def test_strands_that_are_abandoned_end():
    strands = Strands()
    workers = Spread(strands, 1, 0)
    strands.start(lambda: workers.side_by_side(lambda k: workers.meet([k], sum), range(3)))
    strands.abandon()
    strands.close()
    before = time.monotonic()
    while any(
        t.name == "steadyboost strand" and t in strands._threads for t in threading.enumerate()
    ):
        assert time.monotonic() - before < 5
        time.sleep(0.01)
