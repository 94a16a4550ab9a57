"""Data sets from the folder that the user names."""

import gzip
import json

import numpy as np
import pandas as pd
import pytest

from steadyboost.lab.datasets import DatasetNotFound, available, human_labels, load, reuters


@pytest.fixture
def data_folder(tmp_path, monkeypatch):
    """Make a folder with a set in two parts, large sets and human labels."""
    parts = {
        "train": "n,c,t,target\n1.5,u,hello,yes\n?,?,?,no\n",
        "test": "n,c,t,target\n2,v,bye,yes\n",
    }
    for part, text in parts.items():
        _write_gz(tmp_path / f"mine.{part}.csv.gz", text)
    _write_gz(tmp_path / "mine.train.noisy.csv.gz", "y_true,y_majority\nyes,no\nno,no\n")
    _write_gz(tmp_path / "iris.csv.gz", "a,target\n7,x\n8,y\n")
    schema = {
        "mine": {
            "splits": {"train": 2, "test": 1},
            "n_features": 3,
            "n_classes": 2,
            "columns": {"n": "numeric", "c": "categorical", "t": "text"},
        },
        "iris": {"splits": {"all": 2}, "columns": {"*": "numeric"}},
        "hands": {
            "splits": {"train": 1},
            "n_features": 2,
            "n_classes": 2,
            "columns": {"S": "categorical", "C": "numeric"},
        },
    }
    (tmp_path / "schema.json").write_text(json.dumps(schema))
    X = np.arange(6, dtype=np.uint8).reshape(3, 2)
    y = np.array([1, 2, 1], dtype=np.uint8)
    np.savez(tmp_path / "big.npz", X=X, y=y, feature_names=np.array(["left", "right"]))
    np.savez(tmp_path / "images.train.npz", X=X, y=y)
    np.savez(tmp_path / "images.test.npz", X=X + 6, y=y)
    np.savez(tmp_path / "hands.generated.npz", X=X, y=y)
    monkeypatch.setenv("STEADYBOOST_DATA", str(tmp_path))
    return tmp_path


def _write_gz(path, text):
    with gzip.open(path, "wt") as file:
        file.write(text)


class TestFolder:
    def test_types_missing_values_and_order(self, data_folder):
        X, y = load("mine")
        assert X["n"].tolist()[::2] == [1.5, 2.0]
        assert X["n"].isna().tolist() == X["c"].isna().tolist() == [False, True, False]
        assert isinstance(X["c"].dtype, pd.CategoricalDtype)
        assert X["c"].cat.categories.tolist() == ["u", "v"]
        assert X["t"].tolist() == ["hello", "?", "bye"]
        assert y.tolist() == ["yes", "no", "yes"]
        assert y.name == "target"

    def test_split(self, data_folder):
        assert load("mine", "train")[1].tolist() == ["yes", "no"]
        assert load("mine", "test")[0].shape == (1, 3)

    def test_folder_comes_first(self, data_folder):
        X, y = load("iris")
        assert X["a"].tolist() == [7, 8]
        assert y.tolist() == ["x", "y"]

    def test_large_sets(self, data_folder):
        X, y = load("big")
        assert X.columns.tolist() == ["left", "right"]
        assert X.to_numpy().tolist() == [[0, 1], [2, 3], [4, 5]]
        assert y.tolist() == ["1", "2", "1"]
        X, y = load("images")
        assert X.columns.tolist() == ["x1", "x2"]
        assert X["x1"].tolist() == [0, 2, 4, 6, 8, 10]
        assert load("images", "test")[0]["x1"].tolist() == [6, 8, 10]

    def test_large_part_follows_the_schema(self, data_folder):
        X, _ = load("hands", "generated")
        assert X["S"].cat.categories.tolist() == ["0", "2", "4"]
        assert X["C"].tolist() == [1, 3, 5]

    def test_column_without_kind_is_inferred(self, tmp_path, monkeypatch):
        monkeypatch.setenv("STEADYBOOST_DATA", str(tmp_path))
        _write_gz(tmp_path / "plain.csv.gz", "n,c,target\n1,1more,a\n?,2,b\n")
        X, _ = load("plain")
        assert X["n"].isna().tolist() == [False, True]
        assert isinstance(X["c"].dtype, pd.CategoricalDtype)

    def test_human_labels(self, data_folder):
        labels = human_labels("mine")
        assert labels.to_dict("list") == {"y_true": ["yes", "no"], "y_majority": ["no", "no"]}
        with pytest.raises(DatasetNotFound, match=r"holds no mine\.test\.noisy\.csv\.gz"):
            human_labels("mine", "test")

    def test_reuters(self, data_folder):
        member = np.zeros((2, 90), dtype=bool)
        member[0, [0, 89]] = member[1, 7] = True
        np.savez(
            data_folder / "reuters_aptemod_bow.train.npz",
            data=np.array([3, 1, 2]),
            indices=np.array([0, 4, 1]),
            indptr=np.array([0, 2, 3]),
            shape=np.array([2, 5]),
            Y=np.packbits(member, axis=1),
            categories=np.array([f"c{k}" for k in range(90)]),
        )
        X, Y, categories = reuters("train")
        assert X.toarray().tolist() == [[3, 0, 0, 0, 1], [0, 2, 0, 0, 0]]
        np.testing.assert_array_equal(Y, member)
        assert categories[89] == "c89"

    def test_missing_folder_is_named(self, monkeypatch):
        monkeypatch.setenv("STEADYBOOST_DATA", "no/such/folder")
        with pytest.raises(DatasetNotFound, match="'no/such/folder' is not a folder"):
            reuters("train")

    def test_sets_of_the_folder_are_listed(self, data_folder):
        records = {record.name: record for record in available()}
        mine = records["mine"]
        assert (mine.rows, mine.columns, mine.classes, mine.source) == (3, 3, 2, "folder")
        assert records["iris"].source == "folder"
