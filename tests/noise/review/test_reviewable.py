"""Evidence, verdicts and tasks of an audit."""

import json

import numpy as np
import pytest
from html_pages import Checker
from sklearn.datasets import load_wine

from conftest import N, animals, made_up
from steadyboost.noise import Verdict, VerdictError, Verdicts, audit, audit_proba, corrupt


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True, as_frame=True)
    noisy, is_wrong = corrupt(y.to_numpy(), 0.1, random_state=0)
    X.loc[1] = X.loc[0]  # two equal rows
    noisy[:2] = [0, 1]
    return audit(X, noisy, random_state=0, n_jobs=1), X, is_wrong


def test_evidence_speaks_for_the_other_class(wine):
    found, X, _ = wine
    row = int(found.suspects[0])
    evidence = found.explain(row)
    assert (evidence.given, evidence.other) == (found.given[row], found.suggested[row])
    assert evidence.is_suspect
    assert next(iter(evidence.probabilities)) == evidence.other
    assert len(evidence.members) >= 3
    assert max(evidence.columns, key=lambda one: abs(one.contribution)).contribution > 0
    near = [one.label for one in evidence.neighbours]
    assert near.count(evidence.other) > len(near) / 2
    assert row not in [one.row for one in evidence.neighbours]
    first = evidence.neighbours[0]
    assert float(first.values[0]) == pytest.approx(X.iloc[first.row, 0], rel=1e-5)


def test_evidence_as_text_and_as_a_dictionary(wine):
    found, _, _ = wine
    evidence = found.explain(0)
    document = json.loads(json.dumps(evidence.as_dict()))
    assert document["row"] == 0
    assert document["duplicates"] == [[1, 1]]
    assert set(document["probabilities"]) == {"0", "1", "2"}
    text = str(evidence)
    assert text.startswith("Row 0 is labelled 0")
    assert "Same values, another label: row 1 (1)" in text
    assert "Nearest rows" in text


@pytest.mark.parametrize("row", [-1, 178, 1.0, True, "0"])
def test_rows_that_are_none_are_refused(wine, row):
    with pytest.raises(ValueError, match="row="):
        wine[0].explain(row)


def test_without_a_model_there_are_probabilities_alone():
    found, _ = made_up()
    evidence = found.explain(int(found.suspects[0]))
    assert (evidence.members, evidence.columns, evidence.neighbours) == ({}, [], [])
    assert sum(evidence.probabilities.values()) == pytest.approx(1)


def test_verdicts_on_rows_in_memory(wine):
    found, X, _ = wine
    row = int(found.suspects[0])
    given, other = str(found.given[row]), str(found.suggested[row])
    verdicts = Verdicts((Verdict(row, "change", given, other),))
    labels = found.apply(verdicts)
    assert labels.changed.tolist() == [row]
    assert labels.y[row] == found.suggested[row]
    assert labels.y.dtype == found.given.dtype
    other_row = Verdicts((Verdict(row, "change", given, other, hash="00"),))
    with pytest.raises(VerdictError, match=f"row {row + 1} has other values"):
        found.apply(other_row)
    ids = [f"w{k}" for k in range(len(X))]
    by_id = Verdicts((Verdict(0, "change", given, other, id=f"w{row}"),), id="tag")
    assert found.apply(by_id, ids=ids).changed.tolist() == [row]


def test_label_studio_gets_tasks_that_fit_its_interface(tmp_path):
    found, _ = made_up()
    tasks = found.to_label_studio(tmp_path / "tasks.json", table=animals())
    assert json.loads((tmp_path / "tasks.json").read_text()) == tasks
    assert [task["data"]["row"] for task in tasks] == found.suspects.tolist()
    (result,) = tasks[0]["predictions"][0]["result"]
    config = found.label_studio_config()
    assert f'name="{result["from_name"]}" toName="{result["to_name"]}"' in config
    assert f'<Choice value="{result["value"]["choices"][0]}"/>' in config
    assert set(tasks[0]["data"]["values"]) == {"kg", "fur", "note"}
    assert 0 < tasks[0]["predictions"][0]["score"] <= 1


def test_argilla_gets_records():
    found, _ = made_up()
    records = found.to_argilla(table=animals(), n=3)
    assert [record["id"] for record in records] == [str(row) for row in found.table.row[:3]]
    suggestion = records[0]["suggestions"]["label"]
    assert suggestion["value"] == found.suggested[found.table.row[0]]
    assert records[0]["fields"]["row"].startswith("kg: ")
    assert found.to_argilla(n=1)[0]["fields"]["row"] == f"row {found.table.row[0]}"


def test_a_notebook_shows_the_table():
    found, _ = made_up()
    checker = Checker(found._repr_html_())
    assert checker.counts["tr"] == 11
    assert f"{N - 10} more" in checker.text
    assert found.summary() in checker.text
    names = np.array(["<b>", "b"])
    proba = np.tile([[0.9, 0.1], [0.1, 0.9]], (20, 1))
    hostile = audit_proba(proba, names[np.tile([0, 1], 20)], classes=np.sort(names))
    assert "&lt;b&gt;" in hostile.table._repr_html_()
    assert "b" not in Checker(hostile.table._repr_html_()).counts


def test_a_sparse_table_has_evidence(wine):
    from scipy.sparse import csr_matrix

    rng = np.random.default_rng(0)
    X = csr_matrix(rng.poisson(0.4, (150, 12)).astype(float))
    y = (np.asarray(X[:, 0].todense())[:, 0] > 0).astype(int)
    y[:5] = 1 - y[:5]
    found = audit(X, y, random_state=0, n_jobs=1)
    evidence = found.explain(0)
    assert evidence.columns[0].name == "x0"
    assert evidence.neighbours[0].values == ()
