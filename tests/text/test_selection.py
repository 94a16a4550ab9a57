"""Chi2-max selection against counting, scikit-learn's chi2 and a textbook."""

import numpy as np
import pytest
from reference.text import chi_squared_max, k_best
from reference.text_cases import dense, documents, each_form, without_absent
from scipy import sparse
from sklearn.feature_selection import chi2

from steadyboost.text import ChiSquaredMax, selection


@each_form
@pytest.mark.parametrize("sparse_y", [False, True])
def test_scores_are_counted_from_tables(form, sparse_y):
    counts, member = documents()
    selector = ChiSquaredMax(k=7)
    kept = selector.fit_transform(form(counts), sparse.csc_array(member) if sparse_y else member)
    scores, table = chi_squared_max(counts.tolist(), member.tolist())
    np.testing.assert_allclose(selector.scores_, scores, rtol=1e-10)
    table = np.array(table)[selector.best_category_, np.arange(counts.shape[1])]
    np.testing.assert_allclose(table, scores, rtol=1e-10)
    assert selector.get_support(indices=True).tolist() == k_best(selector.scores_.tolist(), 7)
    np.testing.assert_array_equal(dense(kept), counts[:, selector.get_support()])
    assert selector.best_category_[:5].tolist() == [0, 1, 2, 3, 4]
    assert selector.scores_[-2:].tolist() == [0, 0]


def test_a_vector_of_classes_is_an_indicator_of_each():
    counts, _ = documents()
    names = np.array(["earn", "acq", "grain"])[np.random.default_rng(1).integers(0, 3, 60)]
    by_name = ChiSquaredMax(k=9).fit(counts, names)
    member = np.column_stack([names == c for c in by_name.categories_])
    by_column = ChiSquaredMax(k=9).fit(counts, member)
    assert by_name.categories_.tolist() == ["acq", "earn", "grain"]
    np.testing.assert_array_equal(by_name.scores_, by_column.scores_)
    categories = by_name.categories_[by_column.best_category_]
    np.testing.assert_array_equal(by_name.best_category_, categories)


def test_two_classes_are_one_question():
    counts, member = documents()
    selector = ChiSquaredMax(k=9).fit(counts, member[:, 0])
    for y in (member[:, :1], sparse.csr_matrix(member[:, :1]), ~member[:, 0]):
        np.testing.assert_array_equal(ChiSquaredMax(k=9).fit(counts, y).scores_, selector.scores_)


def test_the_worked_example_of_manning_raghavan_and_schuetze():
    cells = np.repeat([[1, 1], [1, 0], [0, 1], [0, 0]], [49, 27652, 141, 774106], axis=0)
    selector = ChiSquaredMax(k=1).fit(sparse.csr_matrix(cells[:, :1]), cells[:, 1])
    assert selector.scores_[0] == pytest.approx(284, abs=0.5)


def test_one_category_is_that_of_scikit_learn_but_for_a_factor():
    counts, member = documents()
    present = (counts[:, :-2] > 0).astype(int)
    for c in range(member.shape[1]):
        theirs = without_absent(chi2(present, member[:, c])[0], len(present), present.sum(axis=0))
        ours = ChiSquaredMax(k="all").fit(counts[:, :-2], member[:, c]).scores_
        np.testing.assert_allclose(ours, theirs, rtol=1e-10)


def test_many_categories_are_scored_in_batches(monkeypatch):
    counts, member = documents(n_categories=11)
    whole = ChiSquaredMax(k=5).fit(counts, member)
    monkeypatch.setattr(selection, "_SCORES_AT_ONCE", 4 * counts.shape[1])
    parts = ChiSquaredMax(k=5).fit(counts, member)
    np.testing.assert_array_equal(parts.scores_, whole.scores_)
    np.testing.assert_array_equal(parts.best_category_, whole.best_category_)


def test_of_equal_scores_the_lower_index_is_kept():
    counts = np.array([[1, 0, 1, 5, 0], [1, 0, 0, 9, 1], [0, 1, 1, 0, 0], [0, 1, 0, 0, 1]])
    selector = ChiSquaredMax(k=2).fit(counts, ["a", "a", "b", "b"])
    assert selector.scores_.tolist() == [4, 4, 0, 4, 0]
    assert selector.get_support(indices=True).tolist() == [0, 1]
    assert selector.best_category_.tolist() == ["a"] * 5


def test_k_may_change_after_the_fit_and_be_all():
    counts, member = documents()
    selector = ChiSquaredMax(k="all").fit(counts, member)
    assert selector.transform(counts).shape == counts.shape
    assert selector.set_params(k=4).transform(counts).shape == (60, 4)


def test_a_large_k_keeps_all_with_a_warning():
    counts, member = documents()
    with pytest.warns(UserWarning, match="k=31 is greater than n_features=30") as caught:
        selector = ChiSquaredMax(k=31).fit(counts, member)
    assert caught[0].filename == __file__
    assert selector.get_support().all()


@pytest.mark.parametrize("dtype", ["uint8", "int64", "float32", "float64", "bool"])
def test_selection_keeps_type_and_sparseness(dtype):
    counts, member = documents()
    X = sparse.csr_matrix(counts, dtype=dtype)
    found = ChiSquaredMax(k=3).fit_transform(X, member)
    assert found.dtype == dtype
    assert sparse.issparse(found)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (np.array([[1, 2]] * 60), r"2 columns and the value 2; .* MultiLabelBinarizer"),
        (sparse.csr_matrix([[0, -1]] * 60), "2 columns and the value -1"),
        (np.zeros(60), "one class only"),
        (np.array([[0, 1]] * 60), "one class only"),
        (np.linspace(0, 1, 60), "Unknown label type"),
        (None, "requires y to be passed"),
        (np.zeros(59), "inconsistent numbers of samples"),
    ],
)
def test_targets_that_are_refused(y, message):
    with pytest.raises(ValueError, match=message):
        ChiSquaredMax(k=2).fit(documents()[0], y)


@pytest.mark.parametrize("k", [0, -1, 2.5, "most", None])
def test_numbers_of_terms_that_are_refused(k):
    with pytest.raises(ValueError, match="The 'k' parameter of ChiSquaredMax must be"):
        ChiSquaredMax(k=k).fit(*documents())
