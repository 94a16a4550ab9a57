"""What an experiment is: the words that the files in ``papers/`` are written in."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

DIMENSIONS = ("data", "noise", "method", "round", "part")
LAST = 0  # in place of a round: the last one, however many there are


@dataclass(frozen=True)
class Method:
    """An estimator by its public name, and how its free parameters are chosen.

    ``grid`` lists values to choose from on validation rows (``learner.max_depth`` for a parameter
    of the weak learner); ``best_round`` keeps the round that was best on them. ``extra`` methods
    are ours: the paper has no numbers for them. Without a ``learner`` the experiment's is used,
    unless ``own_learner`` says that the estimator brings its own.
    """

    id: str
    estimator: str
    name: str = ""
    learner: Mapping[str, Any] | None = None
    own_learner: bool = False
    parameters: Mapping[str, Any] = field(default_factory=dict)
    rounds: int | None = None
    rounds_parameter: str = "n_estimators"
    grid: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    best_round: bool = False
    extra: bool = False
    note: str = ""

    @property
    def label(self) -> str:
        return self.name or self.id


@dataclass(frozen=True)
class DataChoice:
    """A data set as a paper used it: ``change`` says how it differs from the one of that name.

    ``missing`` says why a set cannot be had at all. ``protocol`` overrides the experiment's.
    """

    id: str
    set: str = ""
    name: str = ""
    change: Mapping[str, Any] = field(default_factory=dict)
    protocol: str = ""
    missing: str = ""
    note: str = ""

    @property
    def label(self) -> str:
        return self.name or self.id


@dataclass(frozen=True)
class Protocol:
    """How rows are parted into those to train on, to choose by and to test on, and how often.

    ``shuffle`` trains on a random share; ``folds`` is cross-validation (``repeats`` times), with a
    ``validation`` fold where asked; ``split`` uses the pre-specified parts; ``reshuffle`` draws
    parts of their sizes; ``generated`` draws a new problem each time.
    """

    id: str
    kind: str
    repeats: int
    train: float | None = None
    folds: int | None = None
    validation: bool = False
    at_most: int | None = None

    @property
    def n_runs(self) -> int:
        """Runs of each method: repeats, or folds of all repeats."""
        runs = self.repeats * (self.folds or 1)
        return runs if self.at_most is None else min(runs, self.at_most)


@dataclass(frozen=True)
class Quantity:
    """A number that claims compare: an error, a difference of errors, a constant.

    Of several methods the ``best`` counts, or the ``spread`` (largest less smallest), or else each
    of them. ``budget`` is the error reached within a share of another method's time; ``chosen``
    the value that was chosen for a parameter; ``noise_level`` the rate of noise itself.
    """

    method: tuple[str, ...] = ()
    noise: float | None = None
    round: int | None = None
    part: str | None = None
    best: bool = False
    spread: bool = False
    minus: "Quantity | None" = None
    value: float | None = None
    noise_level: bool = False
    chosen: str = ""
    budget: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper and what must hold, on how many of the points, for it to be true.

    Points are the data sets, rates of noise, rounds and parts of the experiment that the two
    quantities leave open, or its ``problems``; ``data``, ``noise`` and ``round`` restrict them.
    """

    says: str
    left: Quantity
    right: Quantity
    relation: str = "lower"
    at_least: str = "all"
    significant: bool = False
    each: bool = False
    count: str = "points"
    data: tuple[str, ...] = ()
    noise: tuple[float, ...] = ()
    round: tuple[int, ...] = ()
    ours: bool = False
    cannot: str = ""


@dataclass(frozen=True)
class Printed:
    """A number as printed: its text, mean and standard deviation; None where not readable."""

    text: str
    mean: float | None = None
    sd: float | None = None


@dataclass(frozen=True)
class Picture:
    """A chart: ``curves`` by round or time, ``lines`` by noise or by method, ``bars`` by data set,
    ``scatter`` and ``histogram`` of one method against another over the problems.
    """

    kind: str
    title: str
    by: str = "round"
    part: str = "test"
    log: bool = False
    methods: tuple[str, ...] = ()


