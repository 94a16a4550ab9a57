# %% [markdown]
# # An audit of crowd labels
#
# Sentences from film reviews, judged as favourable or not by people on the web, with several
# answers each. We take the label of *one* person per sentence and look for wrong ones; the
# sentences' true labels, which the audit does not see, judge it. The files are read from the folder
# that the environment variable STEADYBOOST_DATA names.

# %%
import numpy as np
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import average_precision_score
from sklearn.pipeline import make_pipeline

from steadyboost import SteadyBoostClassifier
from steadyboost.lab.datasets import human_labels, load
from steadyboost.noise import audit

sentences = np.asarray(load("sentiment_crowd", "train")[0])[:, 0]
labels = human_labels("sentiment_crowd")
rows = np.random.default_rng(0).permutation(len(labels))[:1500]
given = labels["y_one_annotator"].to_numpy()[rows]
true = labels["y_true"].to_numpy()[rows]
is_wrong = given != true
print(f"{len(rows)} sentences, {is_wrong.mean():.1%} of the labels are wrong")

# %% [markdown]
# ## Features
#
# Weighted words, reduced to 50 columns. These know little of irony, and an audit is only as good as
# the features: with an embedding by a language model, far more can be found.

# %%
words = TfidfVectorizer(min_df=2, sublinear_tf=True)
X = make_pipeline(words, TruncatedSVD(50, random_state=0)).fit_transform(sentences[rows])

# %% [markdown]
# ## The audit
#
# Precision at n says how many of the first n rows of the list are wrong indeed, beside the share
# that a list in random order would have.

# %%
found = audit(X, given, SteadyBoostClassifier(n_estimators=40, random_state=0))
print(f"estimated share of wrong labels: {found.noise_rate:.1%}")
for n in (20, 50, 100, 200):
    share = is_wrong[found.table.row[:n]].mean()
    print(f"precision at {n:3}: {share:.0%}  (random: {is_wrong.mean():.0%})")
precision = average_precision_score(is_wrong, 1 - found.scores)
print(f"average precision: {precision:.2f} (random: {is_wrong.mean():.2f})")

# %% [markdown]
# ## The first on the list

# %%
for line in range(5):
    row, score = found.table.row[line], found.table.score[line]
    print(f"{score:.2f} given {given[row]}, true {true[row]}: {sentences[rows][row][:70]}")
