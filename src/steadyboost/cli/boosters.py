"""Boosters and weak learners by name, with parameters given as text."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Iterable, Sequence
from typing import Any

import steadyboost
from steadyboost.cli.options import refuse

DEFAULT_BOOSTER = "SteadyBoostClassifier"
DEFAULT_DISTRIBUTED = "SoftmaxBoostClassifier"  # rows stay on the workers: not with SteadyBoost
LEARNERS = ("Tree", "Stump", "AttributeTest", "DecisionRule", "C45")
WORDS = {"true": True, "false": False, "none": None, "null": None}
OWN_OPTION = {
    "random_state": "--seed",
    "n_jobs": "--jobs",
    "early_stopping": "--early-stopping",
    "categorical_features": "--categorical",
    "estimator": "--learner",
    "verbose": "nothing: a terminal has a progress bar",
    "callbacks": "Python code only",
    "warm_start": "Python code only",
}


def booster_names() -> list[str]:
    """Class names of all boosters of the package."""
    exported = (name for name in steadyboost.__all__ if name.endswith("Classifier"))
    return [name for name in exported if name != "BoostingClassifier"]


def complete_booster(incomplete: str) -> list[str]:
    """Completions for the shell, in lower case if the input is: shells compare case."""
    short = [name.removesuffix("Classifier") for name in booster_names()]
    written = map(str.lower, short) if incomplete.islower() else short
    return [name for name in written if name.startswith(incomplete)]


def full_name(name: str, option: str = "--booster") -> str:
    """The class of a booster by a part of its name: ``msmooth`` is ``MSmoothBoostClassifier``."""
    return _find(option, name, booster_names())


def find_booster(name: str) -> type:
    """A booster by its class or a part of that."""
    return getattr(steadyboost, full_name(name))


def find_learner(name: str) -> Any:
    """A weak learner of this package, with its own defaults."""
    return getattr(steadyboost, _find("--learner", name, LEARNERS))()


def make_booster(
    booster: str, learner: str | None, rounds: int | None, params: Iterable[str], **given: Any
) -> Any:
    """An unfitted booster; its parameters are checked."""
    model = find_booster(booster)().set_params(**given)
    pairs = dict(_pair(text) for text in params)
    if learner:
        _set_learner(model, find_learner(learner), "--learner")
    elif any(key.startswith("estimator__") for key in pairs):
        _set_learner(model, model._default_learner(), "--param")
    for key, text in pairs.items():
        _check_name(model, key)
        model.set_params(**{key: read_value(text)})
    if rounds is not None:
        model.set_params(**{model.rounds_name(): rounds})
    _check_values(model)
    return model


def _set_learner(model: Any, learner: Any, option: str) -> None:
    if "estimator" not in model.get_params(deep=False):
        name = type(model).__name__
        refuse(option, f"{name} has its own weak learners; choose another --booster.")
    model.set_params(estimator=learner)


def read_value(text: str) -> Any:
    """A Python literal (number, truth value, None, list, dictionary), else the text itself.

    Examples
    --------
    >>> read_value("0.1"), read_value("true"), read_value("auto"), read_value("[1, 2]")
    (0.1, True, 'auto', [1, 2])
    """
    if text.lower() in WORDS:
        return WORDS[text.lower()]
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def _find(option: str, name: str, names: Sequence[str]) -> str:
    by_key = {key: full for full in names for key in reversed(_keys(full))}
    wanted = _plain(name)
    if wanted not in by_key:
        close = difflib.get_close_matches(wanted, by_key, n=1)
        short = [full.removesuffix("Classifier") for full in names]
        hint = f"did you mean {by_key[close[0]]}?" if close else f"there are {', '.join(short)}."
        refuse(option, f"{name!r} is not known; {hint}")
    return by_key[wanted]


def _keys(full: str) -> list[str]:
    short = _plain(full).removesuffix("classifier")
    return [_plain(full), short, short.removesuffix("boost")]


def _plain(name: str) -> str:
    return "".join(letter for letter in name.lower() if letter.isalnum())


def _pair(text: str) -> tuple[str, str]:
    key, sign, value = text.partition("=")
    if not sign or not key.strip():
        refuse("--param", f"{text!r} is not of the form name=value.")
    return key.strip(), value.strip()


def _check_name(model: Any, key: str) -> None:
    known = model.get_params(deep=True)
    if key in OWN_OPTION:
        refuse("--param", f"{key} is set by {OWN_OPTION[key]}.")
    if key in model.without_effect:
        refuse("--param", f"{key} has no effect on {type(model).__name__}.")
    if key in known:
        return
    free = [name for name in known if name not in OWN_OPTION]
    close = difflib.get_close_matches(key, free, n=1)
    hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(sorted(free))}."
    refuse("--param", f"{type(model).__name__} has no parameter {key!r}; {hint}")


def _check_values(model: Any) -> None:
    try:
        model._validate_params()
        model._learner()
    except ValueError as error:
        refuse("--param", " ".join(str(error).split()))
