"""Results of a comparison: a table of methods, significance tests, and output formats."""

from __future__ import annotations

import csv
import io
from dataclasses import asdict, dataclass, field
from functools import cached_property
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import rankdata

from steadyboost.files import write_whole
from steadyboost.lab.runs import LEVEL, corrected_t_test, estimate


@dataclass(frozen=True)
class Setting:
    """The data and the protocol."""

    n_rows: int
    n_columns: int
    classes: np.ndarray
    class_counts: np.ndarray
    noise: float
    kind: str
    folds: int
    repeats: int
    seed: int

    @property
    def baseline_error(self) -> float:
        """The error of always answering the most frequent class."""
        return float(1 - self.class_counts.max() / self.class_counts.sum())

    @property
    def baseline_cells(self) -> list[str]:
        """A row of the table for that: name, error, balanced error and AUC."""
        balanced = 1 - 1 / len(self.class_counts)
        name = self.classes[self.class_counts.argmax()]
        return [
            f"always {name}",
            f"{100 * self.baseline_error:.2f}",
            f"{100 * balanced:.2f}",
            "0.500",
        ]

    @property
    def test_share(self) -> float:
        """Test rows over training rows."""
        return 1 / (self.folds - 1)


@dataclass(frozen=True)
class FoldResult:
    """One method on one fold; ``confusion[i, j]`` counts rows of class i predicted as j."""

    confusion: np.ndarray
    log_loss: float | None
    fit_seconds: float
    predict_seconds: float
    auc: float | None = None

    @property
    def error(self) -> float:
        return 1 - float(np.trace(self.confusion) / self.confusion.sum())


@dataclass
class MethodResult:
    """All runs of one method; ``failure`` says why there are no more."""

    name: str
    is_ours: bool
    runs: list[FoldResult] = field(default_factory=list)
    failure: str = ""
    warnings: set[str] = field(default_factory=set)

    @property
    def errors(self) -> np.ndarray:
        return np.array([run.error for run in self.runs])

    @property
    def log_losses(self) -> np.ndarray:
        return np.array([np.nan if r.log_loss is None else r.log_loss for r in self.runs])

    @property
    def aucs(self) -> np.ndarray:
        return np.array([np.nan if r.auc is None else r.auc for r in self.runs])

    @property
    def fit_seconds(self) -> np.ndarray:
        return np.array([run.fit_seconds for run in self.runs])

    @property
    def class_errors(self) -> np.ndarray:
        """Share of misclassified rows of each class, over all runs."""
        confusion = np.sum([run.confusion for run in self.runs], axis=0)
        return 1 - np.diag(confusion) / np.maximum(confusion.sum(axis=1), 1)

    @property
    def balanced_error(self) -> float:
        """Mean of the errors of the classes."""
        return float(self.class_errors.mean())


@dataclass(frozen=True)
class Standing:
    """A row of the table: means over the runs; errors are fractions.

    ``p_value`` is that of the corrected resampled t-test (Nadeau and Bengio, 2003) of the
    difference in error to the best method; None for the best itself.
    """

    name: str
    is_ours: bool
    error: float
    error_sd: float
    balanced_error: float
    log_loss: float | None
    auc: float | None
    fit_seconds: float
    predict_seconds: float
    rank: float
    p_value: float | None

    @property
    def is_best(self) -> bool:
        return self.p_value is None

    @property
    def is_close(self) -> bool:
        """Whether the difference to the best is not significant at the 5 % level."""
        return self.p_value is None or self.p_value >= LEVEL


