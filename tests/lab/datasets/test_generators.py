"""Artificial problems: exact structure, distributions, best possible errors, seeds."""

import os
from collections import Counter

import numpy as np
import pytest
from scipy.stats import chisquare

from steadyboost.lab.datasets import (
    load,
    make_krkopt,
    make_led,
    make_long_servedio,
    make_madelon_like,
    make_poker,
    make_ringnorm,
    make_twonorm,
    make_waveform,
    poker_label,
)

needs_data = pytest.mark.skipif(
    "STEADYBOOST_DATA" not in os.environ, reason="STEADYBOOST_DATA names no folder"
)
SEEDED = [make_long_servedio, make_led, make_poker, make_ringnorm, make_twonorm, make_waveform]


@pytest.mark.parametrize("make", SEEDED)
def test_seed_reproduces_and_matters(make):
    X, y = make(200, random_state=3)
    X_again, y_again = make(200, random_state=3)
    X_other, _ = make(200, random_state=4)
    assert X.shape[0] == y.shape[0] == 200
    np.testing.assert_array_equal(X, X_again)
    np.testing.assert_array_equal(y, y_again)
    assert not np.array_equal(X, X_other)


@pytest.mark.parametrize("make", SEEDED)
@pytest.mark.parametrize("n_samples", [0, -1, 2.5])
def test_bad_size_is_named(make, n_samples):
    with pytest.raises(ValueError, match=f"n_samples={n_samples}"):
        make(n_samples)


@pytest.mark.parametrize("make", [make_long_servedio, make_led])
@pytest.mark.parametrize("noise", [-0.1, 1.1, np.nan])
def test_bad_noise_is_named(make, noise):
    with pytest.raises(ValueError, match="noise="):
        make(10, noise=noise)


class TestLongServedio:
    def test_groups_are_exact(self):
        X, y = make_long_servedio(4000, random_state=0)
        agrees = y[:, None] == X
        first, last = agrees[:, :11].sum(axis=1), agrees[:, 11:].sum(axis=1)
        pairs = Counter(zip(first.tolist(), last.tolist(), strict=True))
        assert pairs == {(11, 10): 1000, (11, 0): 1000, (5, 6): 2000}

    def test_agreement_is_11_or_21_and_majority_never_errs(self):
        X, y = make_long_servedio(1001, random_state=1)
        assert set((y[:, None] == X).sum(axis=1).tolist()) == {11, 21}
        np.testing.assert_array_equal(X.sum(axis=1) > 10, y == 1)
        assert set(np.unique(X)) == {0, 1}

    def test_penalizer_subsets_are_uniform(self):
        X, y = make_long_servedio(40_000, random_state=2)
        agrees = y[:, None] == X
        penalizers = agrees[agrees[:, :11].sum(axis=1) == 5]
        np.testing.assert_allclose(penalizers[:, :11].mean(axis=0), 5 / 11, atol=0.02)
        np.testing.assert_allclose(penalizers[:, 11:].mean(axis=0), 6 / 10, atol=0.02)

    def test_noise_flips_labels_only(self):
        X, y, clean = make_long_servedio(20_000, noise=0.3, return_clean=True, random_state=5)
        X_clean, y_clean = make_long_servedio(20_000, random_state=5)
        np.testing.assert_array_equal(X, X_clean)
        np.testing.assert_array_equal(clean, y_clean)
        assert abs((y != clean).mean() - 0.3) < 0.02
        np.testing.assert_array_equal(X.sum(axis=1) > 10, clean == 1)


@pytest.fixture(scope="module")
def problems():
    return [make_madelon_like(400, random_state=seed) for seed in range(25)]


