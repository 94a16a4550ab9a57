"""Why SteadyBoost doubts the label of a training row: members, columns and nearest rows.

All of it is by models that have not seen the row: the booster that left it out, and the trees of
forests whose bootstraps missed it.

Nearest rows are those of the forests' leaves. A forest's class shares of a row are an average over
the rows of the leaves that it falls into; how much a row counts there is its *proximity* (Rhodes et
al., 2023), and the proximities of a row sum to one.

The contribution of a column to the difference between two classes is the sum, over the nodes on
the row's paths that test it, of the changes of the difference from node to child (Saabas, 2014).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_matrix

from steadyboost.boosters.steadyboost.booster_member import BoosterMember, deal_folds
from steadyboost.boosters.steadyboost.forest_member import ForestMember, bootstrap_counts
from steadyboost.boosters.steadyboost.members import Place, round_of, trees_of
from steadyboost.ensemble.rounds import Round, Seeds
from steadyboost.ensemble.workers import Workers
from steadyboost.noise.noise_model import SMALLEST
from steadyboost.trees.data.binned import BinnedRows
from steadyboost.trees.growth.tree import GrownTree
from steadyboost.trees.prediction.leaf_sizes import effective_leaves, with_leaf_size

if TYPE_CHECKING:
    from steadyboost.boosters.steadyboost.classifier import SteadyBoostClassifier

FLAT = 1e-9  # difference of shares that is taken for none


@dataclass(frozen=True)
class Pairs:
    """Training rows and two classes of each, for and against whose difference columns speak."""

    rows: np.ndarray  # among the rows that were trained on, ascending
    towards: np.ndarray
    against: np.ndarray

    def __len__(self) -> int:
        return len(self.rows)

    def difference(self, values: np.ndarray) -> np.ndarray:
        """(pairs, nodes): values of the one class less those of the other, of (nodes, k)."""
        return values[:, self.towards].T - values[:, self.against].T


class TrainingEvidence:
    """What a fitted classifier can say of its training rows.

    Parameters
    ----------
    model : SteadyBoostClassifier
        After ``fit``.
    X : table
        The rows that it was fitted to.
    """

    def __init__(self, model: "SteadyBoostClassifier", X: Any):
        self.model = model
        self.trained = np.flatnonzero(np.isfinite(model.label_scores_))
        self._place_of_row = np.full(len(model.label_scores_), -1)
        self._place_of_row[self.trained] = np.arange(len(self.trained))
        table = model._encoded(X)
        with Workers.of_jobs(model.n_jobs) as workers:
            binned = model._data(table, workers).binned
        assert binned is not None
        whole = len(self.trained) == binned.n_rows
        self.binned: BinnedRows = binned if whole else binned.take(self.trained)
        self.places = model._members.places
        tasks = [place.member.n_tasks for place in self.places]
        self.first_tasks = list(accumulate(tasks, initial=0))

    @property
    def member_names(self) -> list[str]:
        """What the members are called."""
        return [place.member.name for place in self.places]

    def member_proba(self, row: int) -> np.ndarray:
        """(members, k): what each member says of a row that it has not seen."""
        return self.model.member_proba_[:, row]

    def was_trained_on(self, rows: np.ndarray) -> np.ndarray:
        """Whether rows were trained on: those of weight 0 were not."""
        return self._place_of_row[rows] >= 0

    def _trees(self, number: int) -> Iterator[tuple[int, Round, int, GrownTree]]:
        """The trees of a member: number, round of its task, round and tree."""
        place, seeds = self.places[number], Seeds(self.model._seed)
        member = place.member
        for stage in self.model.stages_:
            t = round_of(stage)
            for j, tree in enumerate(trees_of(stage)[place.trees]):
                if tree is None or member.pruned(j, t, tree) is None:
                    continue
                task = j * member.n_tasks // member.n_trees
                yield j, seeds.round(t).of(self.first_tasks[number] + task), t, tree

    # Nearest rows

    def proximities(self, rows: np.ndarray) -> csr_matrix:
        """(rows, n): how much each training row counts where the forests judge a row.

        The mean over both forests; zero where every bootstrap had the row.
        """
        own, n = self._place_of_row[rows], len(self.trained)
        total = csr_matrix((len(rows), n))
        forests = [k for k, place in enumerate(self.places) if _is_forest(place)]
        for number in forests:
            near, n_trees = csr_matrix((len(rows), n)), np.zeros(len(rows))
            for _, round_, _, tree in self._trees(number):
                missed, one = self._proximities(number, tree, round_, own)
                near, n_trees = near + one, n_trees + missed
            total = total + near.multiply(1 / np.maximum(n_trees, 1)[:, None]).tocsr()
        return _spread(total / max(len(forests), 1), self.trained, len(self._place_of_row))

    def _proximities(
        self, number: int, tree: GrownTree, round_: Round, own: np.ndarray
    ) -> tuple[np.ndarray, csr_matrix]:
        """In one tree: which of the rows its bootstrap missed, and their proximities."""
        member = self.places[number].member
        assert isinstance(member, ForestMember)
        counts = bootstrap_counts(len(self.trained), round_)
        leaf = effective_leaves(tree, np.array([member.leaf_size]))[0][self.binned.leaves(tree)]
        drawn = np.flatnonzero(counts)
        mass = np.bincount(leaf, weights=counts, minlength=len(tree.feature))
        shares = counts[drawn] / mass[leaf[drawn]]
        size = len(tree.feature), len(counts)
        by_leaf = csr_matrix((shares, (leaf[drawn], drawn)), shape=size)
        missed = counts[own] == 0
        at = np.flatnonzero(missed)
        chosen = csr_matrix((np.ones(len(at)), (at, leaf[own[at]])), shape=(len(own), size[0]))
        return missed.astype(float), chosen @ by_leaf

    # Columns

    def contributions(
        self, rows: np.ndarray, towards: np.ndarray, against: np.ndarray
    ) -> np.ndarray:
        """(rows, features): contributions to log q(towards) - log q(against), by members of trees.

        ``towards`` and ``against`` are indices of classes. What the parts of a date contribute is
        added up.
        """
        order = np.argsort(rows)
        pairs = Pairs(self._place_of_row[rows[order]], towards[order], against[order])
        total = np.zeros((len(rows), self.binned.n_features))
        for number, place in enumerate(self.places):
            weight = self.model.member_weights_[number]
            if isinstance(place.member, BoosterMember):
                total += weight * self._by_booster(number, place.member, pairs)
            elif _is_forest(place):
                total += weight * self._by_forest(number, place.member, pairs)
        by_feature = np.apply_along_axis(self.model._encoder.by_feature, 1, total)
        return by_feature[np.argsort(order)]

    def _by_booster(self, number: int, member: BoosterMember, pairs: Pairs) -> np.ndarray:
        """Of the booster that left a row out: its scores are sums, in logarithms."""
        y = self.model._given[self.trained]
        fold_of_row = deal_folds(y, member.n_folds, self.model._seed)[pairs.rows]
        bins, out = self.binned.take(pairs.rows), np.zeros((len(pairs), self.binned.n_features))
        # With two classes there is one score, that of the second.
        first = member.n_classes - member.width
        for j, _, _, tree in self._trees(number):
            fold, label = j // member.width, j % member.width + first
            sign = (pairs.towards == label).astype(float) - (pairs.against == label)
            used = np.flatnonzero((fold_of_row == fold) & (sign != 0))
            worth = sign[used, None] * tree.value[:, 0]
            add_path_changes(tree, bins.take(used), worth, out, used)
        return out

    def _by_forest(self, number: int, member: Any, pairs: Pairs) -> np.ndarray:
        """Of trees that missed a row: changes of shares, scaled to those of their logarithms."""
        bins, n = self.binned.take(pairs.rows), len(self.trained)
        out, n_trees = np.zeros((len(pairs), self.binned.n_features)), np.zeros(len(pairs))
        start, end = (np.zeros((len(pairs), 2)) for _ in range(2))
        for _, round_, _, tree in self._trees(number):
            used = np.flatnonzero(bootstrap_counts(n, round_)[pairs.rows] == 0)
            shares = with_leaf_size(tree, member.leaf_size).value
            own = Pairs(pairs.rows[used], pairs.towards[used], pairs.against[used])
            leaf = add_path_changes(tree, bins.take(used), own.difference(shares), out, used)
            for column, labels in enumerate((own.towards, own.against)):
                start[used, column] += shares[0, labels]
                end[used, column] += shares[leaf, labels]
            n_trees[used] += 1
        n_trees = np.maximum(n_trees, 1)[:, None]
        return out / n_trees * _log_slope(start / n_trees, end / n_trees)[:, None]


def _is_forest(place: Place) -> bool:
    return isinstance(place.member, ForestMember)


def _log_slope(start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Change of the difference of logarithms, per change of the difference of shares."""
    logs = [np.log(np.maximum(shares, SMALLEST)) for shares in (start, end)]
    by_log = np.diff(logs[0], axis=1) - np.diff(logs[1], axis=1)
    by_share = np.diff(start, axis=1) - np.diff(end, axis=1)
    flat = np.abs(by_share) < FLAT
    return np.where(flat, 0.0, by_log / np.where(flat, 1.0, by_share))[:, 0]


