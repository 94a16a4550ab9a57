"""Verdicts on numbers that are made up here."""

from dataclasses import replace

import numpy as np
import pytest
import tiny
from scipy.stats import t as student

from steadyboost.lab.experiments.cells import Condition
from steadyboost.lab.experiments.claims import judge, n_needed
from steadyboost.lab.experiments.plan import Claim, Quantity
from steadyboost.lab.experiments.reading import point_at
from steadyboost.lab.experiments.results import Draws, Results


def fake(errors, chosen=None, clock=()):
    """A run as the workers record it."""
    return {
        "errors": {"test": list(errors)},
        "recorded": list(range(1, len(errors) + 1)),
        "chosen": chosen or {},
        "clock": list(clock),
        "n_train": 90,
        "n_test": 10,
        "warnings": [],
    }


def results_of(table, at=0.0, **changes):
    """Results from {(method, data): errors of the runs}."""
    experiment, n_runs = tiny.experiment(**changes), max(map(len, table.values()))
    protocols = {
        key: replace(protocol, repeats=max(protocol.repeats, n_runs))
        for key, protocol in experiment.protocols.items()
    }
    results = Results(replace(experiment, protocols=protocols))
    for (method, data), errors in table.items():
        runs = {k: fake([error / 100]) for k, error in enumerate(errors)}
        results.runs[Condition(method, data, at)] = runs
    return results


TABLE = {
    ("SAMME", "iris"): [1, 2, 3],
    ("M1", "iris"): [11, 12, 14],
    ("SAMME", "wine"): [5, 6, 7],
    ("M1", "wine"): [4, 7, 8],
}


def claim(**options):
    sides = {"left": Quantity(("SAMME",)), "right": Quantity(("M1",))}
    return Claim("says", **{**sides, **options})


def test_means_are_compared_set_by_set():
    verdict = judge(claim(), results_of(TABLE))
    assert (verdict.state, verdict.ours.holds, verdict.ours.total) == ("undecided", 2, 2)
    assert verdict.ours.unknown == 1  # the data set that nobody has
    assert judge(claim(data=("iris",)), results_of(TABLE)).state == "reproduces"
    verdict = judge(claim(relation="higher"), results_of(TABLE))
    assert (verdict.state, verdict.ours.fails) == ("does not", ("iris", "wine"))


def test_significance_needs_a_clear_difference():
    verdict = judge(claim(significant=True), results_of(TABLE))
    assert (verdict.state, verdict.ours.fails) == ("does not", ("wine",))
    assert (
        judge(claim(significant=True, at_least="1 of 2"), results_of(TABLE)).state == "reproduces"
    )
    one_run = {key: errors[:1] for key, errors in TABLE.items()}
    verdict = judge(claim(significant=True), results_of(one_run))
    assert "more than one run" in verdict.sentence


def test_not_lower_means_not_significantly_lower():
    verdict = judge(claim(relation="not_lower"), results_of(TABLE))
    assert verdict.ours.fails == ("iris",)


def test_the_papers_own_numbers_are_judged_too():
    verdict = judge(claim(), results_of(TABLE))
    assert (verdict.printed.holds, verdict.printed.total) == (1, 1)  # only iris has both
    assert "the paper's own numbers: 1 of 1" in verdict.sentence


def test_a_method_that_never_ran_decides_nothing():
    verdict = judge(claim(left=Quantity(("future",))), results_of(TABLE))
    assert verdict.state == "not run yet"
    results = results_of(TABLE)
    results.reasons[Condition("future", "iris", 0.0)] = "it does not exist"
    verdict = judge(claim(left=Quantity(("future",))), results)
    assert verdict.sentence == "cannot be run: it does not exist"


def test_best_spread_and_constants():
    best = claim(left=Quantity(("SAMME", "M1"), best=True), right=Quantity(value=6.1))
    assert judge(best, results_of(TABLE)).ours.holds == 2
    spread = claim(left=Quantity(("SAMME", "M1"), spread=True), right=Quantity(value=1.0))
    assert judge(spread, results_of(TABLE)).ours.fails == ("iris",)


def test_each_counts_methods_apart():
    each = claim(left=Quantity(("SAMME", "M1")), right=Quantity(value=3.0), each=True)
    verdict = judge(each, results_of(TABLE))
    assert (verdict.ours.holds, verdict.ours.total) == (1, 4)
    assert "iris / M1" in verdict.ours.fails


def test_differences_between_rates_of_noise():
    results = results_of(TABLE, noise=(0.2,), reference_noise=(0.0,))
    noisy = {("SAMME", "iris"): [9, 10, 11], ("M1", "iris"): [13, 14, 16]}
    results.runs.update(results_of(noisy, at=0.2).runs)
    rise = [Quantity((m,), noise=0.2, minus=Quantity((m,), noise=0.0)) for m in ("SAMME", "M1")]
    verdict = judge(Claim("says", *rise, data=("iris",)), results)
    assert (verdict.state, verdict.ours.total) == ("does not", 1)  # 8 points against 2


