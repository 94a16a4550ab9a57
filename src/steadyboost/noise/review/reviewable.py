"""What one can do with an audit besides reading it: evidence, review, verdicts, other tools."""

import json
import os
from functools import cached_property
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np

from steadyboost.files import write_whole
from steadyboost.noise.label_table import LabelTable
from steadyboost.noise.review.evidence import Evidence, EvidenceFinder
from steadyboost.noise.review.matching import (
    ReviewedLabels,
    ReviewedTable,
    match_verdicts,
    reviewed_labels,
)
from steadyboost.noise.review.table import ShownTable
from steadyboost.noise.review.verdicts import Verdicts


class Reviewable:
    """Methods of :class:`~steadyboost.noise.LabelAudit` by which suspects are checked."""

    classes: np.ndarray
    given: np.ndarray
    notes: list[str]
    X: Any

    @property
    def table(self) -> LabelTable:
        """All rows, the least credible label first."""
        raise NotImplementedError

    def summary(self) -> str:
        """The count in one sentence."""
        raise NotImplementedError

    def explain(self, row: int) -> Evidence:
        """Why the label of a row is doubted, or not.

        Parameters
        ----------
        row : int
            Number of the row.

        Returns
        -------
        evidence : Evidence
            Probabilities, and what members of the ensemble, columns, nearest rows and rows of the
            same values say, where the audit's own model judged: as text, or ``as_dict()``.
        """
        if isinstance(row, bool) or not isinstance(row, Integral):
            raise ValueError(f"row={row!r} must be the number of a row.")
        if not 0 <= row < len(self.given):
            raise ValueError(f"row={row} is not from 0 to {len(self.given) - 1}.")
        return self._evidence.find([int(row)])[0]

    @cached_property
    def _evidence(self) -> EvidenceFinder:
        return EvidenceFinder(self, ShownTable(self.X))  # type: ignore[arg-type]

    def review(self, path: str | os.PathLike[str], *, table: Any = None, **settings: Any) -> None:
        """Write a page to review suspects with, by keyboard and touch, in any browser.

        Parameters
        ----------
        path : str or path-like
            The HTML file: self-contained, without network.
        table : table, default=None
            Values to show of the rows, such as texts; by default the audited rows.
        **settings
            ``ids``: an identifier for each row, and ``id_name``: what it is called. ``name`` and
            ``target``: names of the table and of the column of labels. ``pictures``: a file for
            each row. ``max_rows`` (100,000) and ``n_evidence`` (500): rows on the page, and rows
            with evidence, the most suspicious first.
        """
        from steadyboost.noise.review.page import ReviewSettings, review_page

        shown = self._shown(table)
        write_whole(Path(path), review_page(self, ReviewSettings(shown, **settings)))  # type: ignore[arg-type]

    def apply(self, verdicts: Verdicts, *, table: Any = None, ids: Any = None) -> ReviewedLabels:
        """The labels after a review.

        Parameters
        ----------
        verdicts : Verdicts
            As :func:`~steadyboost.noise.read_verdicts` reads them.
        table : table, default=None
            What :meth:`review` was given, by which rows are known again.
        ids : sequence of str, default=None
            An identifier for each row, to find rows by instead of their numbers.

        Returns
        -------
        labels : ReviewedLabels
            The labels ``y``, the masks ``keep`` (rows not left out) and ``verified``, and the
            settled labels by row, ``truth``, for ``audit(X, given, verified=labels.truth)``.
        """
        shown = self._shown(table)
        hash_of = None if shown is None else ShownTable.of(shown).hash
        given = [str(label) for label in self.given.tolist()]
        named = None if ids is None else list(map(str, ids))
        changes = match_verdicts(verdicts, ReviewedTable(given, hash_of, named))
        return reviewed_labels(self.given, changes)

    def to_label_studio(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        table: Any = None,
        n: int | None = None,
    ) -> list[dict[str, Any]]:
        """Tasks with predictions, as Label Studio imports them.

        Parameters
        ----------
        path : str or path-like, default=None
            A JSON file to write as well.
        table : table, default=None
            Values of the rows; by default the audited rows.
        n : int, default=None
            Rows, the most suspicious first; by default the suspects.

        Returns
        -------
        tasks : list of dict
            They fit the labelling interface of :meth:`label_studio_config`.
        """
        from steadyboost.noise.review.tasks import label_studio_task

        return self._tasks(label_studio_task, path, table, n)

    def label_studio_config(self) -> str:
        """The labelling interface of a Label Studio project for these tasks, as XML."""
        from steadyboost.noise.review.tasks import label_studio_config

        return label_studio_config(self.classes)

    def to_argilla(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        table: Any = None,
        n: int | None = None,
    ) -> list[dict[str, Any]]:
        """Records with suggestions, as ``dataset.records.from_json`` of Argilla reads them.

        The dataset needs a text field named "row" and a label question named "label".

        Parameters
        ----------
        path, table, n
            As in :meth:`to_label_studio`.

        Returns
        -------
        records : list of dict
            Records of Argilla 2.
        """
        from steadyboost.noise.review.tasks import argilla_record

        return self._tasks(argilla_record, path, table, n)

    def _tasks(self, made: Any, path: Any, table: Any, n: int | None) -> list[dict[str, Any]]:
        from steadyboost.noise.review.tasks import tasks_of

        found = [made(task) for task in tasks_of(self, self._shown(table), n)]  # type: ignore[arg-type]
        if path is not None:
            write_whole(Path(path), json.dumps(found, indent=1, ensure_ascii=False) + "\n")
        return found

    def _shown(self, table: Any) -> Any:
        return self.X if table is None else table

    def _repr_html_(self) -> str:
        """As notebooks show it."""
        return self.table.head()._repr_html_(self.summary(), self.notes, len(self.table))
