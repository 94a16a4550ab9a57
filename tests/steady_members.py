"""Members of SteadyBoost on training rows, without an estimator or a loop."""

import numpy as np

from steadyboost.boosters.steadyboost.booster_member import BoosterMember, BoosterParams
from steadyboost.boosters.steadyboost.forest_member import ForestMember
from steadyboost.boosters.steadyboost.members import MemberTraining, SharedRows
from steadyboost.ensemble.rounds import Seeds
from steadyboost.ensemble.training_state import TrainingState
from steadyboost.ensemble.workers import Workers
from steadyboost.learners.base import Data
from steadyboost.preprocessing.binner import Binner
from steadyboost.trees.growth.params import TreeParams

SEED = 0


def boosters(k, n_folds=3, patience=8):
    growth = TreeParams("newton", max_leaf_nodes=8, min_samples_leaf=5, l2=1.0)
    params = BoosterParams(growth, 0.2, 0.7, 0.7, patience)
    prior = np.full(1 if k == 2 else k, 0.1)
    return BoosterMember(k, n_folds, prior, np.full(n_folds, -1), params)


def forests(k):
    return [ForestMember(k, random_cuts, 1.0) for random_cuts in (False, True)]


def binned(X):
    return Binner.learn(X, np.zeros(X.shape[1], dtype=bool)).bin(X)


def shared_rows(X, y, k, weights=None):
    state = TrainingState(Data(X, binned(X)), y, k, weights, Workers(1))
    return SharedRows.of(state, SEED)


def round_(t):
    return Seeds(SEED).round(t)


def trained(members, rows, n_rounds):
    """Members after some rounds, and the trees of each round."""
    training, grown = MemberTraining(members, rows), []
    for t in range(n_rounds):
        grown.append(training.grow(round_(t)))
        training.update(grown[-1], round_(t))
    return training, grown
