"""The page of ``steadyboost compare``."""

from __future__ import annotations

import numpy as np

from steadyboost.lab.comparison.result import Comparison, MethodResult, Standing
from steadyboost.lab.reports import PACKAGE
from steadyboost.pages.page import (
    Badge,
    Column,
    DataTable,
    Figure,
    HeatTable,
    TableCell,
    heat_rows,
    made_by,
    plain_cell,
    render,
)
from steadyboost.pages.svg import PAGE_COLORS, Strip, strips

OURS, PEERS = "SteadyBoost", "other library"
MOST_CLASSES = 40  # of a table of errors by class that fits a page
COLUMNS = (
    Column("method", is_number=False),
    Column("error, %", hint="Misclassified test rows, mean over the folds"),
    Column("± sd", hint="Standard deviation of the error over the folds"),
    Column("balanced, / %", hint="Mean of the errors of the classes"),
    Column("log-loss", hint="Mean of -log of the probability of the true class"),
    Column(
        "AUC", hint="Area under the ROC curve; mean of each class against the rest", high_first=True
    ),
    Column("mean / rank", hint="Rank by error, mean over the folds"),
    Column("p", hint="Of the difference to the best: corrected resampled t-test", high_first=True),
    Column("fit, s", hint="Seconds to fit, mean over the folds"),
    Column("predict, / s", hint="Seconds to predict the test rows, mean over the folds"),
    Column("from", is_number=False, choices=(OURS, PEERS)),
)


def comparison_page(found: Comparison, name: str, command: str) -> str:
    """The page of a comparison; ``name`` is that of the data, ``command`` what made it."""
    return render(
        "comparison.html",
        PACKAGE,
        title=f"SteadyBoost: methods compared on {name}",
        heading=f"Which method for {name}?",
        made_by=made_by(command),
        facts=_facts(found),
        conclusions=found.conclusions(),
        standings=_standings(found),
        folds=_fold_figure(found),
        by_class=_errors_by_class(found),
        remarks=found.remarks(),
    )


def _facts(found: Comparison) -> list[tuple[str, str]]:
    setting = found.setting
    noise = f"{100 * setting.noise:g} %" if setting.noise else "none"
    kind = f" ({setting.kind.replace('_', ' ')})" if setting.noise else ""
    times = f" × {setting.repeats}" if setting.repeats > 1 else ""
    best = found.standings[0].name if found.standings else "none"
    return [
        (best, "has the lowest error"),
        (f"{setting.n_rows:,} × {setting.n_columns:,}", "rows × columns"),
        (f"{len(setting.classes)}", "classes"),
        (
            f"{100 * setting.baseline_error:.1f} %",
            "error of always answering the most frequent class",
        ),
        (noise, f"of the training labels corrupted{kind}"),
        (f"{setting.folds}{times}", f"folds, seed {setting.seed}"),
    ]


def _standings(found: Comparison) -> DataTable:
    best = [k for k, standing in enumerate(found.standings) if standing.is_best]
    rows = [*map(_row, found.standings), _baseline_row(found)]
    return DataTable("standings", COLUMNS, rows, search="Search", marked=best)


def _row(standing: Standing) -> list[TableCell]:
    percent, sd = 100 * standing.error, 100 * standing.error_sd
    loss = standing.log_loss
    return [
        plain_cell(standing.name),
        plain_cell(f"{percent:.2f}", percent),
        plain_cell(f"{sd:.2f}", sd),
        plain_cell(f"{100 * standing.balanced_error:.2f}", standing.balanced_error),
        plain_cell("" if loss is None else f"{loss:.3f}", "" if loss is None else loss),
        plain_cell("" if standing.auc is None else f"{standing.auc:.3f}", standing.auc or ""),
        plain_cell(f"{standing.rank:.1f}", standing.rank),
        _p_cell(standing),
        plain_cell(f"{standing.fit_seconds:.2f}", standing.fit_seconds),
        plain_cell(f"{standing.predict_seconds:.2f}", standing.predict_seconds),
        plain_cell(OURS if standing.is_ours else PEERS),
    ]


def _baseline_row(found: Comparison) -> list[TableCell]:
    """Always answering the most frequent class: what any method should be better than."""
    setting = found.setting
    always, error, balanced, auc = setting.baseline_cells
    cells = {
        "method": plain_cell(always),
        "error, %": plain_cell(error, 100 * setting.baseline_error),
        "balanced, / %": plain_cell(balanced, float(balanced) / 100),
        "AUC": plain_cell(auc, float(auc)),
    }
    return [cells.get(column.title, plain_cell("", "")) for column in COLUMNS]


def _p_cell(standing: Standing) -> TableCell:
    if standing.p_value is None:
        return TableCell("", 1.0, badge=Badge("best", "yes"))
    words = "< 0.001" if standing.p_value < 0.001 else f"{standing.p_value:.3f}"
    badge = Badge("n.s.", "yes") if standing.is_close else None
    return TableCell(words, standing.p_value, badge=badge)


def _fold_figure(found: Comparison) -> Figure:
    results = found.finished
    with_loss = [result for result in results if not np.isnan(result.log_losses).any()]
    panels = [
        strips("Error", "% of the test rows", [_strip(r, 100 * r.errors, ".1f") for r in results]),
        strips(
            "Log-loss",
            "mean of -log probability",
            [_strip(r, r.log_losses, ".2f") for r in with_loss],
        ),
        strips(
            "Time to fit",
            "seconds, logarithmic scale",
            [_strip(r, r.fit_seconds, ".2g") for r in results],
            log=True,
        ),
    ]
    caption = "All folds: a dot is a test fold, a bar the mean"
    return Figure(caption, [panel for panel in panels if panel], (OURS, PEERS))


def _strip(result: MethodResult, values: np.ndarray, form: str) -> Strip:
    color = PAGE_COLORS[0 if result.is_ours else 1]
    return Strip(result.name, values.tolist(), color, format(float(values.mean()), form))


def _errors_by_class(found: Comparison) -> HeatTable | None:
    """Errors within each class; None for too many classes."""
    names = [str(name) for name in found.setting.classes]
    if not found.finished or len(names) > MOST_CLASSES:
        return None
    errors = np.array([result.class_errors for result in found.finished])
    words = [[f"{100 * error:.1f}" for error in row] for row in errors]
    shares = 0.8 * errors / max(float(errors.max()), 0.01)
    methods = [result.name for result in found.finished]
    return HeatTable("method", names, heat_rows(methods, shares.tolist(), words))
