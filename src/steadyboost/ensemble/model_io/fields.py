"""What a fitted attribute, or a value of a stage, may be in a model file: type, shape, range.

Boosters say so by :meth:`~steadyboost.ensemble.hooks.Hooks.fitted_fields` and
:meth:`~steadyboost.ensemble.hooks.Hooks.stage_fields`; what they do not name is not in a file.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from steadyboost.ensemble.model_io.checks import MAX_SCORE, check_code, need

if TYPE_CHECKING:
    from steadyboost.ensemble.hooks import Hooks
    from steadyboost.ensemble.stages import Stage

Sizes = dict[str, int]
Check = Callable[[Any, str, Sizes], None]


@dataclass(frozen=True)
class Numbers:
    """A number, or an array of numbers, from ``low`` to ``high``.

    The entries of ``shape`` are lengths, or names of lengths that are the same wherever they occur;
    None is any. ``()`` is a plain number, ``...`` a number or an array of any shape. ``kinds`` are
    those of numpy's types, ``missing`` allows NaN.
    """

    shape: Any = ()
    low: float = -np.inf
    high: float = np.inf
    kinds: str = "iuf"
    missing: bool = False

    def __call__(self, value: Any, name: str, sizes: Sizes) -> None:
        array = np.asarray(value)
        need(array.dtype.kind in self.kinds, f"{name} is of type {array.dtype}")
        if self.shape is not ...:
            self._check_shape(value, name, sizes)
        with np.errstate(invalid="ignore"):  # comparisons with NaN are False
            inside = (array >= self.low) & (array <= self.high)
        if self.missing:
            inside |= array != array
        need(inside.all(), f"{name} is not from {self.low:g} to {self.high:g}")

    def _check_shape(self, value: Any, name: str, sizes: Sizes) -> None:
        shape = np.shape(value)
        need(isinstance(value, np.ndarray) == bool(self.shape), f"{name} has the wrong form")
        need(len(shape) == len(self.shape), f"{name} has {len(shape)} dimensions")
        for length, wanted in zip(shape, self.shape, strict=True):
            if isinstance(wanted, str):
                wanted = sizes.setdefault(wanted, length)
            need(wanted in (None, length), f"{name} has shape {shape}, which does not fit")


def bits(*shape: int | str | None) -> Numbers:
    """An array of 0 and 1."""
    return Numbers(shape, 0, 1, "iu")


def share(*shape: int | str | None, missing: bool = False) -> Numbers:
    """A number from 0 to 1, or an array of them."""
    return Numbers(shape, -1e-9, 1 + 1e-9, "f", missing)


def truth(value: Any, name: str, sizes: Sizes) -> None:
    """True or False."""
    need(type(value) is bool, f"{name} must be true or false")


def records(value: Any, name: str, sizes: Sizes) -> None:
    """A list of dictionaries of plain numbers by names."""
    need(isinstance(value, list) and len(value) > 0, f"{name} must be a list")
    for record in value:
        need(isinstance(record, dict), f"{name} must hold records")
        for key, entry in record.items():
            plain = isinstance(key, str) and isinstance(entry, (int, float, str, type(None)))
            need(plain, f"{name} must hold plain values")


def distribution(*shape: int | str | None) -> Check:
    """Shares that sum to one over the last axis."""
    numbers = share(*shape)

    def check(value: Any, name: str, sizes: Sizes) -> None:
        numbers(value, name, sizes)
        need(np.allclose(value.sum(axis=-1), 1), f"{name} does not sum to one")

    return check


def maybe(own: Check) -> Check:
    """None, or what another check accepts."""

    def check(value: Any, name: str, sizes: Sizes) -> None:
        if value is not None:
            own(value, name, sizes)

    return check


def instance_of(cls: type) -> Check:
    """An instance of a class, or None."""

    def check(value: Any, name: str, sizes: Sizes) -> None:
        need(value is None or type(value) is cls, f"{name} must be a {cls.__name__}")

    return check


def check_fields(
    values: Mapping[str, Any], fields: Mapping[str, Check], required: Sequence[str]
) -> None:
    """Check values by name; those required must be there, and no others than the fields."""
    unknown = sorted(values.keys() - fields.keys())
    need(not unknown, f"{unknown[:3]} cannot be a fitted attribute of this booster")
    lacking = [name for name in required if name not in values]
    need(not lacking, f"{lacking[:3]} must be in the file of this booster")
    sizes: Sizes = {}
    for name, value in values.items():
        fields[name](value, name, sizes)


def n_parts(stage: "Stage") -> int:
    """Answers of a stage; 0 where it is not made of parts."""
    return len(getattr(stage.answer, "answers", ()))


def check_stages(stages: Sequence["Stage"], booster: "Hooks") -> None:
    """Check that stages are those of the booster, and that the scores stay finite."""
    need(len(stages) > 0, "there must be a stage")
    several = booster.n_classes_ > 1 and booster.has_parts()
    fields, total, code, largest = booster.stage_fields(), 0.0, None, 0.0
    for t, stage in enumerate(stages):
        if stage.code is not code:
            code = stage.code
            check_code(code, 1 if several else booster.n_outputs())
            fields["code"](code, "a code", {})
            largest = float(np.abs(code.astype(np.float64)).max())
        parts = booster.n_parts(t) if several else 0
        need(n_parts(stage) == parts, "a stage has parts that it should not have, or too few")
        for number in (stage.step, stage.error):
            need(np.shape(number) in ((), (parts,)), "there must be a number per part")
        extra = _of_present_parts(stage, parts) if several else stage.extra
        values = {"step": stage.step, "error": stage.error, "code": code, **extra}
        check_fields(values, fields, booster.needed_extra if booster.n_classes_ > 1 else ())
        booster.check_stage(stage)
        total += float(np.abs(stage.step).max()) * largest
    need(total <= MAX_SCORE, "steps and codes must be finite and of bounded size")


def _of_present_parts(stage: "Stage", parts: int) -> dict[str, Any]:
    """Extra values without those of subproblems that have ended, which mean nothing."""
    answers = getattr(stage.answer, "answers", ())
    present = [p for p, answer in enumerate(answers) if answer is not None]
    kept = {}
    for name, value in stage.extra.items():
        need(np.shape(value)[:1] in ((), (parts,)), "there must be an entry per part")
        kept[name] = np.asarray(value)[present] if np.ndim(value) else value
    return kept
