"""Small collections of documents, and the forms in which counts may come."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

FORMS = {
    "dense": np.asarray,
    "csr matrix": sparse.csr_matrix,
    "csc matrix": sparse.csc_matrix,
    "csr array": sparse.csr_array,
    "coo array": sparse.coo_array,
    "frame": pd.DataFrame,
}
each_form = pytest.mark.parametrize("form", FORMS.values(), ids=FORMS.keys())


def documents(n=60, n_terms=30, n_categories=5, seed=0):
    """Counts whose first terms follow the categories; a document has none, one or several."""
    rng = np.random.default_rng(seed)
    member = rng.random((n, n_categories)) < rng.uniform(0.1, 0.5, n_categories)
    rates = np.full((n, n_terms), 0.3)
    rates[:, :n_categories] += 2 * member
    counts = rng.poisson(rates)
    counts[:, -2:] = [0, 1]  # a term of no document, and one of all
    return counts, member


def dense(X):
    return X.toarray() if sparse.issparse(X) else np.asarray(X)


def without_absent(scores, n, holders):
    """What scikit-learn's chi2 would be if it did not leave out documents without the term."""
    return scores * n / (n - holders)
