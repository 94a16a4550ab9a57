"""Model files that someone made up: each gives an error, and a small one."""

import re
import struct
import tracemalloc
import zipfile

import numpy as np
import pytest
from model_files import each_kind, edited, error_of, pack, sound_file, unpack

from steadyboost.ensemble.model_io.checks import ModelFileError, check_branches, check_tree


@each_kind
@pytest.mark.parametrize(
    ("key", "value", "reason"),
    [
        ("format", "zip", "another format"),
        ("version", 3, "newer steadyboost"),
        ("booster", "os.system", "is not a booster"),
        ("booster", "__version__", "is not a booster"),
        ("booster", "Tree", "is not a booster"),
        ("seed", -1, "seed"),
        ("feature_names", ["a"], "a name per feature"),
        ("feature_names", ["a", "b", "c", "a"], "one name"),
        ("fitted", {"predict": 1}, "cannot be a fitted attribute"),
        ("fitted", {"n_jobs": 0}, "cannot be a fitted attribute"),
        ("fitted", {"__class__": 0}, "cannot be a fitted attribute"),
        ("fitted", {"estimators_": 0}, "cannot be a fitted attribute"),
        ("history", [{}], "round"),
        ("categories", [None], "categories"),
        ("categories", [*[None] * 3, {"date_parts": ["century"]}], "parts of dates"),
        ("categories", [*[None] * 3, {"date_parts": []}], "parts of dates"),
        ("categories", [*[None] * 3, {"date_parts": None}], "parts of dates"),
        ("categories", [*[None] * 3, {"date_parts": "year"}], "parts of dates"),
        ("stages", [], "steps"),
        ("notes", 1, "notes"),
    ],
)
def test_reasons(key, value, reason, kind, tmp_path):
    data = edited(sound_file(kind), lambda document: document.update({key: value}))
    assert reason in error_of(data, tmp_path)


def test_a_tree_needs_bins(tmp_path):
    data = edited(sound_file("SAMME"), lambda document: document.update(bins=None))
    assert "bins" in error_of(data, tmp_path)


@each_kind
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("n_estimators", -1),
        ("unheard_of", 1),
        ("callbacks", []),
        ("estimator", {"$new": ["Popen", {"args": "true"}]}),
        ("estimator", {"$new": ["Tree", {"max_depth": "deep"}]}),
        ("estimator", {"$record": ["Tree", {}]}),
    ],
)
def test_parameters(name, value, kind, tmp_path):
    error_of(
        edited(sound_file(kind), lambda document: document["params"].update({name: value})),
        tmp_path,
    )


CHILDREN = {
    "cycle": [[1, 2], [0, 0], [2, 2]],
    "two parents": [[1, 1], [1, 1], [2, 2]],
    "orphan": [[0, 0], [1, 1], [2, 2]],
    "outside": [[1, 3], [1, 1], [2, 2]],
    "negative": [[1, -1], [1, 1], [2, 2]],
    "half a leaf": [[1, 2], [1, 2], [2, 2]],
    "backwards": [[2, 1], [1, 1], [1, 1]],
}


@pytest.mark.parametrize("children", CHILDREN.values(), ids=CHILDREN.keys())
def test_trees_that_are_none(children):
    assert check_tree(np.zeros(3), np.array([[1, 2], [1, 1], [2, 2]]), 1) == 1
    with pytest.raises(ModelFileError):
        check_tree(np.zeros(3), np.array(children), 1)


BRANCHES = {  # of each node: first branch and number of branches
    "cycle": [(1, 2), (0, 1), (-1, 0)],
    "two parents": [(1, 2), (2, 2), (-1, 0), (-1, 0)],
    "orphan": [(-1, 0), (-1, 0)],
    "outside": [(1, 3), (-1, 0), (-1, 0)],
    "overflow": [(2**63 - 1, 2), (-1, 0), (-1, 0)],
    "one side": [(1, 1), (-1, 0)],
}


@pytest.mark.parametrize("branches", BRANCHES.values(), ids=BRANCHES.keys())
def test_c45_trees_that_are_none(branches):
    def tree(branches):
        first, n_branches = np.array(branches).T
        attribute = np.where(n_branches > 0, 0, -1)
        vectors = {"attribute": attribute, "first_child": first, "n_branches": n_branches}
        return {**vectors, "threshold": np.zeros(len(first))}

    check_branches(tree([(1, 2), (3, 2), (-1, 0), (-1, 0), (-1, 0)]), 1)
    with pytest.raises(ModelFileError):
        check_branches(tree(branches), 1)


def peak(data, tmp_path):
    """Megabytes that refusing a file takes."""
    tracemalloc.start()
    error_of(data, tmp_path)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return most / 1e6


@each_kind
def test_a_file_that_is_cut_off(kind, tmp_path):
    original = sound_file(kind)
    for length in range(0, len(original), 61):
        error_of(original[:length], tmp_path)


@each_kind
def test_a_bomb_does_not_unfold(kind, tmp_path):
    members = unpack(sound_file(kind))
    members["steps.float64.npy"] += bytes(30_000_000)
    data = pack(members, zipfile.ZIP_DEFLATED)
    assert len(data) < 100_000
    assert peak(data, tmp_path) < 5


@each_kind
def test_sizes_that_are_not_there(kind, tmp_path):
    """The directory, a header and the text each promise gigabytes."""
    members = unpack(sound_file(kind))
    data = bytearray(pack(members))
    entry = data.index(b"PK\x01\x02")
    for bound in (0, data.index(b"PK\x01\x02")):
        struct.pack_into("<II", data, entry + 20, 2**31 + bound, 2**31 + bound)
        assert peak(bytes(data), tmp_path) < 5
    header = re.sub(rb"\(\d,\)", b"(9999999999,)", members["steps.float64.npy"])
    assert peak(pack({**members, "steps.float64.npy": header}), tmp_path) < 5
    large = edited(sound_file(kind), lambda document: document.update(steps=["float64", 2**40]))
    assert peak(large, tmp_path) < 5


@each_kind
def test_texts_that_are_costly_to_read(kind, tmp_path):
    members = unpack(sound_file(kind))
    for text in (b"[" * 100_000, b"[" * 5_000_000, b"9" * 100_000, b'{"a":' * 100_000, b"\xff"):
        assert peak(pack({**members, "model.json": text}), tmp_path) < 20
