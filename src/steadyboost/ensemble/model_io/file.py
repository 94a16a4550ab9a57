"""Model files: JSON and arrays in a zip, no pickle; everything is checked before it is used."""

import os
from typing import Any

from sklearn.utils.validation import check_is_fitted

from steadyboost.ensemble.model_io.checks import ModelFileError
from steadyboost.ensemble.model_io.reader import read_model
from steadyboost.ensemble.model_io.writer import writable_params, write_model

__all__ = ["ModelFileError", "load", "save_model"]


def save_model(model: Any, path: str | os.PathLike[str], *, overwrite: bool = True) -> None:
    """Write a fitted booster to a file, complete or not at all.

    Parameters
    ----------
    model : BoostingClassifier
        A fitted booster whose weak learner is one of this library. Its callbacks are left out,
        and a generator in ``random_state`` becomes the seed that was drawn from it.
    path : str or path-like
        Where to write; by custom it ends in ``.sb``.
    overwrite : bool, default=True
        Whether to replace a file that is there already.

    Raises
    ------
    ModelFileError
        If the model holds what a file cannot: a scikit-learn estimator, a function.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from sklearn.datasets import load_iris
    >>> from steadyboost import SAMMEClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SAMMEClassifier(n_estimators=5).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_model(model, Path(folder, "iris.sb"))
    ...     bool((load(Path(folder, "iris.sb")).predict(X) == model.predict(X)).all())
    True
    """
    writable_params(model)
    check_is_fitted(model, "stages_")
    if not overwrite and os.path.lexists(path):
        raise FileExistsError(f"{os.fspath(path)} exists; pass overwrite=True to replace it.")
    write_model(path, model, model.stages_, model.history_)


def load(path: str | os.PathLike[str]) -> Any:
    """Read a fitted booster from a file that :func:`save_model` has written.

    A damaged or crafted file raises an error; no code from it is run.

    Parameters
    ----------
    path : str or path-like
        The file.

    Returns
    -------
    model : BoostingClassifier
        A fitted booster with the same predictions, bit for bit.

    Raises
    ------
    ModelFileError
        If the file is not a sound model.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     load(file.name)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    steadyboost.ensemble.model_io.checks.ModelFileError: ... is not a sound model file: ...
    """
    return read_model(path)[0]
