"""How far labels lead."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from steadyboost.boosters.families.binary import BinaryBoostingClassifier
from steadyboost.bounds import margins as vote_margins
from steadyboost.bounds.fitted import lead, own_labels
from steadyboost.ensemble.hooks import Hooks
from steadyboost.plots.style import COLORS, DASHES, GRID, QUIET, Display, light_grid, percent_axis


class MarginDistributionDisplay(Display):
    """The share of rows with at most so large a margin, one line per group of rows or model.

    Parameters
    ----------
    margins : dict of str to array-like
        Margins, from -1 (all votes against the label) to 1 (all for it), by name.

    References
    ----------
    .. [1] R. E. Schapire, Y. Freund, P. Bartlett, W. S. Lee (1998). Boosting the margin. Annals of
       Statistics 26, 1651-1686.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from steadyboost import SAMMEClassifier, Stump
    >>> from steadyboost.plots import MarginDistributionDisplay
    >>> X, y = load_wine(return_X_y=True)
    >>> model = SAMMEClassifier(Stump(), n_estimators=20, random_state=0).fit(X, y)
    >>> display = MarginDistributionDisplay.from_estimator(model, X, y)
    >>> display.ax_.get_xlabel()
    'margin'
    """

    def __init__(self, margins: Mapping[str, Any]):
        if not margins:
            raise ValueError("margins={} has nothing to draw; pass margins by name.")
        self.margins = {name: np.sort(np.asarray(own, float)) for name, own in margins.items()}

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        noisy: Any = None,
        of: str = "votes",
        ax: Axes | None = None,
    ) -> "MarginDistributionDisplay":
        """Margins of rows under a fitted booster.

        Parameters
        ----------
        estimator : booster
            A fitted booster.
        X, y : array-like
            Rows and their labels.
        noisy : array-like of bool, default=None
            Which labels are wrong: these rows get a line of their own.
        of : {"votes", "probabilities"}, default="votes"
            What the label leads by: votes as a share of all [1]_, or probability, which boosters
            have that do not add up votes, or have a problem per class.
        ax : matplotlib Axes, default=None
            Where to draw.

        Returns
        -------
        display : MarginDistributionDisplay
            Drawn.
        """
        found = margins_of(estimator, X, y, of)
        if noisy is None:
            return cls({"": found}).plot(ax)
        noisy = np.asarray(noisy, dtype=bool)
        return cls({"label is right": found[~noisy], "label is wrong": found[noisy]}).plot(ax)

    def _draw(self, ax: Axes) -> None:
        ax.axvline(0, color=GRID, linewidth=1.2, zorder=0)
        for number, (name, own) in enumerate(self.margins.items()):
            share = 100 * np.arange(1, len(own) + 1) / len(own)
            along = np.concatenate([[-1.0], own, [1.0]])
            ax.step(
                along,
                np.concatenate([[0.0], share, [100.0]]),
                where="post",
                color=COLORS[number % len(COLORS)],
                linestyle=DASHES[number % len(DASHES)],
                label=name,
            )
        widest = max(float(np.abs(own).max()) for own in self.margins.values())
        reach = min(1.0, np.ceil(10 * widest + 0.2) / 10)
        ax.set(xlabel="margin", ylabel="rows with no larger margin")
        ax.set(xlim=(-reach, reach), ylim=(0, 100.5))
        percent_axis(ax.yaxis)
        light_grid(ax)
        for x, side, words in ((0.49, "right", "← outvoted"), (0.51, "left", "in the lead →")):
            ax.text(x, 1.02, words, ha=side, transform=ax.transAxes, color=QUIET, fontsize=7.5)
        if any(self.margins):
            ax.legend(loc="upper left", borderaxespad=0.2)


def margins_of(model: Any, X: Any, y: Any, of: str) -> np.ndarray:
    """Margins between -1 and 1."""
    if of not in ("votes", "probabilities"):
        raise ValueError(f"of={of!r} is not known; pass 'votes' or 'probabilities'.")
    own = own_labels(model, y)
    if of == "probabilities":
        return lead(model.predict_proba(X), own)
    if isinstance(model, BinaryBoostingClassifier) and model.n_classes_ == 2:
        reach = np.abs(model.estimator_weights_).sum() or 1.0
        return np.where(own == 1, 1, -1) * model.decision_function(X) / reach
    if type(model).add is not Hooks.add:
        raise ValueError(
            f"of='votes': {type(model).__name__} is no weighted vote on these classes; pass "
            "of='probabilities'."
        )
    return vote_margins(model, X, y)