def add_path_changes(
    tree: GrownTree, rows: BinnedRows, worth: np.ndarray, out: np.ndarray, at: np.ndarray
) -> np.ndarray:
    """Add each row's changes of ``worth`` from node to child to the columns that nodes test.

    ``worth`` has a row per row and a column per node; results are added to ``out[at]``. Returns the
    leaf of each row.
    """
    leaves = np.zeros(len(at), dtype=np.int64)
    for chunk, packed, feature in rows.unpacked(tree.feature):
        node, own = np.zeros(packed.shape[1], dtype=np.int64), np.arange(packed.shape[1])
        for _ in range(tree.depth):
            f = feature[node]
            bins = (packed[f >> 2, own] >> (8 * (f & 3)).astype(np.uint32)) & np.uint32(255)
            word = tree.left_bitset[node, bins >> np.uint32(5)]
            goes_left = (word >> (bins & np.uint32(31))) & np.uint32(1)
            child = tree.children[node, 1 - goes_left.astype(np.int64)].astype(np.int64)
            gained = worth[chunk][own, child] - worth[chunk][own, node]
            out[at[chunk], tree.feature[node]] += gained  # a leaf is its own child: no change
            node = child
        leaves[chunk] = node
    return leaves


def _spread(near: csr_matrix, trained: np.ndarray, n_rows: int) -> csr_matrix:
    """Columns of rows that were trained on, among all rows."""
    if len(trained) == n_rows:
        return near.tocsr()
    near = near.tocoo()
    return csr_matrix((near.data, (near.row, trained[near.col])), shape=(near.shape[0], n_rows))
