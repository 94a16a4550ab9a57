"""Arc-x4. Breiman (1998); papers/003, section 3."""

import numpy as np

from steadyboost.boosters.families.voting import VotingClassifier
from steadyboost.ensemble.scores import own_score


class ArcX4Classifier(VotingClassifier):
    """Breiman's arcing: rows that were wrong m times weigh 1 + m**4, and votes count alike.

    Needs no hypothesis better than a guess, and has no step to go wrong.

    Parameters
    ----------
    {shared_parameters}

    References
    ----------
    .. [1] L. Breiman (1998). Arcing classifiers. Annals of Statistics 26, 801-849.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from steadyboost import ArcX4Classifier
    >>> X, y = load_wine(return_X_y=True)
    >>> ArcX4Classifier(n_estimators=20, random_state=0).fit(X, y).score(X, y)
    1.0
    """

    stops_when_perfect = False

    def log_weights(self, scores: np.ndarray, y: np.ndarray) -> np.ndarray:
        """All votes so far, less those for the row's own label, were wrong."""
        wrong = (scores.sum(axis=1) - own_score(scores, y)) / self.learning_rate
        return np.log1p(wrong**4)
