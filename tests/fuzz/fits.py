"""Fits of all boosters and learners to nasty data with nasty parameters, and what must hold.

A model gives finite probabilities that sum to one, the same with two threads, of the same rows as a
dense array, after being saved and loaded, round by round, and with weights of one. What cannot be
fitted is a ``ValueError`` or ``TypeError`` in a sentence.
"""

import random
import warnings
from contextlib import nullcontext, suppress

import numpy as np
import scipy.sparse as sp
from sklearn.tree import DecisionTreeClassifier

import steadyboost
from fuzz.running import scratch
from steadyboost.ensemble.estimator import BoostingClassifier
from steadyboost.ensemble.model_io.file import ModelFileError
from steadyboost.parameters import Interval, StrOptions

PUBLIC = [getattr(steadyboost, name) for name in sorted(steadyboost.__all__)]
CLASSES = [item for item in PUBLIC if isinstance(item, type)]
OURS = [c for c in CLASSES if issubclass(c, BoostingClassifier) and c is not BoostingClassifier]
BOOSTERS = [c.__name__ for c in OURS]
LEARNERS = [c.__name__ for c in CLASSES if hasattr(c, "answer")]
FOREIGN = "sklearn"  # a learner of another library
VALUES = (
    *["normal"] * 4,
    "ties",
    "huge",
    "tiny",
    "gaps",
    "constant",
    "mixed",
    "empty",
    "categories",
)
WEIGHTS = ("ones", "random", "zeros", "tiny", "largest", "both", "negative", "infinite", "short")
FORMS = (
    *["array"] * 6,
    *["csr", "csc", "pandas", "polars"] * 2,
    "csr",
    "csc",
    "coo",
    "pandas",
    "polars",
    "damaged",
)
NUMBERS = (5e-324, 1e-300, 1e-12, 1e-3, 0.1, 0.5, 0.999, 1.0, 3.0, 1e3, 1e12, 1e100, 1.7e308)
NUMBERS += (-1.0, 0.0)
WHOLE = (1, 2, 3, 5, 17, 255, 10**6, 10**12, 0, -1)
SMALL = {"n_estimators": (1, 2, 3, 5), "n_layers": (1, 2, 3), "n_jobs": (1, 2, 100_000)}
EXTRAS = (*["class_weight"] * 3, "balanced", "cost_matrix", "distribution", "validation", "refit")
CHECKS = ("jobs", "dense", "saved", "ones", "staged")


def generate(seed):
    """A case: plain values, so that it can be written down, and taken apart to shrink it."""
    draw = random.Random(seed)
    booster = draw.choice(BOOSTERS)
    learner = draw.choice([None, None, *LEARNERS, FOREIGN])
    return {
        "booster": booster,
        "params": nasty_params(getattr(steadyboost, booster), draw),
        "learner": learner,
        "learner_params": nasty_params(class_named(learner), draw) if learner else {},
        "n": draw.choice([1, 3, 7, 20, 40, 60, 60, 60]),
        "columns": draw.choice([1, 2, 4, 9]),
        "classes": draw.choice([1, 2, 2, 3, 5, 20]),
        "values": draw.choice(VALUES),
        "form": draw.choice(FORMS),
        "labels": draw.choice(["numbers"] * 20 + ["texts"] * 4 + ["floats"] * 3 + ["mixed"]),
        "weights": draw.choice([None] * 30 + list(WEIGHTS)),
        "extra": draw.choice([None] * 12 + list(EXTRAS)),
        "check": draw.choice(CHECKS),
        "seed": draw.randrange(10**6),
    }


def class_named(name):
    return DecisionTreeClassifier if name == FOREIGN else getattr(steadyboost, name)


