"""SMART's ltc weights. Jin et al. (2003), eq. (13)."""

from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.preprocessing import normalize
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, check_non_negative, validate_data

from steadyboost.parameters import Interval, StrOptions
from steadyboost.text.selection import presence

_FLOATS = (np.float64, np.float32)


class LtcTransformer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Weigh counts by SMART's *ltc*: logarithm of the count, inverse document frequency, cosine.

    A term that occurs n > 0 times in a document, and in d of the N documents that were fitted,
    weighs (1 + log n) log(N / d) there, eq. (13) of [1]_ after [2]_; each document's weights are
    then divided by the square root of their sum of squares [3]_. A term that is in
    every document weighs nothing, and neither does one that was in none of those fitted. A
    document without weights stays zero.

    ``sklearn.feature_extraction.text.TfidfTransformer`` with ``sublinear_tf=True`` and
    ``smooth_idf=False`` has 1 + ln(N / d) in place of log(N / d), and natural logarithms only.

    Parameters
    ----------
    base : float, default=2
        Base of both logarithms. The paper's is 2; the SMART program has ``math.e``. After the
        division it matters to the counts alone.
    norm : "l2" or None, default="l2"
        None leaves out the division: eq. (13) as printed, SMART's *ltn*.

    Attributes
    ----------
    idf_ : ndarray of shape (n_terms,)
        log(N / d) of each term, 0 for terms in no document.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    References
    ----------
    .. [1] R. Jin, Y. Liu, L. Si, J. Carbonell, A. G. Hauptmann (2003). A new boosting algorithm
       using input-dependent regularizer. ICML. Section 4.1.
    .. [2] C. Buckley, G. Salton, J. Allan (1994). The effect of adding relevance information in a
       relevance feedback environment. SIGIR, 292-300.
    .. [3] G. Salton, C. Buckley (1988). Term-weighting approaches in automatic text retrieval.
       Information Processing & Management 24, 513-523.

    Examples
    --------
    >>> from steadyboost.text import LtcTransformer
    >>> counts = [[4, 1, 1], [0, 2, 1], [0, 0, 1], [0, 0, 8]]
    >>> LtcTransformer(norm=None).fit_transform(counts)
    array([[6., 1., 0.],
           [0., 2., 0.],
           [0., 0., 0.],
           [0., 0., 0.]])
    >>> LtcTransformer().fit_transform(counts)[0].round(3)
    array([0.986, 0.164, 0.   ])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "base": [Interval(Real, 1, None, closed="neither")],
        "norm": [StrOptions({"l2"}), None],
    }

    def __init__(self, *, base: float = 2.0, norm: str | None = "l2"):
        self.base = base
        self.norm = norm

    def fit(self, X: Any, y: Any = None) -> Self:
        """Count the documents that each term is in.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_documents, n_terms)
            Counts.
        y : ignored
        """
        self._validate_params()
        X = validate_data(self, X, accept_sparse=("csr", "csc"))
        check_non_negative(X, "LtcTransformer.fit")
        df = np.asarray(presence(X).sum(axis=0)).ravel()
        inverse = np.divide(X.shape[0], df, out=np.ones(len(df)), where=df > 0)
        self.idf_ = np.log(inverse) / np.log(self.base)
        return self

    def transform(self, X: Any) -> Any:
        """Weigh counts by how many of the fitted documents had each term.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_documents, n_terms)
            Counts; they are left as they are.

        Returns
        -------
        weights : ndarray or sparse matrix (CSR) of shape (n_documents, n_terms)
            Sparse where X is; of float32 where X is, else of float64.
        """
        check_is_fitted(self)
        options: dict[str, Any] = {"accept_sparse": "csr", "dtype": _FLOATS, "copy": True}
        X = validate_data(self, X, reset=False, **options)
        check_non_negative(X, "LtcTransformer.transform")
        idf = self.idf_.astype(X.dtype)
        if issparse(X):
            X.sum_duplicates()
            X.data = _damped(X.data, self.base) * idf[X.indices]
        else:
            X = _damped(X, self.base) * idf
        return X if self.norm is None else normalize(X, norm=self.norm, copy=False)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _damped(counts: np.ndarray, base: float) -> np.ndarray:
    """1 + log(count), and 0 for no count at all."""
    there = counts > 0
    logs = np.log(counts, out=np.zeros_like(counts), where=there)
    return logs / counts.dtype.type(np.log(base)) + there
