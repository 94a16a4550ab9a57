"""What selection and weighting both ask of counts."""

from typing import Any

from scipy.sparse import issparse


def presence(X: Any) -> Any:
    """1.0 where a term is in a document; stored zeros and repeated cells count as they should."""
    if not issparse(X):
        return (X > 0).astype(float)
    present = X.copy()
    present.data = X.data > 0
    present.sum_duplicates()
    return present.astype(float)
