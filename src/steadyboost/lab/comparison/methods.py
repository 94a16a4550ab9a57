"""What can be compared: our boosters, and other libraries where they are installed."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from importlib.util import find_spec
from typing import Any

import steadyboost
from steadyboost.lab.comparison import peers
from steadyboost.lab.comparison.features import Features
from steadyboost.lab.demo import display_name

Build = Callable[[Features, int, int | None], Any]  # of the data, a seed and a number of threads
# Boosters that differ from each other, quick enough to wait for.
USUAL = (
    "SteadyBoost",
    "SAMME",
    "AdaBoost",
    "MSmoothBoost",
    "WeightBoost",
    "SoftmaxBoost",
    "GD-MCBoost",
    "Bagging",
)
GROUPS = ("usual", "ours", "peers", "all")


@dataclass(frozen=True)
class ComparedMethod:
    """A name, and how its estimator is made.

    ``package`` is the library that it needs; peers get numbers in place of the user's table.
    """

    name: str
    build: Build
    package: str = "steadyboost"
    wants_numbers: bool = False

    @property
    def is_ours(self) -> bool:
        return self.package == "steadyboost"

    @cached_property
    def is_installed(self) -> bool:
        return find_spec(self.package) is not None


def known_methods() -> dict[str, ComparedMethod]:
    """All methods by name, ours first, installed or not."""
    methods = [*_ours(), *(ComparedMethod(*peer, wants_numbers=True) for peer in peers.PEERS)]
    return {method.name: method for method in methods}


def _ours() -> list[ComparedMethod]:
    names = [name for name in steadyboost.__all__ if name.endswith("Classifier")]
    return [
        _our_method(getattr(steadyboost, name)) for name in names if name != "BoostingClassifier"
    ]


def _our_method(cls: type) -> ComparedMethod:
    def build(features: Features, seed: int, n_jobs: int | None) -> Any:
        categories = {"categorical_features": features.categories} if features.categories else {}
        return cls(random_state=seed, n_jobs=n_jobs, **categories)

    return ComparedMethod(display_name(cls), build)


def choose(wanted: Sequence[str] | Mapping[str, Any] | None) -> list[ComparedMethod]:
    """The methods that names, groups of them, or a user's own estimators by name, stand for."""
    if isinstance(wanted, Mapping):
        methods = [_given(name, estimator) for name, estimator in wanted.items()]
    else:
        known = known_methods()
        names = ["usual"] if wanted is None else list(wanted)
        methods = [method for name in names for method in _meant(name, known)]
    unique = list({method.name: method for method in methods}.values())
    if len(unique) < 2:
        raise ValueError(
            f"methods={list(wanted or ())} leaves {len(unique)} method(s) to compare; name two or "
            "more."
        )
    return unique


def _given(name: str, estimator: Any) -> ComparedMethod:
    from sklearn.base import clone

    is_ours = type(estimator).__module__.startswith("steadyboost.")
    package = "steadyboost" if is_ours else type(estimator).__module__.split(".")[0]
    return ComparedMethod(name, lambda features, seed, n_jobs: clone(estimator), package)


def _meant(name: str, known: dict[str, ComparedMethod]) -> list[ComparedMethod]:
    """A group leaves out what is not installed; a name that is not is an error."""
    if name in GROUPS:
        return [m for m in known.values() if _is_in(m, name) and m.is_installed]
    by_key = {_key(method.name): method for method in known.values()}
    method = by_key.get(_key(name.removesuffix("Classifier")))
    if method is None:
        near = get_close_matches(_key(name), by_key, n=1)
        hint = f"did you mean {by_key[near[0]].name!r}? " if near else ""
        raise ValueError(
            f"methods has {name!r}, which is not known; {hint}Known are {', '.join(known)}, and "
            f"the groups {', '.join(GROUPS)}."
        )
    if not method.is_installed:
        raise ValueError(
            f"methods has {name!r}, but {method.package} is not installed; pip install "
            f"{method.package}."
        )
    return [method]


def _is_in(method: ComparedMethod, group: str) -> bool:
    if group == "usual":
        return not method.is_ours or method.name in USUAL
    return group == "all" or method.is_ours == (group == "ours")


def _key(name: str) -> str:
    """Letters and digits alone: ``ada-boost.m1`` is AdaBoost.M1."""
    return re.sub(r"[^a-z0-9]", "", name.lower())
