"""Selection of terms by chi2-max. Yang & Pedersen (1997); Jin et al. (2003), section 4.1."""

import warnings
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from scipy.sparse import csr_matrix, issparse
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import Tags, gen_batches
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, check_non_negative, validate_data

from steadyboost.parameters import Interval, StrOptions

_SCORES_AT_ONCE = 2**22  # 32 MB, whatever the numbers of terms and categories


class ChiSquaredMax(SelectorMixin, BaseEstimator):
    """Keep the terms that depend most on any one category: the chi2-max criterion.

    For a term and a category, documents fall into a table of two by two: the term is in them or
    not, they are in the category or not. With A of the N documents in both, d with the term and m
    in the category, the chi-squared statistic of [1]_ is ::

        N (N A - d m)^2 / (d (N - d) m (N - m)),

    and a term's score is the largest over the categories. How often a term occurs in a document
    does not matter. (``sklearn.feature_selection.chi2`` adds up counts and ignores the documents
    without the term, and adds up the categories; for one category and counts of 0 and 1 it is
    1 - d / N times the statistic.)

    Parameters
    ----------
    k : int or "all", default=2000
        How many terms to keep. Of equal scores the term of lower index goes first. With more
        than there are, all are kept, with a warning.

    Attributes
    ----------
    scores_ : ndarray of shape (n_terms,)
        Largest statistic of each term; 0 for a term in all documents or in none.
    best_category_ : ndarray of shape (n_terms,)
        The category with that statistic, the first of several.
    categories_ : ndarray of shape (n_categories,)
        The sorted classes, or the column numbers of an indicator matrix.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    References
    ----------
    .. [1] Y. Yang, J. O. Pedersen (1997). A comparative study on feature selection in text
       categorization. ICML, 412-420.
    .. [2] R. Jin, Y. Liu, L. Si, J. Carbonell, A. G. Hauptmann (2003). A new boosting algorithm
       using input-dependent regularizer. ICML. Section 4.1.

    Examples
    --------
    >>> from sklearn.feature_extraction.text import CountVectorizer
    >>> from steadyboost.text import ChiSquaredMax
    >>> news = ["wheat and corn up", "corn exports fall", "bank and rates", "rates up, rates up"]
    >>> topics = ["grain", "grain", "money", "money"]
    >>> words = CountVectorizer()
    >>> selector = ChiSquaredMax(k=2).fit(words.fit_transform(news), topics)
    >>> selector.get_feature_names_out(words.get_feature_names_out())
    array(['corn', 'rates'], dtype=object)
    >>> selector.scores_.max()
    np.float64(4.0)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "k": [StrOptions({"all"}), Interval(Integral, 1, None, closed="left")],
    }

    def __init__(self, k: int | str = 2000):
        self.k = k

    def fit(self, X: Any, y: Any) -> Self:
        """Score the terms.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_documents, n_terms)
            Counts, or any other non-negative numbers that are 0 for absent terms.
        y : array-like of shape (n_documents,), or matrix of shape (n_documents, n_categories)
            A class for each document; or, where a document may have several categories or none, 1
            for its categories and 0 for the others, dense or sparse.
        """
        self._validate_params()
        X, y = validate_data(self, X, y, accept_sparse=("csr", "csc"), multi_output=True)
        check_non_negative(X, "ChiSquaredMax.fit")
        member, self.categories_ = _membership(y)
        self._warn_of_large_k(X.shape[1])
        self.scores_, best = _chi_squared_max(presence(X), member)
        self.best_category_ = self.categories_[best]
        return self

    def _warn_of_large_k(self, n_terms: int) -> None:
        if not isinstance(self.k, str) and self.k > n_terms:
            warnings.warn(
                f"k={self.k} is greater than n_features={n_terms}. "
                "All the features will be returned.",
                stacklevel=3,
            )

    def _get_support_mask(self) -> np.ndarray:
        check_is_fitted(self)
        kept = None if self.k == "all" else self.k
        mask = np.zeros(len(self.scores_), dtype=bool)
        mask[np.argsort(-self.scores_, kind="stable")[:kept]] = True
        return mask

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        tags.target_tags.required = True
        return tags


def presence(X: Any) -> Any:
    """1.0 where a term is in a document; stored zeros and duplicates are taken care of."""
    if not issparse(X):
        return (X > 0).astype(float)
    present = X.copy()
    present.data = X.data > 0
    present.sum_duplicates()
    return present.astype(float)


def _membership(y: Any) -> tuple[csr_matrix, np.ndarray]:
    """Categories as rows and documents as columns, 1.0 for membership; and the categories."""
    if issparse(y) or (y.ndim == 2 and y.shape[1] > 1):
        member, categories = _from_indicator(y), np.arange(y.shape[1])
    else:
        check_classification_targets(y)
        categories, codes = np.unique(y, return_inverse=True)
        cells = (np.ones(len(y)), (codes.ravel(), np.arange(len(y))))
        member = csr_matrix(cells, shape=(len(categories), len(y)))
    return member, categories


def _from_indicator(y: Any) -> csr_matrix:
    values = y.data if issparse(y) else y
    invalid = values[~np.isin(values, (0, 1))].tolist()
    if invalid:
        raise ValueError(
            f"y has {y.shape[1]} columns and the value {invalid[0]!r}; such a matrix "
            "must be 1 where a document is in a category and 0 elsewhere, as MultiLabelBinarizer "
            "makes it."
        )
    return csr_matrix(y.T, dtype=float)


def _chi_squared_max(present: Any, member: csr_matrix) -> tuple[np.ndarray, np.ndarray]:
    """Each term's largest statistic, and the index of its category."""
    n, n_terms = present.shape
    df = np.asarray(present.sum(axis=0)).ravel()  # documents that contain each term
    sizes = np.asarray(member.sum(axis=1)).ravel()
    if not ((sizes > 0) & (sizes < n)).any():
        raise ValueError(
            "y has one class only: no category has some of the documents, but not all. Pass "
            "documents of at least two classes."
        )
    scores, best = np.zeros(n_terms), np.zeros(n_terms, dtype=int)
    for batch in gen_batches(len(sizes), max(1, _SCORES_AT_ONCE // n_terms)):
        both = safe_sparse_dot(member[batch], present, dense_output=True)
        found = _chi_squared(both, sizes[batch, None], df, n)
        first = found.argmax(axis=0)
        largest = found[first, np.arange(n_terms)]
        best[largest > scores] = batch.start + first[largest > scores]
        np.maximum(scores, largest, out=scores)
    return scores, best


def _chi_squared(both: np.ndarray, sizes: np.ndarray, df: np.ndarray, n: int) -> np.ndarray:
    """The statistic of (categories, terms) tables; 0 where a row or column of one is empty."""
    margins = (sizes * (n - sizes)) * (df * (n - df))
    squares = n * (n * both - sizes * df) ** 2
    return np.divide(squares, margins, out=np.zeros_like(squares), where=margins > 0)
