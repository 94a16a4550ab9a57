# %% [markdown]
# # Costs of mistakes
#
# To miss a tumour is worse than a false alarm. Ways to take that into account, compared by what
# their answers cost on rows that they have not seen.

# %%
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import RepeatedStratifiedKFold

from steadyboost import SAMMEClassifier, SoftmaxBoostClassifier, Stump
from steadyboost.costs import mean_cost

X, y = load_breast_cancer(return_X_y=True)  # class 0 is malignant, 1 benign
MISSED, ALARM = 20.0, 1.0
costs = np.array([[0.0, MISSED], [ALARM, 0.0]])  # row: the truth; column: the answer

# %% [markdown]
# - *no costs*: every mistake counts alike, in training and prediction;
# - *at prediction*: the class of the least expected cost, by the model's probabilities;
# - *in training*: rows weigh as much as is at stake in their class, and answers are those of the
#   least expected cost; soft-max boosting draws rows by their stakes and minimises the cost itself.
#
# Both boost stumps.


# %%
def answers_of(train, test):
    """Answers of each way for test rows."""
    options = {"estimator": Stump(), "n_estimators": 50, "random_state": 0}
    samme = SAMMEClassifier(**options).fit(X[train], y[train])
    plain = SoftmaxBoostClassifier(**options).fit(X[train], y[train])
    weighted = SAMMEClassifier(**options).fit(X[train], y[train], cost_matrix=costs)
    trained = SoftmaxBoostClassifier(n_samples=2.0, learning_rate=0.5, **options)
    trained.fit(X[train], y[train], cost_matrix=costs)
    return {
        "SAMME, no costs": samme.predict(X[test]),
        "SAMME, at prediction": samme.predict(X[test], cost_matrix=costs),
        "SAMME, in training": weighted.predict(X[test]),
        "soft-max, no costs": plain.predict(X[test]),
        "soft-max, in training": trained.predict(X[test]),
    }


results: dict[str, list[tuple[float, int, int]]] = {}
for train, test in RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0).split(X, y):
    for name, answers in answers_of(train, test).items():
        missed = int(((y[test] == 0) & (answers == 1)).sum())
        alarms = int(((y[test] == 1) & (answers == 0)).sum())
        cost = mean_cost(y[test], answers, costs)
        results.setdefault(name, []).append((cost, missed, alarms))

# %% [markdown]
# Means over the folds; ± is the standard deviation from fold to fold. A few missed tumours decide,
# so that the costs of single folds differ much.

# %%
print(f"{'':22}{'mean cost':>14}{'missed':>9}{'false alarms':>14}")
for name, values in results.items():
    cost, missed, alarms = np.mean(values, axis=0)
    spread = np.std([value[0] for value in values], ddof=1)
    print(f"{name:22}{cost:7.2f} ± {spread:4.2f}{missed:9.1f}{alarms:14.1f}")
