"""Loops that threads share do each task once, whoever comes and whenever."""

import threading
import time

import numpy as np
import pytest

from steadyboost.ensemble.workers import Workers
from steadyboost.trees.crew import CALL, Crew, serve, shared_loop
from steadyboost.trees.jit import standing


@shared_loop
def _add_one(task, who, args):
    counts, by_whom = args
    counts[task] += 1
    by_whom[task] = who


@standing
def share_often(board, counts, by_whom, n_times):
    for _ in range(n_times):
        _add_one(board, len(counts), (counts, by_whom))


@shared_loop
def _wait(task, who, args):
    """Take some time."""
    values, by_whom = args
    by_whom[task] = who
    for _ in range(100_000):
        values[task] = np.sqrt(values[task] + 1)


@standing
def share_slowly(board, values, by_whom):
    _wait(board, len(values), (values, by_whom))


@pytest.mark.parametrize("n_tasks", [0, 1, 2, 3, 17])
@pytest.mark.parametrize("n_threads", [None, 1, 2, 3, 8])
def test_whoever_leads_does_what_nobody_else_does(n_threads, n_tasks):
    counts, by_whom = np.zeros(n_tasks), np.full(n_tasks, -1)
    share_often(None if n_threads is None else Crew(n_threads).board, counts, by_whom, 5)
    assert (counts == 5).all()
    assert (by_whom == 0).all()


@pytest.mark.parametrize("n_threads", [2, 3, 8])
def test_each_task_is_done_once(n_threads):
    with Workers(n_threads) as workers:
        for n_tasks in (1, 5, 64):
            counts, by_whom = np.zeros(n_tasks), np.empty(n_tasks)
            share_often(workers.crew.board, counts, by_whom, 3000)
            assert (counts == 3000).all()


def test_other_threads_take_part():
    by_whom, end = np.zeros(8), time.monotonic() + 60
    with Workers(2) as workers:
        while set(by_whom) != {0, 1} and time.monotonic() < end:  # it may have to be woken first
            share_slowly(workers.crew.board, np.ones(8), by_whom)
    assert set(by_whom) == {0, 1}


def test_threads_come_back_when_they_are_called():
    crew = Crew(2)
    thread = threading.Thread(target=serve, args=(crew.board, 1, 0))
    thread.start()
    time.sleep(0.05)  # long enough for it to sleep
    assert thread.is_alive()
    crew.board[CALL] = 1
    thread.join(timeout=5)
    assert not thread.is_alive()
    serve(crew.board, 1, 0)  # a call that is over: at once back


def test_threads_run_other_things_in_between():
    with Workers(3) as workers:
        for _ in range(20):
            counts, by_whom = np.zeros(9), np.empty(9)
            share_often(workers.crew.board, counts, by_whom, 10)
            assert (counts == 10).all()
            assert workers.run(str, range(50)) == list(map(str, range(50)))


def test_one_thread_leads():
    with Workers(2) as workers:
        found = []
        thread = threading.Thread(target=lambda: found.append(workers.crew))
        thread.start()
        thread.join()
        assert found == [None]
        assert workers.crew is not None
    assert workers.crew is None
    with Workers(1) as alone:
        assert alone.crew is None


def test_no_thread_is_left():
    before = threading.active_count()
    with Workers(4) as workers:
        share_slowly(workers.crew.board, np.ones(16), np.empty(16))
        assert threading.active_count() == before + 3
    assert threading.active_count() == before


def test_kernels_that_share_loops_are_kept():
    """What needs the addresses of this process would be compiled anew in each one."""
    for board in (None, Crew(2).board):
        share_often(board, np.zeros(3), np.zeros(3), 1)
    assert len(share_often.overloads) >= 2
    assert not any(made.library.has_dynamic_globals for made in share_often.overloads.values())
