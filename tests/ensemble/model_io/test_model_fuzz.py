"""Hostile and damaged model files give an error or a model that works: nothing else.

The mutations are drawn from fixed seeds. Those of the text and of the columns get sound checksums,
so that it is the checks of the reader that must find them.
"""

import copy
import io
import json
import warnings
import zipfile

import numpy as np
import pytest
from model_files import KINDS, each_kind, pack, sound_file, unpack

from steadyboost.ensemble.model_io.file import ModelFileError, load

N_MUTATIONS = 400  # of each sort, of each model
NASTY = [None, True, -1, 0, 1, 2, 5, 255, 2**31, 2**64, 10**400, -0.5, 1e308, "", "x", "Tree"]
NASTY += [[], {}, [[]], ["float64", -1], ["float64", 2**40], {"$float": "nan"}]
NASTY += [{"$new": ["os", {}]}, {"$record": ["os", {}]}, {"$dict": [[[], 1]]}, {"$tuple": {}}]
NASTY += [{"$array": ["<U99999999", [1], ["x"]]}, {"$array": ["O", [1], [[]]]}, {"$column": ["x"]}]
NUMBERS = [-1, 0, 1, 2, 3, 7, 127, 255, 2**31 - 1, -(2**31), 1e300, -1e308, np.nan, np.inf]


def flip_bytes(data, rng):
    changed = bytearray(data)
    for place in rng.integers(len(data), size=rng.integers(1, 9)):
        changed[place] ^= 1 << rng.integers(8) if rng.random() < 0.5 else rng.integers(1, 256)
    return bytes(changed)


def cut_and_paste(data, rng):
    a, b = sorted(rng.integers(len(data) + 1, size=2).tolist())
    return [data[:a], data[a:], data[:a] + data[b:], data[:b] + data[a:], data + data[a:b]][
        rng.integers(5)
    ]


def move_members(data, rng):
    members = list(unpack(data).items())
    i, j = rng.integers(len(members), size=2)
    (name, content), (other, other_content) = members[i], members[j]
    action = rng.integers(6)
    if action == 0:
        members[i], members[j] = (name, other_content), (other, content)
    elif action == 1:
        del members[i]
    elif action == 2:
        members.append((name, other_content))
    elif action == 3:
        members[i] = (["../x.npy", "x", "model.json", f"{name}.npy"][rng.integers(4)], content)
    elif action == 4:
        members[i] = (name, cut_and_paste(content, rng))
    else:
        members[i] = (name, flip_bytes(content, rng))
    return pack(members, rng.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED]))


def places(value, found):
    """Every (container, key) of a JSON value."""
    for key in value if isinstance(value, dict) else range(len(value)):
        found.append((value, key))
        if isinstance(value[key], (dict, list)):
            places(value[key], found)
    return found


def edit_text(data, rng):
    members = unpack(data)
    document = json.loads(members["model.json"])
    for _ in range(rng.integers(1, 3)):
        spots = places(document, [])
        container, key = spots[rng.integers(len(spots))]
        action = rng.integers(5)
        if action == 0:
            del container[key]
        elif action == 1 and isinstance(container, list):
            container.insert(key, copy.deepcopy(container[rng.integers(len(container))]))
        elif action == 2 and type(container[key]) in (int, float):
            container[key] += [-1, 1, 0.5, 10][rng.integers(4)]
        elif action == 3:
            other, place = spots[rng.integers(len(spots))]
            container[key] = copy.deepcopy(other[place])
        else:
            container[key] = NASTY[rng.integers(len(NASTY))]
    members["model.json"] = json.dumps(document).encode()
    return pack(members)


def edit_column(data, rng):
    members = unpack(data)
    names = [name for name in members if name.endswith(".npy")]
    name = names[rng.integers(len(names))]
    column = np.load(io.BytesIO(members[name]))
    action = rng.integers(6)
    with np.errstate(all="ignore"):
        if action == 0:
            column = np.resize(column, rng.integers(2 * len(column) + 1))
        elif action == 1:
            column = column.astype(rng.choice(["i1", "<i4", ">i4", "f4", "f8", "U2", "?", "c16"]))
        elif action == 2:
            column = column.reshape([(1, -1), (-1, 1), (-1, 1, 1)][rng.integers(3)])
        elif action == 3:
            rng.shuffle(column)
        else:
            for place in rng.integers(len(column), size=rng.integers(1, 4)):
                column[place] = np.array(NUMBERS[rng.integers(len(NUMBERS))]).astype(column.dtype)
    stream = io.BytesIO()
    np.save(stream, column)
    members[name] = stream.getvalue()
    if rng.random() < 0.2:  # the header of the array, which says its type and length
        members[name] = flip_bytes(members[name][:120], rng) + members[name][120:]
    return pack(members)


MUTATIONS = [flip_bytes, cut_and_paste, move_members, edit_text, edit_column]


def outcome(data, path):
    """Whether a file loads; if so, whether it works has been checked."""
    path.write_bytes(data)
    try:
        model = load(path)
    except ModelFileError:
        return False
    rng = np.random.default_rng(0)
    X = np.vstack(
        [rng.normal(size=(6, model.n_features_in_)), np.full(model.n_features_in_, np.nan)]
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # about names of features
        labels = model.predict(X)
        last = list(model.staged_predict(X))[-1]
    assert np.isin(labels, model.classes_).all()
    assert np.array_equal(labels, last)
    with np.errstate(all="ignore"):
        assert model.feature_importances_.shape == (model.n_features_in_,)
    return True


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
