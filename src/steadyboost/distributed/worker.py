"""One machine of several: its rows, and the loop on them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import cloudpickle
import numpy as np

from steadyboost.distributed.collectives import Spread, Strands
from steadyboost.distributed.preprocessing import Piece
from steadyboost.ensemble.loop import Boosting, Seeds
from steadyboost.ensemble.training_state import Rows, digest
from steadyboost.ensemble.validation import take_rows
from steadyboost.learners.base import Data, Pieces

if TYPE_CHECKING:
    from steadyboost.ensemble.estimator import BoostingClassifier
    from steadyboost.ensemble.stages import Stage

MEET, DONE, FAILED = "meet", "done", "failed"


class Share(Boosting):
    """A training run of which this machine has a share."""

    no_edge: float | None = None

    def warn_of_no_edge(self, error: float) -> None:
        """Take note: it is for the one who started the run to warn."""
        self.no_edge = error


class Member:
    """Rows of some partitions; what is asked of it is done in a strand, and waits at meetings.

    Messages are bytes, so that arrays are writable on the other side, too (kernels would otherwise
    be compiled twice), and can be counted.
    """

    def __init__(
        self,
        number: int,
        train: Sequence[Piece],
        validation: Sequence[Piece],
        n_threads: int = 1,
    ):
        self.number = number
        self.strands = Strands()
        self.workers = Spread(self.strands, n_threads, number)
        self.workers.__enter__()
        self.train = Held.of(train)
        self.validation = Held.of(validation) if validation else self.train.of_none
        self.run: Share | None = None

    def __del__(self) -> None:
        self.strands.close()
        self.workers.__exit__()

    def begin(self, message: bytes) -> bytes:
        """Start a function of this member; its first meetings, or its result."""
        function, arguments = cloudpickle.loads(message)
        return self._answer(lambda: self.strands.start(lambda: function(self, *arguments)))

    def go_on(self, message: bytes) -> bytes:
        """Go on with the conclusions of the meetings."""
        return self._answer(lambda: self.strands.go_on(cloudpickle.loads(message)))

    def abandon(self) -> None:
        """End what was begun."""
        self.strands.abandon()

    def _answer(self, step: Callable[[], Any]) -> bytes:
        try:
            meetings = step()
            answer = (DONE, self.strands.result()) if meetings is None else (MEET, meetings)
            return cloudpickle.dumps(answer)
        except Exception as error:
            return cloudpickle.dumps((FAILED, error))


@dataclass
class Held:
    """Pieces put together."""

    data: Data
    y: np.ndarray
    weights: np.ndarray | None
    costs: np.ndarray | None

    @classmethod
    def of(cls, pieces: Sequence[Piece]) -> "Held":
        pieces = sorted(pieces, key=lambda piece: piece.number)
        binned = [piece.binned for piece in pieces]
        bounds = np.cumsum([0, *(len(piece.y) for piece in pieces)]).tolist()
        numbers = [piece.number for piece in pieces]
        data = Data(None, type(binned[0]).joined(binned), None, Pieces(numbers, bounds))
        arrays = [(piece.y, piece.weights, piece.costs) for piece in pieces]
        return cls(data, *map(_together, zip(*arrays, strict=True)))

    def take(self, rows: np.ndarray) -> "Held":
        return Held(self.data.take(rows), *take_rows(rows, self.y, self.weights, self.costs))

    @property
    def of_none(self) -> "Held":
        """The same, of no rows."""
        held = self.take(np.arange(0))
        held.data.pieces = Pieces([], [0])
        return held

    def rows(self, booster: "BoostingClassifier", workers: Spread) -> Rows:
        k, columns = booster.n_classes_, booster.n_columns()
        return Rows(self.data, self.y, k, self.weights, workers, columns, costs=self.costs)

    def fingerprint(self) -> str:
        return digest((*self.data.arrays, self.y, self.weights, self.costs))


def _together(arrays: Sequence[Any]) -> Any:
    return None if arrays[0] is None else np.concatenate(arrays)


# What members are asked to do; all of them do it together.


def tune(member: Member, booster: "BoostingClassifier") -> tuple[dict[str, Any], set[str]]:
    """Let the booster choose from the training rows; what it has set, and what it has dropped."""
    before = dict(vars(booster))
    booster.tune(member.train.rows(booster, member.workers), booster._learner())
    after = vars(booster)
    changed = {name: after[name] for name in after if after[name] is not before.get(name)}
    return changed, before.keys() - after.keys()


def start(member: Member, booster: "BoostingClassifier", stages: list["Stage"], seen: bool) -> None:
    """Begin a run with the stages that there are; validation rows, if any, are ``seen``."""
    rows = member.train.rows(booster, member.workers)
    validation = member.validation.rows(booster, member.workers) if seen else None
    seeds, n_rounds = Seeds(booster._seed), booster.n_rounds()
    member.run = Share(booster, booster._learner(), rows, validation, seeds, n_rounds, stages)
    member.run.replay()


def one_round(member: Member) -> tuple[bool, list["Stage"], list[dict], float | None] | None:
    """One round, as the first member tells of it."""
    run = member.run
    assert run is not None
    n_stages, n_records, run.no_edge = len(run.stages), len(run.history), None
    over = run.one_round()
    if member.number > 0:
        return None
    return over, run.stages[n_stages:], run.history[n_records:], run.no_edge


def is_done(member: Member) -> bool:
    assert member.run is not None
    return member.run.is_done()


def error_on(member: Member, name: str) -> float:
    assert member.run is not None
    return member.run.error_on(getattr(member.run, name))


def fetch(member: Member, name: str, function: Callable[[Share, Rows], Any]) -> list[Any]:
    """An array with an entry per row, block by block, each with its place among all."""
    assert member.run is not None
    rows = getattr(member.run, name)
    values = function(member.run, rows)
    return [(block.order, values[block.rows]) for block in rows.blocks] if len(rows) else []


def digests(member: Member, name: str) -> list[tuple[int, str]]:
    """Fingerprints of the pieces."""
    held = member.train if name == "rows" else member.validation
    assert held.data.pieces is not None
    spans = held.data.pieces.spans
    return [(k, held.take(np.arange(a, b)).fingerprint()) for k, a, b in spans]
