"""What a file may say of fitted attributes and stages, and what reading it may cost."""

import json
import tracemalloc
import zipfile
from contextlib import suppress

import numpy as np
import pytest
from common import BOOSTERS, make, problem, quiet
from model_files import edited, error_of, pack, unpack

from steadyboost import (
    BaggingClassifier,
    SAMMEClassifier,
    SteadyBoostClassifier,
    Tree,
)
from steadyboost.ensemble.model_io.file import ModelFileError, load, save_model

X, Y = problem(n=60, n_features=4)
TABLES = {
    *("classes_", "n_classes_", "n_features_in_", "feature_names_in_", "stages_", "history_"),
    *("_seed", "_encoder", "_binner"),
}
each_booster = pytest.mark.parametrize("booster", BOOSTERS, ids=lambda booster: booster.__name__)


def file_of(model, tmp_path):
    save_model(model, tmp_path / "sound.sb")
    return (tmp_path / "sound.sb").read_bytes()


@pytest.fixture(scope="module")
def steady(tmp_path_factory):
    model = SteadyBoostClassifier(n_estimators=3, random_state=0, n_jobs=1).fit(X, Y)
    return file_of(model, tmp_path_factory.mktemp("steady"))


@each_booster
def test_each_fitted_attribute_has_a_field(booster):
    """One without would be missing after ``load``: name it in ``fitted_fields``."""
    model = quiet(make(booster, n_estimators=3).fit, X, Y)
    own = {name for name in vars(model) if name not in TABLES and name not in model.get_params()}
    own = {
        name
        for name in own - set(model.does_without)
        if not name.startswith(("_skl", "_callback", "_parent_callback"))
    }
    assert own - set(model.not_in_files) <= model.fitted_fields().keys()
    assert set(model.needed_fields) <= own


@pytest.mark.parametrize("name", ["_given", "estimator", "_parameter_constraints", "x_", "fit"])
def test_attributes_that_are_none_of_the_booster(name, tmp_path):
    sound = file_of(make(SAMMEClassifier, n_estimators=2).fit(X, Y), tmp_path)
    data = edited(sound, lambda document: document["fitted"].update({name: 1}))
    assert "cannot be a fitted attribute" in error_of(data, tmp_path)


@pytest.mark.parametrize(
    "name", ["rounds_", "_class_factors", "_start", "_mixture", "_n_leaves", "leaf_sizes_"]
)
def test_attributes_that_are_missing(name, steady, tmp_path):
    data = edited(steady, lambda document: document["fitted"].pop(name))
    assert "must be in the file" in error_of(data, tmp_path)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("_kernel_precision", -2.0),
        ("_kernel_precision", "x"),
        ("_class_factors", None),
        ("_mixes", 1),
        ("_n_folds", 0),
        ("_n_folds", 10**9),
        ("_given", {"$array": ["<i4", [2], [0, 99]]}),
        ("_given", {"$array": ["<U1", [1], ["a"]]}),
        ("_mixture", {"$array": ["<f8", [1, 1], [1.0]]}),
        ("_mixture", {"$array": ["<f8", [3, 3], [1.0] * 9]}),
        ("transition_matrix_", {"$array": ["<f8", [3, 3], [-1.0] * 9]}),
        ("member_weights_", {"$array": ["<f8", [3], [-1.0, 1.0, 1.0]]}),
        ("rounds_", {"$array": ["<f8", [5], [0.5] * 5]}),
        ("noise_rate_interval_", [0.1, 0.2]),
    ],
)
def test_attributes_out_of_range(name, value, steady, tmp_path):
    error_of(edited(steady, lambda document: document["fitted"].update({name: value})), tmp_path)


def with_numbers(data, name, value):
    """A file with all numbers of a column replaced."""
    members = unpack(data)
    member = next(m for m in members if m.startswith(f"{name}.") and m.endswith(".npy"))
    raw = members[member]
    start = raw.index(b"\n") + 1
    column = np.frombuffer(raw[start:], dtype="<f8").copy()
    column[:] = value
    return pack({**members, member: raw[:start] + column.tobytes()})


@pytest.mark.parametrize("step", [-1.0, 0.0, np.nan, np.inf, 1e200])
def test_steps_that_no_vote_has(step, tmp_path):
    sound = file_of(BaggingClassifier(n_estimators=3, random_state=0).fit(X, Y), tmp_path)
    error_of(with_numbers(sound, "steps", step), tmp_path)


@pytest.mark.parametrize("gain", [-1.0, -1e300, 1e300, np.nan])
def test_gains_that_no_split_has(gain, tmp_path):
    sound = file_of(make(SAMMEClassifier, n_estimators=2).fit(X, Y), tmp_path)
    error_of(with_numbers(sound, "tree.gain", gain), tmp_path)