@dataclass(frozen=True, repr=False)
class Comparison:
    """The result of :func:`steadyboost.lab.comparison.compare`."""

    setting: Setting
    results: list[MethodResult]

    def __repr__(self) -> str:
        lines = [
            f"{s.name:<24} error {s.error:7.2%} ± {s.error_sd:.2%}"
            + ("" if s.auc is None else f"  AUC {s.auc:.3f}")
            for s in self.standings
        ]
        always, error, _, auc = self.setting.baseline_cells
        lines.append(f"{always:<24} error {error:>6}%           AUC {auc}")
        return "\n".join([*lines, *self.conclusions()])

    def _repr_html_(self) -> str:
        titles = ("method", "error", "± sd", "balanced", "log-loss", "AUC", "p", "fit, s")
        always, error, balanced, auc = self.setting.baseline_cells
        baseline = (always, f"{error}%", "", f"{balanced}%", "", auc, "", "")
        rows = [titles, *(_html_cells(standing) for standing in self.standings), baseline]
        table = "".join(
            "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
        )
        words = "".join(f"<p>{escape(line)}</p>" for line in self.conclusions())
        return f"<table>{table}</table>{words}"

    @cached_property
    def finished(self) -> list[MethodResult]:
        """Methods that did not fail, the one with the lowest error first."""
        done = [result for result in self.results if not result.failure]
        return sorted(done, key=lambda result: float(result.errors.mean()))

    @cached_property
    def standings(self) -> list[Standing]:
        """A line per method that did not fail, the lowest error first."""
        if not self.finished:
            return []
        errors = np.array([result.errors for result in self.finished])
        # Equal errors may differ in their last bit, and must share a rank.
        ranks = rankdata(errors.round(12), axis=0).mean(axis=1)
        return [self._standing(k, float(rank)) for k, rank in enumerate(ranks)]

    def _standing(self, k: int, rank: float) -> Standing:
        result, best = self.finished[k], self.finished[0]
        found, loss = estimate(result.errors), estimate(result.log_losses)
        auc = estimate(result.aucs)
        assert found is not None
        p = corrected_t_test(result.errors - best.errors, self.setting.test_share)[1] if k else None
        return Standing(
            result.name,
            result.is_ours,
            found.mean,
            found.sd or 0.0,
            result.balanced_error,
            loss.mean if loss else None,
            auc.mean if auc else None,
            float(result.fit_seconds.mean()),
            float(np.mean([run.predict_seconds for run in result.runs])),
            rank,
            p,
        )

    def conclusions(self) -> list[str]:
        """Conclusions in words: the best method, and which others differ from it significantly."""
        if not self.standings:
            return ["No method could be run."]
        best, *others = self.standings
        close = [standing.name for standing in others if standing.is_close]
        sentences = [
            f"{best.name} has the lowest error: {100 * best.error:.1f} % "
            f"± {100 * best.error_sd:.1f} in {len(self.finished[0].runs)} test folds."
        ]
        if close:
            sentences.append(
                f"The difference to {_and(close)} is not significant (corrected resampled t-test, "
                "5 %)."
            )
        elif others:
            sentences.append(
                "All differences to other methods are significant (corrected resampled t-test, "
                "5 %)."
            )
        return sentences

    def remarks(self) -> list[str]:
        """Remarks on the results: small classes, failures and warnings."""
        setting = self.setting
        few = setting.class_counts < setting.folds
        small = [
            f"Class {name} has {count} rows, fewer than the {setting.folds} folds: some test sets "
            "lack it, and it may be missing in training."
            for name, count in zip(setting.classes[few], setting.class_counts[few], strict=True)
        ]
        failed = [f"{r.name} failed: {r.failure}" for r in self.results if r.failure]
        warned = [f"{r.name}: {words}" for r in self.results for words in sorted(r.warnings)]
        return [*small, *failed, *warned]

    def to_dict(self) -> dict[str, Any]:
        """All results as a JSON object, with the errors of each run."""
        setting = {
            **asdict(self.setting),
            "classes": [_plain(name) for name in self.setting.classes],
            "class_counts": self.setting.class_counts.tolist(),
        }
        methods = [
            {**asdict(standing), "errors": result.errors.tolist()}
            for standing, result in zip(self.standings, self.finished, strict=True)
        ]
        failures = {result.name: result.failure for result in self.results if result.failure}
        setting["baseline_error"] = self.setting.baseline_error
        return {"setting": setting, "methods": methods, "failures": failures}

    def to_frame(self) -> Any:
        """The standings as a pandas data frame."""
        import pandas as pd

        return pd.DataFrame([asdict(standing) for standing in self.standings])

    def to_csv(self, path: str | Path) -> None:
        """Write the standings, a line per method."""
        file = io.StringIO()
        writer = csv.DictWriter(file, list(Standing.__dataclass_fields__), lineterminator="\n")
        writer.writeheader()
        writer.writerows(asdict(standing) for standing in self.standings)
        write_whole(Path(path), file.getvalue())

    def to_html(self, path: str | Path, name: str = "the data", made_by: str = "") -> None:
        """Write one self-contained page; ``name`` is that of the data."""
        from steadyboost.lab.reports.comparison import comparison_page

        write_whole(Path(path), comparison_page(self, name, made_by))


def _html_cells(standing: Standing) -> tuple[str, ...]:
    """A line of the table in a notebook."""
    return (
        standing.name,
        f"{standing.error:.2%}",
        f"{standing.error_sd:.2%}",
        f"{standing.balanced_error:.2%}",
        "" if standing.log_loss is None else f"{standing.log_loss:.3f}",
        "" if standing.auc is None else f"{standing.auc:.3f}",
        "best" if standing.p_value is None else f"{standing.p_value:.3f}",
        f"{standing.fit_seconds:.2f}",
    )


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _and(names: list[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if names[1:] else names)
