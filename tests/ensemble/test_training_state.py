"""Blocks of rows, and weights that neither overflow nor depend on threads."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steadyboost.ensemble import training_state as module
from steadyboost.ensemble.scores import own_score
from steadyboost.ensemble.training_state import TrainingState
from steadyboost.ensemble.workers import Workers
from steadyboost.learners.base import Data


def make_rows(n=100, k=3, weights=None, workers=None):
    y = (np.arange(n) % k).astype(np.int32)
    return TrainingState(
        Data(np.arange(n, dtype=float)[:, None]), y, k, weights, workers or Workers(1)
    )


def fill(rows, scale=1.0, seed=0):
    rng = np.random.default_rng(seed)
    rows.each(lambda block: np.copyto(block.scores, scale * rng.normal(size=block.scores.shape)))


def minus_own(block):
    return -own_score(block.scores, block.y)


def expected_weights(rows):
    logs = -rows.scores[np.arange(len(rows)), rows.y]
    raised = np.exp(logs - logs.max()) * (1 if rows.sample_weight is None else rows.sample_weight)
    return raised / raised.sum()


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 2000), st.integers(2, 300))
def test_blocks_cover_all_rows_once_and_are_small(n, size):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "CHUNK_ROWS", size)
        rows = make_rows(n)
    lengths = [len(block.y) for block in rows.chunks]
    covered = np.concatenate([np.arange(n)[block.rows] for block in rows.chunks])
    np.testing.assert_array_equal(covered, np.arange(n))
    assert 0 < min(lengths) <= max(lengths) <= min(lengths) + 1 <= size + 1
    assert len(lengths) == 1 or len(lengths) % 2 == 0


def test_there_is_one_block_up_to_the_limit():
    assert len(make_rows(module.CHUNK_ROWS).chunks) == 1
    assert len(make_rows(module.CHUNK_ROWS + 1).chunks) == 2


@pytest.mark.parametrize("n_threads", [1, 2, 3])
def test_results_come_in_order_and_are_summed(n_threads, monkeypatch):
    monkeypatch.setattr(module, "CHUNK_ROWS", 10)
    with Workers(n_threads) as workers:
        rows = make_rows(97, workers=workers)
        starts = rows.each(lambda block: block.rows.start)
        assert starts == sorted(starts)
        assert rows.total(lambda block: len(block.y)) == 97
        assert rows.total(lambda block: np.bincount(block.y)).tolist() == [33, 32, 32]


def test_an_error_in_a_thread_is_raised(monkeypatch):
    monkeypatch.setattr(module, "CHUNK_ROWS", 10)

    def fail(block):
        raise RuntimeError(f"block at {block.rows.start}")

    with Workers(2) as workers, pytest.raises(RuntimeError, match="block at"):
        make_rows(workers=workers).each(fail)


@pytest.mark.parametrize("size", [1000, 7])
@pytest.mark.parametrize("weighted", [False, True])
def test_weights_are_exponentials_that_sum_to_one(size, weighted, monkeypatch):
    monkeypatch.setattr(module, "CHUNK_ROWS", size)
    rows = make_rows(weights=np.random.default_rng(1).exponential(size=100) if weighted else None)
    fill(rows)
    rows.weigh(minus_own)
    np.testing.assert_allclose(rows.weights, expected_weights(rows), rtol=1e-12)
    assert rows.weights.sum() == pytest.approx(1, abs=1e-12)


def test_without_scores_the_weights_are_the_users():
    rows = make_rows(4, weights=np.array([1.0, 2.0, 3.0, 4.0]))
    rows.weigh(minus_own)
    np.testing.assert_allclose(rows.weights, [0.1, 0.2, 0.3, 0.4], rtol=1e-14)


@pytest.mark.parametrize("scale", [1e3, 1e6, 1e12])
@pytest.mark.parametrize("size", [1000, 7])
def test_huge_scores_neither_overflow_nor_underflow(scale, size, monkeypatch):
    monkeypatch.setattr(module, "CHUNK_ROWS", size)
    rows = make_rows()
    fill(rows, scale)
    with np.errstate(over="raise", invalid="raise"):
        rows.weigh(minus_own)
    assert np.isfinite(rows.weights).all()
    assert rows.weights.sum() == pytest.approx(1)


def test_weights_do_not_depend_on_threads(monkeypatch):
    monkeypatch.setattr(module, "CHUNK_ROWS", 7)

    def weigh_with(n_threads):
        with Workers(n_threads) as workers:
            rows = make_rows(workers=workers)
            for block in rows.chunks:
                block.scores[:] = np.random.default_rng(block.rows.start).normal(
                    size=block.scores.shape
                )
            rows.weigh(minus_own)
        return rows.weights

    np.testing.assert_array_equal(weigh_with(1), weigh_with(2))
    np.testing.assert_array_equal(weigh_with(1), weigh_with(3))


def test_rows_can_be_taken_with_fresh_scores():
    rows = make_rows(10, weights=np.arange(1.0, 11.0))
    fill(rows)
    part = rows.take(np.array([1, 4, 7]), Workers(1))
    assert part.data.X.ravel().tolist() == [1, 4, 7]
    assert part.y.tolist() == [1, 1, 1]
    assert part.sample_weight.tolist() == [2, 5, 8]
    assert not part.scores.any()


@pytest.mark.parametrize("n_jobs", [1, 2, -1, None])
def test_workers_keep_the_order_of_their_items(n_jobs):
    with Workers.of_jobs(n_jobs) as workers:
        assert workers.run(lambda x: x * x, range(7)) == [0, 1, 4, 9, 16, 25, 36]
        assert workers.run(abs, []) == []