@pytest.mark.parametrize("value", [-1.0, 1e200, np.inf])
def test_values_that_no_leaf_has(value, steady, tmp_path):
    error_of(with_numbers(steady, "leaves.value", value), tmp_path)


def test_stages_of_another_booster(steady, tmp_path):
    def swap(document):
        document["booster"] = "BaggingClassifier"
        document["params"], document["fitted"] = {}, {}

    error_of(edited(steady, swap), tmp_path)


def test_a_history_that_is_too_short(tmp_path):
    sound = file_of(make(SAMMEClassifier, n_estimators=3).fit(X, Y), tmp_path)
    data = edited(sound, lambda document: document["history"].clear())
    assert "no record in the history" in error_of(data, tmp_path)


def test_settings_of_a_run_are_not_taken_from_a_file(tmp_path):
    model = make(SAMMEClassifier, n_estimators=2, n_jobs=2, verbose=0).fit(X, Y)
    sound = file_of(model, tmp_path)
    hostile = edited(sound, lambda d: d["params"].update(n_jobs=100_000, verbose=1))
    for data in (sound, hostile):
        (tmp_path / "model.sb").write_bytes(data)
        loaded = load(tmp_path / "model.sb")
        assert loaded.n_jobs is None
        assert not loaded.verbose


# The budget


def cost(data, tmp_path):
    """Megabytes until a file is loaded or refused."""
    path = tmp_path / "costly.sb"
    path.write_bytes(data)
    tracemalloc.start()
    with suppress(ModelFileError):
        load(path)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return most / 1e6


def allowed(data):
    """Megabytes: the budget, what Python's objects add to it, and those of the test."""
    return (100 * len(data) + 2**21) * 4 / 1e6 + 5


def with_texts(document):
    texts = ["x" * 400_000, *["y"] * 100_000]
    document["notes"] = {"a": {"$array": ["<U400000", [len(texts)], texts]}}


def with_classes(document):
    names = [f"{k:06}" for k in range(30_000)]
    document["classes"] = {"$array": ["<U6", [len(names)], names]}


def with_lists(document):
    document["notes"] = {"a": [[]] * 500_000}


@pytest.mark.parametrize("change", [with_texts, with_classes, with_lists])
def test_texts_that_unfold_to_much_memory(change, tmp_path):
    sound = file_of(make(SAMMEClassifier, n_estimators=2).fit(X, Y), tmp_path)
    data = pack(unpack(edited(sound, change)), zipfile.ZIP_DEFLATED)
    assert cost(data, tmp_path) < allowed(data)
    error_of(data, tmp_path)


def test_columns_that_nothing_mentions_are_not_read(tmp_path):
    sound = unpack(file_of(make(SAMMEClassifier, n_estimators=2).fit(X, Y), tmp_path))
    for k in range(20):
        raw = sound["steps.float64.npy"].replace(b"(2,)", b"(500000,)")
        head = raw[: raw.index(b"\n") + 1]
        head = head[:8] + (len(head) - 10).to_bytes(2, "little") + head[10:]
        sound[f"unknown{k}.float64.npy"] = head + bytes(8 * 500_000)
    data = pack(sound, zipfile.ZIP_DEFLATED)
    assert cost(data, tmp_path) < 10
    error_of(data, tmp_path)


def test_a_tree_that_is_a_chain(tmp_path):
    """Each row of a prediction would take a step per node."""
    depth, sound = 20_000, file_of(SAMMEClassifier(Tree(), n_estimators=1).fit(X, Y), tmp_path)
    n, members = 2 * depth + 1, unpack(sound)
    inner = np.arange(0, n - 1, 2)
    children = np.repeat(np.arange(n, dtype=np.int32)[:, None], 2, axis=1)
    children[inner] = np.stack([inner + 1, inner + 2], axis=1)
    arrays = {
        "feature": np.zeros(n, np.int32),
        "children": children,
        "left_set": np.zeros((n, 8), np.uint32),
        "value": np.ones((n, 3)),
        "gain": np.ones(n),
        "label": np.zeros(n, np.int32),
    }
    document = json.loads(members["model.json"])
    for name, array in arrays.items():
        key = f"tree.{name}.{array.dtype.name}.npy"
        raw = members[key]
        head = raw[: raw.index(b"\n") + 1].decode("latin-1")
        size = head[head.index("'shape'") :].split("(")[1].split(",")[0]
        head = head.replace(f"({size},)", f"({array.size},)").encode("latin-1")
        head = head[:8] + (len(head) - 10).to_bytes(2, "little") + head[10:]
        members[key] = head + array.tobytes()
        document["stages"][0]["arrays"][name] = [array.dtype.name, *array.shape]
    members["model.json"] = json.dumps(document).encode()
    assert "deeper than" in error_of(pack(members), tmp_path)
