"""Ltc weights against counting and scikit-learn's tf-idf."""

import math

import numpy as np
import pandas as pd
import pytest
from reference.text import ltc
from reference.text_cases import dense, documents, each_form
from scipy import sparse
from sklearn.feature_extraction.text import TfidfTransformer

from steadyboost.text import LtcTransformer


@each_form
@pytest.mark.parametrize("base", [2, math.e, 10])
@pytest.mark.parametrize("norm", ["l2", None])
def test_weights_are_equation_13(form, base, norm):
    counts, new = documents()[0], documents(n=20, seed=1)[0]
    new[:, -2] = 3  # a term that no fitted document has
    new[4] = 0
    transformer = LtcTransformer(base=base, norm=norm).fit(form(counts))
    expected = ltc(new.tolist(), counts.tolist(), base, cosine=norm == "l2")
    found = transformer.transform(form(new))
    np.testing.assert_allclose(dense(found), expected, rtol=1e-10, atol=1e-14)
    assert sparse.issparse(found) == (form not in (np.asarray, pd.DataFrame))
    assert dense(found)[4].tolist() == [0] * counts.shape[1]


def test_it_is_scikit_learns_with_one_less_in_the_idf():
    counts = sparse.csr_matrix(documents()[0][:, :-2])
    theirs = TfidfTransformer(sublinear_tf=True, smooth_idf=False).fit(counts)
    theirs.idf_ = theirs.idf_ - 1
    ours = LtcTransformer(base=math.e).fit_transform(counts)
    np.testing.assert_allclose(dense(ours), dense(theirs.transform(counts)), rtol=1e-10)


def test_the_base_of_the_idf_cancels():
    counts = (documents()[0] > 0).astype(int)
    natural, binary = LtcTransformer(base=math.e), LtcTransformer(base=2)
    found, expected = natural.fit_transform(counts), binary.fit_transform(counts)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_documents_have_length_one_or_zero():
    counts = documents()[0]
    counts[3] = 0
    lengths = np.linalg.norm(LtcTransformer().fit_transform(counts), axis=1)
    assert lengths[3] == 0
    np.testing.assert_allclose(np.delete(lengths, 3), 1)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize(
    ("dtype", "expected"), [("float32", "float32"), ("float64", "float64"), ("uint8", "float64")]
)
def test_weights_have_the_precision_of_the_counts(make, dtype, expected):
    X = make(documents()[0].astype(dtype))
    found = LtcTransformer().fit_transform(X)
    assert found.dtype == expected
    np.testing.assert_allclose(
        dense(found), LtcTransformer().fit_transform(dense(X).astype(float)), rtol=1e-5, atol=1e-7
    )


@pytest.mark.parametrize("params", [{"base": 1}, {"base": "e"}, {"norm": "l1"}])
def test_options_that_are_refused(params):
    with pytest.raises(ValueError, match=f"The {next(iter(params))!r} parameter of LtcTransformer"):
        LtcTransformer(**params).fit(documents()[0])
