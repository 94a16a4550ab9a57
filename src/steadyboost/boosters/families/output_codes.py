"""What AdaBoost.OC and MSmoothBoost share: a coloured question each round."""

from typing import Any, ClassVar

import numpy as np

from steadyboost.boosters.families.pairs import Damping, Pairs
from steadyboost.ensemble.codes.colorings import coloring_rule
from steadyboost.ensemble.estimator import BoostingClassifier
from steadyboost.ensemble.rounds import Draw, Round
from steadyboost.ensemble.scores import softmax
from steadyboost.ensemble.training_state import TrainingState
from steadyboost.ensemble.weighting import PairWeighting
from steadyboost.learners.base import Question
from steadyboost.trees.prediction.apply import take

CLIP = 1e-10


class OutputCodeClassifier(BoostingClassifier):
    """Boosting with output codes: each round colours the labels and learns the colours."""

    weighting = PairWeighting
    stops_when_perfect = False  # one perfect colouring does not separate k classes

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BoostingClassifier._parameter_constraints,
        "coloring": [str, callable, "array-like"],
    }

    def __init__(self, estimator: Any = None, *, coloring: Any = "balanced", **shared: Any):
        super().__init__(estimator, **shared)
        self.coloring = coloring

    def damping(self) -> Damping | None:
        """ln of a factor on a row's pairs, as a function of ln(sum of exp(S(l) - S(y)))."""
        return None

    def code(self, colors: np.ndarray) -> np.ndarray:
        """What the answers 0 and 1 add to each class's score, before the step."""
        return np.array([colors == 0, colors == 1], dtype=float)

    def question(self, rows: TrainingState, round_: Round) -> Question:
        """003, Fig. 3, first four lines of the loop; 000, Fig. 2, lines 1 to 4."""
        k = self.n_classes_
        rule = coloring_rule(self.coloring, k)
        if rule.needs_affinity:
            pairs = Pairs(rows, self.damping())
            colors = rule.draw(round_.t, k, pairs.affinity(), round_.rng(Draw.COLORING))
        else:
            colors = rule.draw(round_.t, k, None, round_.rng(Draw.COLORING))
            pairs = Pairs(rows, self.damping(), colors)
        separated = pairs.ask(colors)
        info = {"U": separated, "coloring": colors.tolist()}
        targets = np.empty_like(rows.y)
        take(colors, rows.y, targets)
        return Question(targets, rows.weights, 2, self.code(colors), info)

    def probabilities(self, scores: np.ndarray) -> np.ndarray:
        """The sum of exp(S(l) - S(y)) is least where S is half the log-probability."""
        return softmax(2 * scores)
