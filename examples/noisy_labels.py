# %% [markdown]
# # Noisy labels
#
# How much do wrong labels hurt, and which ones are they? Scikit-learn's digits, with a quarter of
# the training labels exchanged. Run this as a script, or cell by cell in an editor that knows
# `# %%`, or in Jupyter by jupytext.

# %%
from sklearn.datasets import load_digits
from sklearn.ensemble import AdaBoostClassifier, RandomForestClassifier
from sklearn.metrics import average_precision_score
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier

from steadyboost import MSmoothBoostClassifier, SteadyBoostClassifier, Tree
from steadyboost.noise import corrupt

X, y = load_digits(return_X_y=True)
X, X_test, y, y_test = train_test_split(X, y, train_size=800, stratify=y, random_state=0)
given, is_wrong = corrupt(y, rate=0.25, random_state=0)
print(f"{len(y)} training rows, {is_wrong.sum()} wrong labels; {len(y_test)} test rows, all right")

# %% [markdown]
# ## Errors on right labels
#
# AdaBoost and a forest of scikit-learn, a robust booster of the literature, and ours. The first
# column is trained on right labels, the second on the labels above. One split and one draw of
# noise: differences of a percent mean nothing.

# %%
models = {
    "AdaBoost (scikit-learn)": AdaBoostClassifier(
        DecisionTreeClassifier(max_depth=3), n_estimators=100, random_state=0
    ),
    "random forest (scikit-learn)": RandomForestClassifier(random_state=0),
    "MSmoothBoost": MSmoothBoostClassifier(Tree(max_depth=3), learning_rate=0.3, random_state=0),
    "SteadyBoost": SteadyBoostClassifier(n_estimators=50, random_state=0),
}
for name, model in models.items():
    errors = [1 - model.fit(X, labels).score(X_test, y_test) for labels in (y, given)]
    print(f"{name:33}{errors[0]:6.1%} {errors[1]:6.1%}")

# %% [markdown]
# ## Which labels are wrong?
#
# The last model was trained on the wrong labels. It judged each one by members that had not seen
# it, and tells how many are wrong and which.

# %%
steady = models["SteadyBoost"]
suspects = steady.suspects_
hits = is_wrong[suspects.row].sum()
print(f"estimated share of wrong labels: {steady.noise_rate_:.1%}, in truth {is_wrong.mean():.1%}")
print(f"{len(suspects)} suspects, {hits} of them wrong; {is_wrong.sum() - hits} were missed")
precision = average_precision_score(is_wrong, 1 - steady.label_scores_)
print(f"average precision of the ranking: {precision:.3f}")
print(suspects.head(5))
