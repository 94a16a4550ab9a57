"""Hostile and damaged model files give an error or a model that works: nothing else.

The mutations are those of ``tests/fuzz/models.py``, drawn here from fixed seeds.
"""

import numpy as np
import pytest
from fuzz.models import MUTATIONS, outcome
from model_files import KINDS, each_kind, sound_file

N_MUTATIONS = 400  # of each sort, of each model


@each_kind
@pytest.mark.parametrize("mutate", MUTATIONS, ids=lambda mutate: mutate.__name__)
def test_mutations(mutate, kind, tmp_path):
    rng = np.random.default_rng([MUTATIONS.index(mutate), KINDS.index(kind)])
    original, path = sound_file(kind), tmp_path / "mutated.sb"
    loaded = sum(outcome(mutate(original, rng), path) for _ in range(N_MUTATIONS))
    assert loaded < N_MUTATIONS / 2


def test_the_fuzz_is_large_enough():
    assert len(KINDS) * len(MUTATIONS) * N_MUTATIONS >= 10_000


@each_kind
def test_every_prefix_is_an_error(kind, tmp_path):
    original, path = sound_file(kind), tmp_path / "cut.sb"
    for length in range(0, len(original), 7):
        assert not outcome(original[:length], path)
