"""The file that a model is saved to: what is in it, and that it is there or not."""

import json
import os
import stat
import zipfile

import numpy as np
import pytest
from common import make, problem

from steadyboost import BaggingClassifier, SAMMEClassifier, Stump
from steadyboost.ensemble.model_io.file import load, save_model


def test_arrays_and_json_only(tmp_path):
    X, y = problem()
    save_model(make(SAMMEClassifier).fit(X, y), tmp_path / "model.sb")
    with zipfile.ZipFile(tmp_path / "model.sb") as archive:
        for name in archive.namelist():
            with archive.open(name) as member:
                json.load(member) if name == "model.json" else np.load(member, allow_pickle=False)


def test_equal_models_give_equal_files(tmp_path):
    X, y = problem()
    for name in ("a.sb", "b.sb"):
        save_model(make(SAMMEClassifier).fit(X, y), tmp_path / name)
    assert (tmp_path / "a.sb").read_bytes() == (tmp_path / "b.sb").read_bytes()


def test_what_compresses_well_is_within_the_budget_of_its_reader(tmp_path):
    """Most of a model of thousands of classes is zeros, and a reader's budget follows the size."""
    y = np.repeat(np.arange(3000), 2)
    X = np.random.default_rng(0).normal(size=(len(y), 3))
    model = BaggingClassifier(Stump(), n_estimators=1, random_state=0).fit(X, y)
    save_model(model, tmp_path / "model.sb")
    assert (tmp_path / "model.sb").stat().st_size < 200_000
    np.testing.assert_array_equal(load(tmp_path / "model.sb").predict(X), model.predict(X))


def test_overwriting(tmp_path):
    X, y = problem()
    path = tmp_path / "model.sb"
    save_model(make(SAMMEClassifier).fit(X, y), path, overwrite=False)
    with pytest.raises(FileExistsError, match="overwrite=True"):
        save_model(make(SAMMEClassifier).fit(X, y), path, overwrite=False)
    save_model(make(SAMMEClassifier, n_estimators=2).fit(X, y), str(path))
    assert load(str(path)).n_iter_ == 2
    assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~current_umask()


def current_umask():
    umask = os.umask(0)
    os.umask(umask)
    return umask


@pytest.mark.parametrize("broken", ["replace", "fsync"])
def test_a_failure_leaves_the_old_file(broken, tmp_path, monkeypatch):
    X, y = problem()
    path = tmp_path / "model.sb"
    save_model(make(SAMMEClassifier).fit(X, y), path)
    before = path.read_bytes()

    def full(*_):
        raise OSError("the disk is full")

    monkeypatch.setattr(os, broken, full)
    with pytest.raises(OSError, match="the disk is full"):
        save_model(make(SAMMEClassifier, n_estimators=2).fit(X, y), path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_stays_a_link(tmp_path):
    X, y = problem()
    link = tmp_path / "link.sb"
    link.symlink_to(tmp_path / "model.sb")
    save_model(make(SAMMEClassifier).fit(X, y), link)
    assert link.is_symlink()
    assert load(tmp_path / "model.sb").n_iter_ == 5
