"""Hostile and damaged model files give an error or a model that works: nothing else.

The mutations are drawn from fixed seeds. Those of the text and of the columns get sound checksums,
so that it is the checks of the reader that must find them.
"""

import copy
import io
import json
import struct
import time
import tracemalloc
import warnings
import zipfile

import numpy as np
import pytest
from common import make, problem

from steadyboost import (
    C45,
    AdaBoostM2Classifier,
    MSmoothBoostClassifier,
    SAMMEClassifier,
    Tree,
)
from steadyboost.core.model_checks import check_branches, check_tree
from steadyboost.core.model_file import ModelFileError, load_model, save_model

N_MUTATIONS = 670  # of each of the 5 kinds, of each of the 3 models
NASTY = [None, True, -1, 0, 1, 2, 5, 255, 2**31, 2**64, 10**400, -0.5, 1e308, "", "x", "Tree"]
NASTY += [
    [],
    {},
    [[]],
    ["float64", -1],
    ["float64", 2**40],
    {"$float": "nan"},
    {"$new": ["os", {}]},
]
NASTY += [{"$array": ["<U99999999", [1], ["x"]]}, {"$array": ["O", [1], [[]]]}, {"$column": ["x"]}]
NUMBERS = [-1, 0, 1, 2, 3, 7, 127, 255, 2**31 - 1, -(2**31), 1e300, -1e308, np.nan, np.inf]


def small_models():
    X, y = problem(n=40, n_features=4)
    X[:, 1] = np.round(X[:, 1])
    labels = np.array(["a", "b", "c"])[y]
    params = {"estimator": Tree(max_depth=2), "n_estimators": 3, "categorical_features": [1]}
    yield make(SAMMEClassifier, **params).fit(X, labels)
    yield make(MSmoothBoostClassifier, smoothing=0.5, **params).fit(X, y)
    yield make(AdaBoostM2Classifier, **{**params, "estimator": C45()}).fit(X, y)


@pytest.fixture(scope="module", params=[0, 1, 2], ids=["SAMME", "MSmoothBoost", "C4.5"])
def original(request, tmp_path_factory):
    """The bytes of a sound file."""
    path = tmp_path_factory.mktemp("original") / "model.sb"
    save_model(list(small_models())[request.param], path)
    return path.read_bytes()


def unpack(data):
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def pack(members, compression=zipfile.ZIP_STORED):
    stream = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(stream, "w", compression) as archive:
        warnings.simplefilter("ignore")  # a name that comes twice is what we want
        for name, data in members.items() if isinstance(members, dict) else members:
            archive.writestr(name, data)
    return stream.getvalue()


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
        model = load_model(path)
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


@pytest.mark.parametrize("mutate", MUTATIONS, ids=lambda mutate: mutate.__name__)
def test_mutations(mutate, original, tmp_path):
    rng = np.random.default_rng([MUTATIONS.index(mutate), len(original)])
    path = tmp_path / "mutated.sb"
    loaded = sum(outcome(mutate(original, rng), path) for _ in range(N_MUTATIONS))
    assert loaded < N_MUTATIONS / 2


def test_the_fuzz_is_large_enough():
    assert 3 * len(MUTATIONS) * N_MUTATIONS >= 10_000


def test_every_prefix_is_an_error(original, tmp_path):
    path = tmp_path / "cut.sb"
    for length in range(0, len(original), 7):
        assert not outcome(original[:length], path)


def edited(original, change):
    """A file whose JSON a function has changed."""
    members = unpack(original)
    document = json.loads(members["model.json"])
    change(document)
    members["model.json"] = json.dumps(document).encode()
    return pack(members)


def error_of(data, tmp_path):
    path = tmp_path / "hostile.sb"
    path.write_bytes(data)
    with pytest.raises(ModelFileError, match="is not a sound model file") as caught:
        load_model(path)
    return str(caught.value)


@pytest.mark.parametrize(
    ("key", "value", "reason"),
    [
        ("format", "zip", "another format"),
        ("version", 2, "newer steadyboost"),
        ("booster", "os.system", "no booster"),
        ("booster", "__version__", "no booster"),
        ("booster", "Tree", "no booster"),
        ("seed", -1, "seed"),
        ("feature_names", ["a"], "a name per feature"),
        ("fitted", {"predict": 1}, "cannot be a fitted attribute"),
        ("fitted", {"n_jobs": 0}, "cannot be a fitted attribute"),
        ("fitted", {"__class__": 0}, "cannot be a fitted attribute"),
        ("fitted", {"estimators_": 0}, "cannot be a fitted attribute"),
        ("history", [{}], "round"),
        ("categories", [None], "categories"),
        ("stages", [], "steps"),
        ("notes", 1, "notes"),
    ],
)
def test_reasons(key, value, reason, original, tmp_path):
    data = edited(original, lambda document: document.update({key: value}))
    assert reason in error_of(data, tmp_path)


def test_a_tree_needs_bins(tmp_path):
    save_model(next(small_models()), tmp_path / "model.sb")
    data = (tmp_path / "model.sb").read_bytes()
    assert "bins" in error_of(edited(data, lambda text: text.update(bins=None)), tmp_path)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("n_estimators", -1),
        ("n_jobs", 0),
        ("unheard_of", 1),
        ("callbacks", []),
        ("estimator", {"$new": ["Popen", {"args": "true"}]}),
        ("estimator", {"$new": ["Tree", {"max_depth": "deep"}]}),
        ("estimator", {"$record": ["Tree", {}]}),
    ],
)
def test_parameters(name, value, original, tmp_path):
    error_of(edited(original, lambda document: document["params"].update({name: value})), tmp_path)


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


def test_a_bomb_does_not_unfold(original, tmp_path):
    members = unpack(original)
    members["steps.float64.npy"] += bytes(30_000_000)
    data = pack(members, zipfile.ZIP_DEFLATED)
    assert len(data) < 100_000
    assert peak(data, tmp_path) < 5


def test_sizes_that_are_not_there(original, tmp_path):
    """The directory, a header and the text each promise gigabytes."""
    members = unpack(original)
    data = bytearray(pack(members))
    entry = data.index(b"PK\x01\x02")
    for bound in (0, data.index(b"PK\x01\x02")):
        struct.pack_into("<II", data, entry + 20, 2**31 + bound, 2**31 + bound)
        assert peak(bytes(data), tmp_path) < 5
    header = members["steps.float64.npy"].replace(b"(3,)", b"(9999999999,)")
    assert peak(pack({**members, "steps.float64.npy": header}), tmp_path) < 5
    large = edited(original, lambda document: document.update(steps=["float64", 2**40]))
    assert peak(large, tmp_path) < 5


def test_texts_that_are_costly_to_read(original, tmp_path):
    members = unpack(original)
    for text in (b"[" * 100_000, b"[" * 5_000_000, b"9" * 100_000, b'{"a":' * 100_000, b"\xff"):
        started = time.perf_counter()
        assert peak(pack({**members, "model.json": text}), tmp_path) < 20
        assert time.perf_counter() - started < 5
