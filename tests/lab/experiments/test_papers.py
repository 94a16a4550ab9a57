"""The files of the papers: complete, consistent and true to the text."""

import pytest

from steadyboost.lab.experiments.cells import cells_of
from steadyboost.lab.experiments.claims import PrintedReader, count, n_needed
from steadyboost.lab.experiments.plan import quick_version
from steadyboost.lab.experiments.problems import CHANGES, is_known
from steadyboost.lab.experiments.reading import find, papers
from steadyboost.lab.experiments.work import build, choices, why_unavailable
from steadyboost.lab.reports.experiments import KINDS

ALL = [experiment for paper in papers() for experiment in paper.experiments]
each_experiment = pytest.mark.parametrize("experiment", ALL, ids=lambda e: e.name)
WANTED = {
    "000": [*(f"table-{k}" for k in range(2, 8)), "table-7-depth-3", "table-8"],
    "001": ["table-2", "table-3", "table-4", "table-4-trees", "figure-1"],
    "002": ["table-2", "table-3", "table-4", "table-4-small", "figure-3"],
    "003": [f"figure-{k}" for k in range(4, 9)],
    "004": ["table-2", "table-3", *(f"figure-{k}" for k in range(1, 8))],
}
# Claims that the paper's own printed numbers do not bear out, with what they show.
CONTRADICTED = {
    "On all sets BinBoost.Reg and MSmoothBoost degrade less than AdaBoost.OC.": (6, 7),
    "WeightBoost has a lower error than ε-Boost on seven of eight sets.": (6, 8),
    "On most sets neither booster reduces the error of ECOC.": (2, 7),
}


def test_every_table_and_figure_is_there():
    assert {p.id: [e.id for e in p.experiments] for p in papers()} == WANTED


@each_experiment
def test_data_sets_are_in_the_catalog(experiment):
    for choice in experiment.data:
        assert bool(choice.missing) != is_known(choice.set), choice.id
        assert set(choice.change) <= {*CHANGES, "category"}


@each_experiment
def test_printed_numbers_are_plausible(experiment):
    top = 100 if experiment.measure == "error" else 1
    for point, printed in experiment.printed.items():
        assert printed.mean is None or 0 <= printed.mean <= top, point
        assert printed.sd is None or 0 <= printed.sd <= 10, point


@each_experiment
def test_tables_have_a_printed_number_for_each_place(experiment):
    if not experiment.id.startswith("table"):
        return
    own = [method.id for method in experiment.methods if not method.extra]
    rounds = experiment.shown_rounds
    n_places = len(experiment.data) * len(own) * len(experiment.noise) * len(rounds)
    here = [p for p in experiment.printed if p.noise in experiment.noise]
    assert len(here) >= n_places


@each_experiment
def test_claims_agree_with_the_printed_numbers(experiment):
    for claim in experiment.claims:
        found = count(claim, experiment, PrintedReader(dict(experiment.printed)))
        if claim.says in CONTRADICTED:
            assert (found.holds, found.total) == CONTRADICTED[claim.says]
        elif found.total:
            assert found.holds >= n_needed(claim.at_least, found.total), claim.says


@each_experiment
def test_every_experiment_has_a_claim_and_known_pictures(experiment):
    assert experiment.claims
    assert {picture.kind for picture in experiment.pictures} <= set(KINDS)


@each_experiment
def test_quick_versions_are_smaller(experiment):
    quick = quick_version(experiment)
    assert quick.is_quick
    assert quick.data
    assert sum(1 for _ in cells_of(quick)) <= sum(1 for _ in cells_of(experiment))


@each_experiment
def test_cells_differ_from_each_other(experiment):
    keys = [cell.key for cell in cells_of(quick_version(experiment))]
    assert len(set(keys)) == len(keys)


@each_experiment
def test_available_estimators_take_their_parameters(experiment):
    for cell in cells_of(quick_version(experiment)):
        method = cell.config["method"]
        if not why_unavailable(method["estimator"]) and cell.repeat == 0:
            for choice in choices(method):
                build(method, choice, n_classes=3, seed=0)._validate_params()


def test_find_by_name_by_paper_and_all():
    assert [e.name for e in find(["000/table-3"])] == ["000/table-3"]
    assert len(find(["003", "003/figure-4"])) == len(WANTED["003"])
    assert find(["all"]) == ALL
    with pytest.raises(ValueError, match="no experiment '009'"):
        find(["009"])


def test_protocols_as_printed():
    def protocol(name, data=0):
        experiment = find([name])[0]
        return experiment.protocol_of(experiment.data[data])

    assert (protocol("000/table-2").train, protocol("000/table-2").n_runs) == (0.6, 10)
    assert (protocol("001/table-4").folds, protocol("001/table-4").n_runs) == (10, 30)
    assert protocol("002/table-2").validation
    assert protocol("003/figure-4").n_runs == 100
    assert protocol("003/figure-4", data=-1).n_runs == 20
    assert protocol("004/figure-1").n_runs == 1000
    assert protocol("004/figure-5").n_runs == 25
