"""Threads that share work: order, errors, calls inside of calls, and interruption."""

import signal
import subprocess
import sys
import threading
import time

import pytest

from steadyboost.ensemble.workers import Workers

PATIENCE = 60  # seconds after which threads are said to hang
each_number = pytest.mark.parametrize("n_jobs", [1, 2, 3, 8])


def in_time(function):
    """What a function returns or raises, in a thread of its own: a test that hangs must end."""
    found = []

    def call():
        try:
            found.append((function(), None))
        except BaseException as error:
            found.append((None, error))

    thread = threading.Thread(target=call, daemon=True)
    thread.start()
    thread.join(PATIENCE)
    assert found, "threads wait for each other"
    result, error = found[0]
    if error is not None:
        raise error
    return result


def slow_first(item):
    """The first items take longest."""
    time.sleep(0.01 / (1 + item))
    return item**2


@each_number
@pytest.mark.parametrize("n_items", [0, 1, 2, 3, 50])
def test_results_are_in_the_order_of_the_items(n_jobs, n_items):
    with Workers(n_jobs) as workers:
        for _ in range(3):
            assert workers.run(slow_first, range(n_items)) == [i**2 for i in range(n_items)]


def test_other_threads_take_part_and_so_does_the_caller():
    meeting = threading.Barrier(3, timeout=PATIENCE)

    def meet(_):
        meeting.wait()  # until three threads are here
        return threading.current_thread()

    with Workers(3) as workers:
        threads = workers.run(meet, range(3))
    assert len(set(threads)) == 3
    assert threading.current_thread() in threads


def test_one_thread_does_all_in_place():
    with Workers(1) as workers:
        threads = workers.run(lambda _: threading.current_thread(), range(5))
    assert set(threads) == {threading.current_thread()}


def test_no_thread_is_left():
    before = threading.active_count()
    with Workers(4) as workers:
        workers.run(slow_first, range(40))
        assert threading.active_count() <= before + 3
    assert threading.active_count() == before


@each_number
@pytest.mark.parametrize("kind", [ValueError, KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize("wrong", range(4))
def test_an_error_of_any_item_is_raised_in_the_caller(wrong, kind, n_jobs):
    done = []

    def work(item):
        if item == wrong:
            raise kind(f"item {item}")
        done.append(item)

    with Workers(n_jobs) as workers:
        with pytest.raises(kind, match=f"item {wrong}"):
            in_time(lambda: workers.run(work, range(4)))
        assert in_time(lambda: workers.run(abs, [-1, -2, -3, -4, -5])) == [1, 2, 3, 4, 5]
    assert wrong not in done


@pytest.mark.parametrize("fails", ["caller", "other"])
@pytest.mark.parametrize("kind", [ValueError, KeyboardInterrupt])
def test_an_error_of_either_thread_is_raised_in_the_caller(kind, fails):
    meeting = threading.Barrier(2, timeout=PATIENCE)

    def call(workers):
        caller = threading.current_thread()

        def work(_):
            meeting.wait()  # so that both threads have an item
            if (threading.current_thread() is caller) == (fails == "caller"):
                raise kind(fails)

        return workers.run(work, range(2))

    with Workers(2) as workers, pytest.raises(kind, match=fails):
        in_time(lambda: call(workers))


def test_an_interruption_does_not_wait_for_items_that_look_at_it():
    with Workers(2) as workers:
        caller, begun, alone = threading.current_thread(), threading.Event(), workers.alone()

        def work(_):
            if threading.current_thread() is caller:
                assert begun.wait(PATIENCE)
                raise KeyboardInterrupt
            begun.set()
            while True:
                alone.check()

        with pytest.raises(KeyboardInterrupt):
            workers.run(work, range(2))
        assert workers.run(abs, [-1, -2]) == [1, 2]
        alone.check()


def test_an_error_of_every_thread_is_raised_once():
    def fail(item):
        raise ValueError(f"item {item}")

    with Workers(3) as workers, pytest.raises(ValueError, match="item"):
        in_time(lambda: workers.run(fail, range(20)))


def test_after_an_error_of_the_caller_nothing_new_begins():
    begun, failed = [], threading.Event()

    def call(workers):
        caller = threading.current_thread()

        def work(item):
            begun.append(item)
            if threading.current_thread() is caller:
                failed.set()
                raise ValueError("caller")
            failed.wait(PATIENCE)
            time.sleep(0.05)

        return workers.run(work, range(100))

    with Workers(2) as workers, pytest.raises(ValueError, match="caller"):
        in_time(lambda: call(workers))
    assert len(begun) <= 3


@each_number
def test_what_runs_in_threads_may_run_more_in_them(n_jobs):
    with Workers(n_jobs) as workers:

        def inner(i):
            return workers.run(lambda j: (i, j), range(5))

        found = in_time(lambda: workers.run(inner, range(6)))
    assert found == [[(i, j) for j in range(5)] for i in range(6)]


@each_number
def test_runs_inside_of_runs_do_not_wait_for_each_other(n_jobs):
    """Three levels, with more items than threads on each."""
    with Workers(n_jobs) as workers:

        def total(depth):
            time.sleep(0.001)
            return 1 if depth == 0 else sum(workers.run(lambda _: total(depth - 1), range(4)))

        for _ in range(3):
            assert in_time(lambda: total(3)) == 64


def test_an_error_deep_inside_comes_out():
    with Workers(3) as workers:

        def inner(i):
            return workers.run(lambda j: 1 // (i - j), range(4))

        with pytest.raises(ZeroDivisionError):
            in_time(lambda: workers.run(inner, range(4)))
        assert in_time(lambda: workers.run(abs, range(9))) == list(range(9))


def test_two_callers_may_share_the_threads():
    with Workers(3) as workers:

        def call(base):
            return workers.run(lambda i: slow_first(i) + base, range(30))

        found = in_time(lambda: Workers(1).run(call, [0, 1000]))
        with Workers(2) as callers:
            assert in_time(lambda: callers.run(call, [0, 1000])) == found


INTERRUPTED = """
import os, signal, threading, time
from steadyboost.ensemble.workers import Workers

begun = []

def work(item):
    begun.append(item)
    time.sleep(0.2)

def interrupt():
    while not begun:
        time.sleep(0.01)
    os.kill(os.getpid(), signal.SIGINT)

signal.signal(signal.SIGINT, signal.default_int_handler)
interrupter = threading.Thread(target=interrupt)
interrupter.start()
try:
    with Workers(2) as workers:
        workers.run(work, range(10_000))
except KeyboardInterrupt:
    interrupter.join()
    print("interrupted", len(begun) < 20, threading.active_count())
"""


@pytest.mark.skipif(not hasattr(signal, "SIGINT"), reason="needs signals")
def test_an_interruption_by_the_user_ends_the_run():
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, timeout=PATIENCE
    )
    assert done.stdout.split() == ["interrupted", "True", "1"], done.stderr