def test_problems_are_counted_one_by_one():
    asked = claim(count="problems", data=("wine",), at_least="most")
    verdict = judge(asked, results_of(TABLE))
    assert (verdict.ours.holds, verdict.ours.total, verdict.state) == (2, 3, "undecided")
    many = {key: 20 * errors for key, errors in TABLE.items()}
    verdict = judge(asked, results_of(many))
    assert (verdict.ours.holds, verdict.ours.total, verdict.state) == (40, 60, "reproduces")


def test_chosen_values_and_errors_within_a_time():
    results = Results(tiny.experiment())
    slow = fake([0.5, 0.3, 0.1], {"smoothing": 0.7}, clock=[1.0, 2.0, 3.0])
    quick = fake([0.4, 0.2, 0.15], {"smoothing": 0.1}, clock=[0.1, 0.2, 0.3])
    results.runs[Condition("SAMME", "iris", 0.0)] = {0: quick}
    results.runs[Condition("M1", "iris", 0.0)] = {0: slow}
    chosen = [Quantity((m,), chosen="smoothing") for m in ("SAMME", "M1")]
    assert judge(Claim("says", *chosen), results).state == "undecided"  # one value each
    results.runs[Condition("SAMME", "iris", 0.0)] |= {1: quick, 2: quick}
    results.runs[Condition("M1", "iris", 0.0)] |= {1: slow, 2: slow}
    assert judge(Claim("says", *chosen), results).state == "reproduces"
    budget = {"method": "M1", "share": 0.5}
    hurried = [Quantity((m,), budget=budget) for m in ("SAMME", "M1")]
    assert judge(Claim("says", *hurried), results).state == "reproduces"
    assert judge(claim(), results).state == "does not"  # with all the time there is


@pytest.mark.parametrize(
    ("at_least", "total", "needed"),
    [("all", 7, 7), ("most", 6, 4), ("almost all", 8, 6), ("4 of 7", 7, 4), ("4 of 7", 5, 3)],
)
def test_how_many_must_hold(at_least, total, needed):
    assert n_needed(at_least, total) == needed


def test_a_share_in_other_words_is_refused():
    with pytest.raises(ValueError, match="at_least='many'"):
        n_needed("many", 3)


def test_runs_that_lack_a_partner_are_left_out():
    results = results_of({**TABLE, ("M1", "wine"): [4]})
    assert judge(claim(data=("wine",)), results).ours.holds == 0  # 5 against 4 in the only pair
    assert np.isnan(results.values(next(iter(results.experiment.printed))))[3:].all()


def test_a_claim_is_undecided_where_chance_could_turn_it():
    """The errors of ten runs: clearly lower, lower by chance, and clearly higher."""
    rng = np.random.default_rng(0)
    noise = rng.normal(size=10)
    for shift, state in ((-3, "reproduces"), (-0.3, "undecided"), (3, "does not")):
        table = {("SAMME", "iris"): 20 + shift + noise, ("M1", "iris"): 20 + noise[::-1]}
        verdict = judge(claim(data=("iris",)), results_of(table))
        assert verdict.state == state
        assert ("resamples of the runs" in verdict.sentence) == (state == "undecided")


def test_draws_vary_as_the_corrected_t_test_has_it():
    values = np.array([4.0, 6.0, 7.0, 9.0, 12.0])
    results = results_of({("SAMME", "iris"): values, ("M1", "iris"): values - 1})
    draws = Draws(results)
    points = [point_at(results.experiment, {"data": "iris", "method": m}) for m in ("SAMME", "M1")]
    one, other = (draws.read(point, Quantity((point.method,))) for point in points)
    corrected = values.std(ddof=1) * np.sqrt(1 / 5 + 10 / 90)
    assert one.mean() == pytest.approx(values.mean(), abs=0.15)
    assert one.std() == pytest.approx(corrected * student.ppf(0.975, 4) / 1.96, rel=0.1)
    np.testing.assert_allclose(one - other, 1)  # runs are paired


def test_a_single_run_varies_as_its_test_rows_do():
    """Ten test rows: a difference of one or two of them is nothing."""
    one_run = {("SAMME", "iris"): [20], ("M1", "iris"): [40]}
    assert judge(claim(data=("iris",)), results_of(one_run)).state == "undecided"
    results = results_of(one_run)
    for runs in results.runs.values():
        runs[0]["n_test"] = 10_000
    assert judge(claim(data=("iris",)), results).state == "reproduces"
    results = results_of(one_run, measure="f1")  # of which no chance is known
    assert judge(claim(data=("iris",)), results).state == "undecided"


def test_a_verdict_by_the_plain_t_test_is_told_where_it_differs():
    rng = np.random.default_rng(1)
    table = {("SAMME", "iris"): 10 + rng.normal(size=30), ("M1", "iris"): 10.8 + np.zeros(30)}
    results = results_of(table)
    for runs in results.runs.values():
        for run in runs.values():
            run["n_test"] = run["n_train"]
    verdict = judge(claim(significant=True, data=("iris",)), results)
    assert (verdict.state, verdict.plain) == ("does not", "reproduces")
    assert "by the plain t-test: reproduces" in verdict.sentence
    assert judge(claim(significant=True, data=("iris",)), results_of(TABLE)).plain == ""


def test_a_paper_that_contradicts_itself_is_told():
    verdict = judge(claim(relation="higher", data=("iris",)), results_of(TABLE))
    assert "the paper's own numbers: 0 of 1, which is not what it says" in verdict.sentence
