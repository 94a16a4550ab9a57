"""Cells and their cache."""

import json
from dataclasses import replace

import tiny

from steadyboost.lab.experiments import cells as cells_module
from steadyboost.lab.experiments.cells import Cache, cells_of, default_folder, recorded_rounds
from steadyboost.lab.experiments.plan import with_repeats


def keys(experiment):
    return [cell.key for cell in cells_of(experiment)]


def test_cells_cover_all_conditions_but_lost_data():
    cells = list(cells_of(tiny.experiment()))
    assert len(cells) == 2 * 3 * 3  # data sets, methods (one of the future), repeats
    assert {cell.condition.data for cell in cells} == {"iris", "wine"}
    noisy = list(cells_of(tiny.experiment("figure-1")))
    assert {cell.condition.noise for cell in noisy} == {0.0, 0.1, 0.3}


def test_more_repeats_go_on_from_fewer():
    whole = tiny.experiment()
    assert set(keys(with_repeats(whole, 2))) < set(keys(whole))


def test_what_changes_results_changes_the_key():
    whole = tiny.experiment()
    changed = [
        replace(whole, rounds=5),
        replace(whole, learner={"name": "Tree", "max_depth": 2}),
        replace(whole, parameters={"resample": True}),
        replace(whole, noise=(0.1,)),
    ]
    for other in changed:
        assert not set(keys(whole)) & set(keys(other))
    renamed = replace(whole, title="another title", notes=("a note",))
    assert keys(renamed) == keys(whole)


def test_noise_of_another_kind_is_the_same_where_there_is_none():
    clean = tiny.experiment()
    assert keys(replace(clean, noise_kind="redraw")) == keys(clean)


def test_curves_are_recorded_at_all_early_and_at_round_numbers():
    rounds = recorded_rounds(tiny.experiment("figure-1", rounds=600), 600)
    assert rounds[:20] == list(range(1, 21))
    assert {50, 100, 200, 500, 600} <= set(rounds)
    assert rounds == sorted(set(rounds))
    assert len(rounds) < 90


def test_cache_keeps_results_and_says_whose(tmp_path):
    cache = Cache(tmp_path / "new")
    assert cache.get("abc") is None
    cache.put("abc", {"set": "iris"}, {"x": 1.5})
    assert ("abc" in cache, "abd" in cache) == (True, False)
    assert cache.get("abc") == {"x": 1.5}
    (file,) = (tmp_path / "new").rglob("*.json")
    assert json.loads(file.read_text(encoding="utf-8"))["cell"] == {"set": "iris"}


def test_a_damaged_file_counts_as_none(tmp_path):
    cache = Cache(tmp_path)
    cache.put("abc", {}, {})
    (file,) = tmp_path.rglob("*.json")
    file.write_text("{", encoding="utf-8")
    assert cache.get("abc") is None


def test_the_folder_can_be_named(tmp_path, monkeypatch):
    monkeypatch.setenv("STEADYBOOST_CACHE", str(tmp_path))
    assert default_folder() == tmp_path
    monkeypatch.delenv("STEADYBOOST_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(cells_module.sys, "platform", "linux")
    assert default_folder() == tmp_path / "steadyboost" / "cells"