class TestMadelonLike:
    def test_parameters_are_in_range_and_vary(self, problems):
        ranges = {
            "n_informative": (2, 10),
            "n_redundant": (0, 5),
            "n_repeated": (0, 5),
            "n_useless": (0, 5),
            "n_classes": (2, 5),
            "n_clusters_per_class": (2, 5),
            "noise": (0, 0.25),
            "n_train": (200, 3000),
        }
        for name, (low, high) in ranges.items():
            values = [problem[name] for problem in problems]
            assert low <= min(values) < max(values) <= high

    def test_sizes_follow_the_parameters(self, problems):
        for p in problems:
            n_features = p.n_informative + p.n_redundant + p.n_repeated + p.n_useless
            assert p.X_train.shape == (p.n_train, n_features)
            assert p.X_test.shape == (400, n_features)
            assert set(p.y_test) == set(range(p.n_classes))
            assert p.n_classes * p.n_clusters_per_class <= 2**p.n_informative

    def test_only_training_labels_are_redrawn(self, problems):
        flipped = sum((p.y_train != p.y_train_clean).sum() for p in problems)
        expected = sum(p.n_train * p.noise * (1 - 1 / p.n_classes) for p in problems)
        assert abs(flipped / expected - 1) < 0.1

    def test_repeated_features_are_copies(self, problems):
        # A repeated feature is a copy before the random shift and scale of each column.
        for p in problems[:8]:
            correlation = np.corrcoef(p.X_train, rowvar=False)
            copies = (np.triu(correlation, 1) > 1 - 1e-9).any(axis=0).sum()
            assert copies == p.n_repeated

    def test_features_are_shifted_and_scaled(self, problems):
        scales = np.concatenate([p.X_train.std(axis=0) for p in problems])
        assert scales.max() / scales.min() > 30

    def test_seed_reproduces(self, problems):
        again = make_madelon_like(400, random_state=0)
        np.testing.assert_array_equal(again.X_test, problems[0].X_test)
        np.testing.assert_array_equal(again.y_train, problems[0].y_train)


class TestBreiman:
    def test_waveform_class_means(self):
        X, y = make_waveform(30_000, random_state=0)
        triangle = {p: np.maximum(6 - np.abs(np.arange(1, 22) - p), 0) for p in (7, 11, 15)}
        for label, (a, b) in enumerate([(7, 15), (7, 11), (11, 15)]):
            mean = (triangle[a] + triangle[b]) / 2
            np.testing.assert_allclose(X[y == label].mean(axis=0), mean, atol=0.12)
        # Both ends lie outside every triangle, so they are pure noise.
        np.testing.assert_allclose(X[:, [0, 20]].std(axis=0), 1, atol=0.02)
        assert np.ptp(np.bincount(y)) < 700

    @needs_data
    def test_waveform_labels_as_in_uci(self):
        X, y = make_waveform(20_000, random_state=0)
        X_uci, y_uci = load("waveform")
        for label in range(3):
            uci_mean = X_uci[y_uci == str(label)].mean().to_numpy()
            np.testing.assert_allclose(X[y == label].mean(axis=0), uci_mean, atol=0.2)

    def test_led_without_noise_shows_digits(self):
        X, y = make_led(2000, noise=0.0, random_state=0)
        shown = {int(digit): {tuple(row) for row in X[y == digit].tolist()} for digit in range(10)}
        assert all(len(rows) == 1 for rows in shown.values())
        assert shown[8] == {(1, 1, 1, 1, 1, 1, 1)}
        assert shown[1] == {(0, 0, 1, 0, 0, 1, 0)}
        assert len(set.union(*shown.values())) == 10

    def test_led_best_error_and_irrelevant_features(self):
        X, y = make_led(20_000, noise=0.1, n_irrelevant=17, random_state=1)
        assert X.shape == (20_000, 24)
        np.testing.assert_allclose(X[:, 7:].mean(axis=0), 0.5, atol=0.02)
        clean, digit = make_led(500, noise=0.0, random_state=0)
        patterns = np.array([clean[digit == k][0] for k in range(10)])
        nearest = (X[:, None, :7] != patterns).sum(axis=2).argmin(axis=1)
        assert abs((nearest != y).mean() - 0.26) < 0.015

    def test_led_rejects_negative_width(self):
        with pytest.raises(ValueError, match="n_irrelevant=-1"):
            make_led(10, n_irrelevant=-1)

    def test_twonorm_best_error(self):
        X, y = make_twonorm(40_000, random_state=0)
        assert X.shape[1] == 20
        assert abs(((X.sum(axis=1) < 0) != y).mean() - 0.0228) < 0.003

    def test_ringnorm_best_error(self):
        X, y = make_ringnorm(40_000, random_state=0)
        a = 2 / np.sqrt(20)
        wide = (X**2).sum(axis=1) / 8 + 20 * np.log(2)
        narrow = ((X - a) ** 2).sum(axis=1) / 2
        assert abs(((narrow < wide) != y).mean() - 0.0124) < 0.002


# Number of five-card hands of each label among 52 choose 5.
HANDS = np.array([1302540, 1098240, 123552, 54912, 10200, 5108, 3744, 624, 36, 4])


