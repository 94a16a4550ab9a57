"""The page of ``steadyboost compare``."""

from __future__ import annotations

import numpy as np

from steadyboost.lab.comparison.result import Comparison, MethodResult, Standing
from steadyboost.lab.reports.charts import COLORS, legend
from steadyboost.lab.reports.page import (
    badge,
    facts,
    figure,
    html_page,
    listing,
    made_by,
    paragraph,
)
from steadyboost.lab.reports.strips import Strip, strips
from steadyboost.lab.reports.tables import Column, TableCell, data_table, heat_table, text

OURS, PEERS = "SteadyBoost", "other library"
MOST_CLASSES = 40  # that a table of errors by class shows
COLUMNS = (
    Column("method", is_number=False),
    Column("error, %", hint="Share of test rows called wrongly, mean and deviation over the folds"),
    Column("± sd", hint="Standard deviation of the error over the folds"),
    Column("balanced, %", hint="Mean of the errors of the classes, as if all were equally large"),
    Column("log-loss", hint="Mean of -log of the probability of the right class"),
    Column("mean rank", hint="By error, in the mean of the folds"),
    Column("p", hint="Of the difference to the best: corrected resampled t-test", high_first=True),
    Column("fit, s", hint="Seconds to train, in the mean of the folds"),
    Column("predict, s", hint="Seconds to predict the test rows"),
    Column("from", is_number=False, choices=(OURS, PEERS)),
)
NOTE = (
    "Methods have their default parameters, unless given others. The p-value is that of the "
    "corrected resampled t-test (Nadeau and Bengio, 2003) of the difference in error to the best "
    "method: from 0.05 on, the difference may be chance. Of many methods, the best was lucky too."
)


def comparison_page(found: Comparison, name: str, command: str) -> str:
    """The page; ``name`` is that of the data, ``command`` what made it."""
    return html_page(
        f"SteadyBoost: methods compared on {name}",
        f"Which method for {name}?",
        made_by(command),
        [
            _facts(found),
            *(paragraph(sentence) for sentence in found.conclusions()),
            "<h2>Standings</h2>",
            _standings(found),
            paragraph(NOTE, "quiet"),
            _pictures(found),
            _by_class(found),
            listing(found.remarks()),
        ],
    )


def _facts(found: Comparison) -> str:
    setting = found.setting
    noise = f"{100 * setting.noise:g} %" if setting.noise else "none"
    kind = f" ({setting.kind.replace('_', ' ')})" if setting.noise else ""
    times = f" × {setting.repeats}" if setting.repeats > 1 else ""
    best = found.standings[0].name if found.standings else "none"
    return facts(
        [
            (best, "has the fewest errors"),
            (f"{setting.n_rows:,} × {setting.n_columns:,}", "rows × columns"),
            (f"{len(setting.classes)}", "classes"),
            (noise, f"of the training labels made wrong{kind}"),
            (f"{setting.folds}{times}", f"folds, seed {setting.seed}"),
        ]
    )


def _standings(found: Comparison) -> str:
    rows = [_row(standing) for standing in found.standings]
    close = [k for k, standing in enumerate(found.standings) if standing.is_best]
    return data_table("standings", COLUMNS, rows, search="Search", marked=close)


def _row(standing: Standing) -> list[TableCell]:
    percent, sd = 100 * standing.error, 100 * standing.error_sd
    loss = standing.log_loss
    return [
        text(standing.name),
        text(f"{percent:.2f}", percent),
        text(f"{sd:.2f}", sd),
        text(f"{100 * standing.balanced_error:.2f}", standing.balanced_error),
        text("" if loss is None else f"{loss:.3f}", "" if loss is None else loss),
        text(f"{standing.rank:.1f}", standing.rank),
        _p_cell(standing),
        text(f"{standing.fit_seconds:.2f}", standing.fit_seconds),
        text(f"{standing.predict_seconds:.2f}", standing.predict_seconds),
        text(OURS if standing.is_ours else PEERS),
    ]


def _p_cell(standing: Standing) -> TableCell:
    if standing.p_value is None:
        return TableCell(badge("best", "yes"), 1.0)
    words = "< 0.001" if standing.p_value < 0.001 else f"{standing.p_value:.3f}"
    close = " " + badge("close", "yes") if standing.is_close else ""
    return TableCell(words.replace("<", "&lt;") + close, standing.p_value)


def _pictures(found: Comparison) -> str:
    results = found.finished
    panels = [
        strips("Error", "% of the test rows", [_strip(r, 100 * r.errors, ".1f") for r in results]),
        strips(
            "Log-loss",
            "mean of -log probability",
            [_strip(r, r.log_losses, ".2f") for r in results if not np.isnan(r.log_losses).any()],
        ),
        strips(
            "Time to train",
            "seconds, in powers of ten",
            [_strip(r, r.fit_seconds, ".2g") for r in results],
            log=True,
        ),
    ]
    keys = legend([OURS, PEERS])
    return figure(
        "Every fold: bars are means, dots are test folds",
        [panel for panel in panels if panel],
        keys,
    )


def _strip(result: MethodResult, values: np.ndarray, form: str) -> Strip:
    color = COLORS[0 if result.is_ours else 1]
    return Strip(result.name, values.tolist(), color, format(float(values.mean()), form))


def _by_class(found: Comparison) -> str:
    """Errors within each class, as a table coloured by them."""
    names = [str(name) for name in found.setting.classes]
    if not found.finished or len(names) > MOST_CLASSES:
        return ""
    errors = np.array([result.class_errors for result in found.finished])
    words = [[f"{100 * error:.1f}" for error in row] for row in errors]
    shares = 0.8 * errors / max(float(errors.max()), 0.01)
    methods = [result.name for result in found.finished]
    return "\n".join(
        [
            "<h2>Errors by class</h2>",
            paragraph("Percent of the rows of a class that were called something else.", "quiet"),
            heat_table("method", names, methods, shares.tolist(), words),
        ]
    )
