"""What both transformers of text must do, alone, in pipelines, and on Reuters."""

import math
import warnings

import numpy as np
import pandas as pd
import pytest
from reference.text_cases import dense, documents, each_form, without_absent
from scipy import sparse
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.feature_selection import chi2
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from steadyboost import SAMMEClassifier, Stump
from steadyboost.lab.datasets import reuters
from steadyboost.text import ChiSquaredMax, LtcTransformer

BOTH = [ChiSquaredMax(k=3), LtcTransformer()]
each_transformer = pytest.mark.parametrize("transformer", BOTH, ids=lambda t: type(t).__name__)


@pytest.mark.filterwarnings("ignore:k=")
@parametrize_with_checks([ChiSquaredMax(), *BOTH, LtcTransformer(base=math.e, norm=None)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@each_transformer
@each_form
def test_the_counts_stay_as_they_are(transformer, form):
    counts, member = documents()
    X = form(counts.astype(float))
    found = clone(transformer).fit(X, member).transform(X)
    np.testing.assert_array_equal(dense(X), counts)
    if not sparse.issparse(X):
        assert not np.shares_memory(np.asarray(found), np.asarray(X))


@each_transformer
def test_stored_zeros_and_repeated_cells_are_what_they_add_up_to(transformer):
    cells = (np.array([255, 1, 0, 2, 3], dtype="uint8"), [0, 0, 1, 0, 2], [0, 2, 4, 5, 5])
    odd = sparse.csr_matrix(cells, shape=(4, 3))
    proper = np.array([[256, 0, 0], [2, 0, 0], [0, 0, 3], [0, 0, 0]])
    found = clone(transformer).fit(odd, [0, 0, 1, 1])
    expected = clone(transformer).fit(proper, [0, 0, 1, 1])
    for name in ("scores_", "idf_"):
        np.testing.assert_array_equal(getattr(found, name, 0), getattr(expected, name, 0))
    weights = found.transform(odd.astype(float))
    np.testing.assert_allclose(dense(weights), expected.transform(proper))


@each_transformer
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix])
def test_negative_counts_are_refused(transformer, make):
    counts, member = documents()
    counts[5, 5] = -1
    with pytest.raises(ValueError, match="Negative values in data passed to "):
        clone(transformer).fit(make(counts), member)


def test_negative_counts_are_refused_when_weighed():
    transformer = LtcTransformer().fit([[1, 0], [0, 2]])
    with pytest.raises(ValueError, match="passed to LtcTransformer"):
        transformer.transform([[1, -1]])


@each_transformer
def test_frames_keep_their_names(transformer):
    counts, member = documents()
    frame = pd.DataFrame(counts).add_prefix("word")
    fitted = clone(transformer).set_output(transform="pandas").fit(frame, member)
    out = fitted.transform(frame)
    assert out.columns.tolist() == fitted.get_feature_names_out().tolist()
    assert set(out.columns) <= set(frame.columns)
    with pytest.raises(ValueError, match="feature names should match"):
        fitted.transform(frame[frame.columns[::-1]])


@each_transformer
def test_another_number_of_terms_is_refused(transformer):
    counts, member = documents()
    with pytest.raises(ValueError, match="30 features as input"):
        clone(transformer).fit(counts, member).transform(counts[:, :4])


NEWS = ["wheat and corn up", "corn exports fall", "the bank cut rates", "rates up in trade"] * 6
TOPICS = [["grain"], ["grain", "trade"], ["money"], ["money", "trade"]] * 6


def test_a_search_over_a_pipeline_chooses_k():
    labels = [topics[0] for topics in TOPICS]
    model = make_pipeline(
        CountVectorizer(), ChiSquaredMax(), LtcTransformer(), LogisticRegression()
    )
    search = GridSearchCV(model, {"chisquaredmax__k": [2, 6, "all"]}, cv=3).fit(NEWS, labels)
    assert search.best_score_ == 1
    assert set(search.best_estimator_[:3].get_feature_names_out()) == {"corn", "rates"}


def test_a_pipeline_takes_many_categories():
    member = np.array([[c in topics for c in ("grain", "money", "trade")] for topics in TOPICS])
    model = make_pipeline(
        CountVectorizer(),
        ChiSquaredMax(4),
        LtcTransformer(),
        OneVsRestClassifier(LogisticRegression()),
    )
    assert (model.fit(NEWS, member).predict(NEWS) == member).all()


# Reuters ApteMod


@pytest.fixture(scope="module")
def news(from_folder):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        counts, member, categories = reuters("train")
        selector = ChiSquaredMax(2000).fit(counts, member)
        weigh = LtcTransformer().fit(selector.transform(counts))
    return counts, member, categories, selector, weigh


def test_reuters_scores_are_those_of_scikit_learn_category_by_category(news):
    counts, member, _, selector, _ = news
    present = (counts > 0).astype(float)
    holders = np.asarray(present.sum(axis=0)).ravel()
    table = [without_absent(chi2(present, c)[0], len(member), holders) for c in member.T]
    np.testing.assert_allclose(selector.scores_, np.max(table, axis=0), rtol=1e-9)
    np.testing.assert_array_equal(selector.best_category_, np.argmax(table, axis=0))


def test_reuters_weights_are_counted(news):
    counts, _, _, selector, weigh = news
    kept = selector.transform(counts)
    assert kept.shape == (7770, 2000)
    sample = kept[:, ::400].toarray()
    idf = [math.log2(7770 / (column > 0).sum()) for column in sample.T]
    np.testing.assert_allclose(weigh.idf_[::400], idf, rtol=1e-10)
    lengths = sparse.linalg.norm(weigh.transform(kept), axis=1)
    assert np.isclose(lengths, 1).mean() > 0.99
    assert set(lengths[~np.isclose(lengths, 1)]) <= {0.0}


@pytest.mark.parametrize(("category", "least"), [("earn", 0.93), ("grain", 0.75)])
def test_reuters_from_counts_to_stumps(news, category, least):
    counts, member, categories, _, _ = news
    c = categories.index(category)
    ready = make_pipeline(ChiSquaredMax(200), LtcTransformer()).fit(counts, member)
    model = SAMMEClassifier(Stump(), n_estimators=30, random_state=0)
    model.fit(ready.transform(counts).toarray(), member[:, c])
    new_counts, truth, _ = reuters("test")
    answers = model.predict(ready.transform(new_counts).toarray())
    assert f1_score(truth[:, c], answers) > least