def nasty_params(cls, draw):
    """A few parameters of a class with values of any size, or any of their words."""
    known = cls().get_params(deep=False)
    params = {name: draw.choice(SMALL[name]) for name in known if name in SMALL}
    limits = {name: intervals_of(cls, name) for name in sorted(known) if name not in SMALL}
    numeric = [name for name, own in limits.items() if own]
    for name in draw.sample(numeric, min(len(numeric), draw.choice([0, 0, 0, 1, 1, 2]))):
        allowed = [
            v for v in NUMBERS + WHOLE if any(one.is_satisfied_by(v) for one in limits[name])
        ]
        params[name] = draw.choice(allowed if draw.random() < 0.9 else NUMBERS + WHOLE)
    for name in ("early_stopping", "resample"):
        if name in known and draw.random() < 0.15:
            params[name] = True
    for name, constraints in sorted(cls._parameter_constraints.items()):
        words = [w for one in constraints if isinstance(one, StrOptions) for w in one.options]
        if words and name in known and draw.random() < 0.15:
            params[name] = draw.choice(sorted(words))
    return params


def intervals_of(cls, name):
    """The ranges that a parameter may lie in; none where it is no number."""
    return [one for one in cls._parameter_constraints[name] if isinstance(one, Interval)]


def table_of(case):
    rng = np.random.default_rng(case["seed"])
    X = rng.normal(size=(case["n"], case["columns"]))
    kind = case["values"]
    if kind == "ties":
        X = np.round(X)
    elif kind == "huge":
        X = rng.choice([1.7e308, -1.7e308, 1e300, 0.0], X.shape)
    elif kind == "tiny":
        X = rng.choice([5e-324, -5e-324, 1e-310, 0.0], X.shape)
    elif kind == "gaps":
        X[rng.random(X.shape) < 0.5] = np.nan
    elif kind == "constant":
        X[:] = 1.0
    elif kind == "mixed":
        X[:, 0] = rng.choice([np.inf, 0.0, 1.0], len(X), p=[0.05, 0.5, 0.45])
    elif kind == "empty":
        X[:] = np.nan
    elif kind == "categories":
        X = rng.integers(0, 300, X.shape).astype(float)
    return X


def in_form(X, form):
    if form in ("csr", "csc", "coo"):
        return sp.csr_matrix(X).asformat(form)
    if form == "pandas":
        import pandas as pd

        frame = pd.DataFrame(X, columns=[f"x{f}" for f in range(X.shape[1])])
        return frame.assign(text=[f"t{int(v)}" if v == v else None for v in np.clip(X[:, 0], 0, 9)])
    if form == "polars":
        import polars as pl

        return pl.DataFrame({f"x{f}": X[:, f] for f in range(X.shape[1])})
    if form == "damaged":
        table = sp.csr_matrix(np.where(np.isnan(X), 1, X) + 1.0)
        table.indices[-1:] = 2**30
        return table
    return X


def labels_of(case):
    rng = np.random.default_rng([case["seed"], 1])
    y = rng.integers(0, case["classes"], case["n"])
    forms = {"texts": y.astype(str), "floats": y.astype(float), "mixed": [*map(str, y[1:]), 1]}
    return forms.get(case["labels"], y)


def weights_of(case, n):
    rng = np.random.default_rng([case["seed"], 2])
    half = np.arange(n) % 2
    return {
        None: None,
        "ones": np.ones(n),
        "random": rng.random(n),
        "zeros": half.astype(float),
        "tiny": np.full(n, 5e-324),
        "largest": np.full(n, 1.7e308),
        "both": np.where(half, 5e-324, 1.7e308),
        "negative": half - 0.5,
        "infinite": np.where(half, np.inf, 1.0),
        "short": np.ones(n + 1),
    }[case["weights"]]


def model_of(case, **changed):
    params = {"random_state": 0, **case["params"], **changed}
    cls = getattr(steadyboost, case["booster"])
    if case["learner"] and "estimator" not in cls.does_without:
        params["estimator"] = class_named(case["learner"])(**case["learner_params"])
    if case["extra"] == "balanced":
        params["class_weight"] = "balanced"
    elif case["extra"] == "class_weight":
        draw = random.Random(case["seed"])
        weights = [draw.choice([0.0, 5e-324, 1e-9, 1.0, 1e300, 1.7e308]) for _ in range(20)]
        names = [str(k) if case["labels"] == "texts" else k for k in range(case["classes"])]
        params["class_weight"] = dict(zip(names, weights, strict=False))
    elif case["extra"] == "refit":
        params["warm_start"] = True
    return cls(**params)