@dataclass(frozen=True)
class Quick:
    """What ``--quick`` cuts an experiment down to."""

    repeats: int = 2
    rounds: int = 20
    data: tuple[str, ...] = ()
    noise: tuple[float, ...] = ()


@dataclass(frozen=True)
class Point:
    """A place in the results: what the table's rows and columns, and the claims, go through."""

    data: str
    noise: float
    method: str
    round: int
    part: str


@dataclass(frozen=True)
class Experiment:
    """One table or figure of a paper."""

    paper: str
    id: str
    title: str
    methods: tuple[Method, ...]
    data: tuple[DataChoice, ...]
    protocols: Mapping[str, Protocol]
    protocol: str
    rounds: int
    learner: Mapping[str, Any] | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    noise_kind: str = "symmetric"
    noise: tuple[float, ...] = (0.0,)
    reference_noise: tuple[float, ...] = ()
    record: tuple[int, ...] = ()
    curve: bool = False
    clock: bool = False
    parts: tuple[str, ...] = ("test",)
    measure: str = "error"
    rows: tuple[str, ...] = ("data",)
    columns: tuple[str, ...] = ("method",)
    printed: Mapping[Point, Printed] = field(default_factory=dict)
    printed_from: tuple[str, ...] = ()
    claims: tuple[Claim, ...] = ()
    pictures: tuple[Picture, ...] = ()
    quick: Quick = Quick()
    focus: str = ""
    notes: tuple[str, ...] = ()
    is_quick: bool = False

    @property
    def name(self) -> str:
        return f"{self.paper}/{self.id}"

    @property
    def shown_rounds(self) -> tuple[int, ...]:
        """Rounds that the table shows: those that the paper names, or the end."""
        return self.record or (LAST,)

    def protocol_of(self, data: DataChoice) -> Protocol:
        return self.protocols[data.protocol or self.protocol]

    def method(self, id_: str) -> Method:
        return next(method for method in self.methods if method.id == id_)

    def values(self, dimension: str) -> tuple[Any, ...]:
        """What the experiment goes through along one dimension."""
        return {
            "data": tuple(choice.id for choice in self.data),
            "noise": self.noise,
            "method": tuple(method.id for method in self.methods),
            "round": self.shown_rounds,
            "part": self.parts,
        }[dimension]

    def points(self, dimensions: tuple[str, ...]) -> list[dict[str, Any]]:
        """All combinations of values along some dimensions, the last one running fastest."""
        ranges = [self.values(dimension) for dimension in dimensions]
        return [dict(zip(dimensions, values, strict=True)) for values in product(*ranges)]

    def conditions(self) -> Iterator[tuple[Method, DataChoice, float]]:
        """Every method on every data set at every rate of noise, data sets outermost."""
        rates = (*self.reference_noise, *self.noise)
        for data, rate, method in product(self.data, rates, self.methods):
            yield method, data, rate


def quick_version(experiment: Experiment) -> Experiment:
    """The same experiment with fewer repeats, rounds, data sets and rates of noise."""
    quick = experiment.quick
    rounds = min(quick.rounds, experiment.rounds)
    named = quick.data or tuple(choice.id for choice in experiment.data[:3])
    return replace(
        experiment,
        data=tuple(choice for choice in experiment.data if choice.id in named),
        protocols={key: _fewer(p, quick.repeats) for key, p in experiment.protocols.items()},
        rounds=rounds,
        methods=tuple(_shorter(method, rounds) for method in experiment.methods),
        record=tuple(t for t in experiment.record if t <= rounds),
        noise=quick.noise or experiment.noise,
        is_quick=True,
    )


def with_repeats(experiment: Experiment, repeats: int) -> Experiment:
    """The same experiment, with its first repeats (or folds) alone."""
    protocols = {key: _fewer(p, repeats) for key, p in experiment.protocols.items()}
    return replace(experiment, protocols=protocols)


def _fewer(protocol: Protocol, runs: int) -> Protocol:
    """At most so many runs; the folds that are left stay those of the whole."""
    return replace(protocol, at_most=runs)


def _shorter(method: Method, rounds: int) -> Method:
    return method if method.rounds is None else replace(method, rounds=min(method.rounds, rounds))