class TestPoker:
    @pytest.mark.parametrize(
        ("suits", "ranks", "label"),
        [
            ((1, 2, 3, 4, 1), (2, 5, 9, 11, 13), 0),
            ((1, 2, 3, 4, 1), (12, 13, 1, 2, 3), 0),  # no straight around the ace
            ((1, 2, 3, 4, 1), (4, 9, 4, 11, 13), 1),
            ((1, 2, 3, 4, 1), (4, 9, 4, 9, 13), 2),
            ((1, 2, 3, 4, 1), (7, 2, 7, 7, 13), 3),
            ((1, 2, 3, 4, 1), (5, 3, 1, 4, 2), 4),
            ((1, 2, 3, 4, 1), (13, 1, 10, 12, 11), 4),
            ((2, 2, 2, 2, 2), (2, 5, 9, 11, 13), 5),
            ((2, 2, 2, 2, 2), (1, 5, 9, 12, 13), 5),
            ((1, 2, 3, 4, 1), (8, 8, 3, 8, 3), 6),
            ((1, 2, 3, 4, 1), (8, 8, 8, 8, 3), 7),
            ((3, 3, 3, 3, 3), (5, 3, 1, 4, 2), 8),
            ((3, 3, 3, 3, 3), (9, 10, 11, 12, 13), 8),
            ((4, 4, 4, 4, 4), (13, 1, 10, 12, 11), 9),
        ],
    )
    def test_hand_written_hands(self, suits, ranks, label):
        hand = np.column_stack([suits, ranks]).ravel()
        assert poker_label([hand]).tolist() == [label]

    def test_label_frequencies(self):
        _, y = make_poker(525_010, random_state=0)
        expected = HANDS / HANDS.sum() * len(y)
        counts = np.bincount(y, minlength=10).astype(float)
        rare = slice(7, None)  # too few expected of each for the test
        assert HANDS.sum() == 2_598_960
        observed = np.append(counts[:7], counts[rare].sum())
        assert chisquare(observed, np.append(expected[:7], expected[rare].sum())).pvalue > 0.001

    def test_hands_are_uniform_without_replacement(self):
        X, _ = make_poker(52_000, random_state=1)
        cards = (X[:, 0::2] - 1) * 13 + X[:, 1::2] - 1
        assert set(np.unique(X[:, 0::2])) == set(range(1, 5))
        assert set(np.unique(X[:, 1::2])) == set(range(1, 14))
        assert (np.diff(np.sort(cards, axis=1), axis=1) > 0).all()
        for position in cards.T:
            assert chisquare(np.bincount(position, minlength=52)).pvalue > 1e-4

    def test_wrong_shape_is_named(self):
        with pytest.raises(ValueError, match=r"shape \(1, 9\)"):
            poker_label(np.ones((1, 9)))

    @needs_data
    def test_labels_as_in_uci(self):
        X, y = load("poker", "train")
        np.testing.assert_array_equal(poker_label(X.astype(int).to_numpy()), y.astype(int))


@pytest.fixture(scope="module")
def positions():
    return make_krkopt()


class TestKrkopt:
    def test_class_counts(self, positions):
        # The counts that UCI states for its data.
        assert Counter(positions[1].tolist()) == {
            "draw": 2796,
            "zero": 27,
            "one": 78,
            "two": 246,
            "three": 81,
            "four": 198,
            "five": 471,
            "six": 592,
            "seven": 683,
            "eight": 1433,
            "nine": 1712,
            "ten": 1985,
            "eleven": 2854,
            "twelve": 3597,
            "thirteen": 4194,
            "fourteen": 4553,
            "fifteen": 2166,
            "sixteen": 390,
        }

    def test_positions_are_different_and_reduced(self, positions):
        rows = {"".join(row) for row in positions[0]}
        assert len(rows) == 28_056
        triangle = {"a1", "b1", "c1", "d1", "b2", "c2", "d2", "c3", "d3", "d4"}
        assert {row[:2] for row in rows} == triangle

    def test_known_positions(self, positions):
        label = {"".join(row): str(y) for row, y in zip(*positions, strict=True)}
        assert label["c1a3a1"] == "zero"  # mated on the edge by king and rook
        assert label["c2b8a1"] == "one"  # only a2 is left, then the rook mates on a8
        assert label["a1b3c2"] == "draw"  # the rook falls
        assert label["c1b2a1"] == "draw"  # stalemate next to a protected rook

    @needs_data
    def test_equals_uci_row_for_row(self, positions):
        X, y = load("krkopt")
        np.testing.assert_array_equal(X.astype(str).to_numpy(), positions[0])
        np.testing.assert_array_equal(y.to_numpy(), positions[1])
