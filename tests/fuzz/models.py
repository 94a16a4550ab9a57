"""Model files that are damaged or made up: each is refused, or is a model that works.

Mutations of the text and of the columns get sound checksums, so that the checks of the reader must
find them. Files that load must predict, explain and save: finite and well shaped.
"""

import copy
import functools
import io
import json
import warnings
import zipfile
from contextlib import suppress

import numpy as np
from model_files import KINDS, SMALL_KINDS, frame_of, pack, sound_file, unpack

from fuzz.running import scratch
from steadyboost.ensemble.model_io.file import ModelFileError, load
from steadyboost.exports import export_graphviz, export_text, to_onnx, to_treelite

ALL_KINDS = (*KINDS, *SMALL_KINDS)
NASTY = [None, True, -1, 0, 1, 2, 5, 255, 2**31, 2**64, 10**400, -0.5, 1e308, "", "x", "Tree"]
NASTY += [[], {}, [[]], ["float64", -1], ["float64", 2**40], {"$float": "nan"}]
NASTY += [{"$new": ["os", {}]}, {"$record": ["os", {}]}, {"$dict": [[[], 1]]}, {"$tuple": {}}]
NASTY += [{"$array": ["<U99999999", [1], ["x"]]}, {"$array": ["O", [1], [[]]]}, {"$column": ["x"]}]
NUMBERS = [-1, 0, 1, 2, 3, 7, 127, 255, 2**31 - 1, -(2**31), 1e300, -1e308, np.nan, np.inf]
NUMBERS += [5e-324, 1e-300, 1e-9, 0.5, 1e99]


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
    action = rng.integers(9)
    with np.errstate(all="ignore"):
        if action == 0:
            column = np.resize(column, rng.integers(2 * len(column) + 1))
        elif action == 1:
            column = column.astype(rng.choice(["i1", "<i4", ">i4", "f4", "f8", "U2", "?", "c16"]))
        elif action == 2:
            column = column.reshape([(1, -1), (-1, 1), (-1, 1, 1)][rng.integers(3)])
        elif action == 3:
            rng.shuffle(column)
        elif action in (4, 5):  # numbers of the right kind in the wrong place
            for place, other in rng.integers(len(column), size=(rng.integers(1, 4), 2)):
                column[place] = column[other]
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
OFTEN = [*MUTATIONS, *[edit_text, edit_column] * 4]  # those that may pass the first checks


def generate(seed):
    """A kind of model, and up to three mutations by their names and seeds."""
    rng = np.random.default_rng(seed)
    n = int(rng.choice([1, 1, 2, 3]))
    changes = [
        [OFTEN[rng.integers(len(OFTEN))].__name__, int(k)] for k in rng.integers(2**31, size=n)
    ]
    return {"kind": ALL_KINDS[rng.integers(len(ALL_KINDS))], "changes": changes}


def mutated(case):
    """The bytes of the file; a mutation that a file is too damaged for is left out."""
    data = sound_file(case["kind"])
    for name, seed in case["changes"]:
        mutate = next(one for one in MUTATIONS if one.__name__ == name)
        try:
            data = mutate(data, np.random.default_rng(seed))
        except Exception:  # of whatever reads a file that an earlier mutation has damaged
            break
    return data


def check(case):
    """Raise an ``AssertionError`` for a file that loads and does not work."""
    slow = case["changes"][0][1] % 4 == 0  # what takes most of the time
    loaded = outcome(mutated(case), scratch() / "mutated.sb", exports=slow, saves=slow)
    return "loaded" if loaded else "refused"


@functools.cache
def numbers_to_predict(n_features):
    rng = np.random.default_rng(0)
    rows = [rng.normal(size=(6, n_features)), np.full((1, n_features), np.nan)]
    return np.vstack([*rows, rng.choice([1e308, -1e308, 0.0], (2, n_features))])


def rows_to_predict(model):
    """Numbers, or a table with texts and dates where the model has been fitted to some."""
    encoder, names = model._encoder, getattr(model, "feature_names_in_", None)
    has_dates = any(encoder.dates or ())
    if not has_dates and (names is None or not any(encoder.categories)):
        return numbers_to_predict(model.n_features_in_)
    if names is None:  # of a table whose columns have numbers for names
        names = [f"x{f}" for f in range(model.n_features_in_)]
    return frame_of(names, encoder.categories, encoder.dates)


def outcome(data, path, *, exports=False, saves=True):
    """Whether a file loads; if so, whether it works is checked, perhaps with its exports."""
    path.write_bytes(data)
    try:
        model = load(path)
    except ModelFileError:
        return False
    X = rows_to_predict(model)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # about names of features
        proba = works(model, X)
        if exports:
            exports_work(model)
        if saves:
            model.save(path)
            assert np.array_equal(load(path).predict_proba(X), proba)
    return True


def works(model, X):
    proba, labels = model.predict_proba(X), model.predict(X)
    assert proba.shape == (len(X), len(model.classes_))
    assert np.isfinite(proba).all()
    assert ((proba >= 0) & (proba <= 1 + 1e-9)).all()
    assert np.isin(labels, model.classes_).all()
    assert np.array_equal(labels, list(model.staged_predict(X))[-1])
    assert np.isfinite(model.decision_function(X)).all()
    shares = model.feature_importances_
    assert shares.shape == (model.n_features_in_,)
    assert ((shares >= 0) & (shares <= 1 + 1e-9)).all()
    assert export_text(model, model.n_iter_ - 1)
    return proba


def exports_work(model):
    """Other forms of the model can be had, or a ``ValueError`` tells why not."""
    for export in (to_onnx, to_treelite, export_graphviz):
        with suppress(ValueError):
            assert export(model)


def shrink(case):
    """Fewer mutations."""
    for place in range(len(case["changes"])):
        rest = case["changes"][:place] + case["changes"][place + 1 :]
        if rest:
            yield {**case, "changes": rest}
