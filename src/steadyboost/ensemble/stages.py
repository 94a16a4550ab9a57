"""Stages: what the rounds of an ensemble consist of."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from steadyboost.learners.base import Answer, Answers


def _entry(value: Any, p: int) -> Any:
    """The entry of subproblem p, or the value that all subproblems share."""
    return value[p] if isinstance(value, np.ndarray) else value


@dataclass(frozen=True)
class Stage:
    """One round of an ensemble: a weak hypothesis, its class code, its step and its error.

    Where several subproblems are boosted in parallel, there is an answer for each of them, and the
    step, the error and the values of ``extra`` are arrays with an entry per subproblem. Several
    answers with one step form one hypothesis, which answers yes or no for each label.
    """

    answer: Answer
    code: np.ndarray
    step: Any
    error: Any
    extra: dict[str, Any] = field(default_factory=dict)

    @cached_property
    def parts(self) -> list["Stage | None"]:
        """The stage of each problem, None where it had ended; the stage itself if it is one."""
        if not isinstance(self.answer, Answers) or np.ndim(self.step) == 0:
            return [self]
        return [
            None if answer is None else self._part(p, answer)
            for p, answer in enumerate(self.answer.answers)
        ]

    def _part(self, p: int, answer: Answer) -> "Stage":
        step, error = float(_entry(self.step, p)), float(_entry(self.error, p))
        extra = {name: _entry(value, p) for name, value in self.extra.items()}
        return Stage(answer, self.code, step, error, extra)

    @classmethod
    def joined(cls, parts: list["Stage | None"]) -> "Stage":
        """One stage from those of all subproblems; a part that is None adds nothing."""
        present = [part for part in parts if part is not None]
        if len(parts) == 1:  # scalars, as files of one problem have them
            return present[0]

        def entries(value: Any) -> np.ndarray:
            return np.array([0.0 if part is None else value(part) for part in parts])

        names = {name for part in present for name in part.extra}
        return cls(
            Answers(tuple(None if part is None else part.answer for part in parts)),
            present[0].code,
            entries(lambda part: part.step),
            entries(lambda part: part.error),
            {name: entries(lambda part, name=name: part.extra[name]) for name in sorted(names)},
        )