def fitted(case, table, y, weights, **changed):
    """A model that is fitted with whatever else the case passes to ``fit``."""
    model, rng = model_of(case, **changed), np.random.default_rng([case["seed"], 3])
    k, more = len(set(np.asarray(y).tolist())), {}
    if case["extra"] == "cost_matrix":
        more["cost_matrix"] = rng.choice([0.0, 1.0, 1e-9, 1e9], (k, k))
    elif case["extra"] == "distribution":
        soft = (
            rng.choice([0.0, 1e-9, 1.0], (len(y), k))
            + np.eye(k)[np.unique(y, return_inverse=True)[1]]
        )
        more["label_distribution"] = soft / soft.sum(axis=1, keepdims=True)
    elif case["extra"] == "validation":
        more.update(X_val=table, y_val=y)
    elif case["extra"] == "refit":
        model.fit(table, y, weights)
        model.set_params(n_estimators=model.n_estimators + 1)
    return model.fit(table, y, weights, **more)


def check(case):
    """Raise an ``AssertionError`` for what must not be."""
    X = table_of(case)
    table, y, weights = in_form(X, case["form"]), labels_of(case), weights_of(case, len(X))
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            model = fitted(case, table, y, weights)
        except (ValueError, TypeError) as error:
            if not is_sentence(error):
                raise
            return "refused"
        except MemoryError:
            if case["learner"] != FOREIGN:  # whose trees take what their parameters ask for
                raise
            return "refused"
        if np.isinf(X).any():  # in rows without weight, which a fit leaves out of a data frame
            return "fitted"
        proba = sound_proba(model, table)
        compare(case, model, proba, table, y, weights)
    return "fitted"


def is_sentence(error):
    """Of this library or scikit-learn's checks, not of an operation somewhere inside."""
    text = str(error)
    inside = ("unsupported operand", "object is not", "has no len", "operands could not", "ufunc")
    inside += ("cannot convert float", "index ", "zero-size", "must be real number", "setting an")
    return bool(text) and not any(words in text for words in inside)


def sound_proba(model, table):
    proba = model.predict_proba(table)
    assert proba.shape == (table.shape[0], len(model.classes_)), f"shape {proba.shape}"
    assert np.isfinite(proba).all(), "probabilities that are not finite"
    assert ((proba >= 0) & (proba <= 1 + 1e-9)).all(), "probabilities out of range"
    assert np.allclose(proba.sum(axis=1), 1), "probabilities do not sum to one"
    assert np.isfinite(model.feature_importances_).all(), "importances that are not finite"
    return proba


def compare(case, model, proba, table, y, weights):
    def equal(other, rows, what):
        assert np.array_equal(other.predict_proba(rows), proba), f"another model {what}"

    if case["check"] == "jobs":
        one, two = (fitted(case, table, y, weights, n_jobs=n) for n in (1, 2))
        equal(one, table, "with one thread")
        equal(two, table, "with two threads")
    elif case["check"] == "dense" and sp.issparse(table) and case["learner"] != FOREIGN:
        # scikit-learn's own tree of sparse rows may be another than that of dense ones
        equal(fitted(case, table.toarray(), y, weights), table.toarray(), "of dense rows")
    elif case["check"] == "saved":
        path = scratch() / "model.sb"
        with suppress(ModelFileError) if case["learner"] == FOREIGN else nullcontext():
            model.save(path)
            equal(steadyboost.load(path), table, "from the file")
    elif case["check"] == "ones" and weights is None:
        equal(fitted(case, table, y, np.ones(len(proba))), table, "with weights of one")
    elif case["check"] == "staged":
        *_, last = model.staged_predict(table)
        assert np.array_equal(last, model.predict(table)), "another prediction round by round"


def shrink(case):
    """Simpler cases, the simplest first."""
    plain = {"learner": None, "values": "normal", "form": "array", "labels": "numbers"}
    for name, value in {**plain, "weights": None, "extra": None}.items():
        if case[name] != value:
            yield {**case, name: value}
    for group in ("params", "learner_params"):
        for name in case[group]:
            yield {**case, group: {k: v for k, v in case[group].items() if k != name}}
    for name, values in {"n": (2, 7, 20), "columns": (1, 2), "classes": (2, 3)}.items():
        for value in values:
            if value < case[name]:
                yield {**case, name: value}
