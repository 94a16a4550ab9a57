"""A made-up paper on data that come with scikit-learn, and a session that runs it."""

from dataclasses import replace

from steadyboost.lab.experiments.cells import Cache
from steadyboost.lab.experiments.plan import quick_version
from steadyboost.lab.experiments.reading import read_paper
from steadyboost.lab.experiments.report import make_report
from steadyboost.lab.experiments.results import gather, obstacles
from steadyboost.lab.experiments.run import Session, run_and_save

PAPER = """
[paper]
id = "999"
citation = "N. N. (2000). A paper for tests."
notes = ["It does <not> exist."]

[protocols.main]
kind = "shuffle"
train = 0.6
repeats = 3

[methods.SAMME]
estimator = "SAMMEClassifier"

[methods."M1"]
estimator = "AdaBoostM1Classifier"
name = "AdaBoost.M1"
note = "an old one"

[methods.future]
estimator = "NoSuchClassifier"
extra = true

[methods.steps]
estimator = "SAMMEClassifier"

[data.iris]
set = "iris"

[data.wine]
set = "wine"

[data.lost]
name = "lost & gone"
missing = "nobody has it"

[[experiments]]
id = "table-1"
title = "Errors (%) of a made-up table"
protocol = "main"
learner = "Stump"
rounds = 4
methods = ["SAMME", "M1", "future"]
data = ["iris", "wine", "lost"]
focus = "SAMME"
quick = { repeats = 2, rounds = 2, data = ["iris", "lost"] }
printed = '''
iris        |  5.0 ± 1.0 | 6.0
wine        | 90.5 ± 0.1 | ?
lost & gone |  1.0       | -
'''
pictures = [{ kind = "bars", title = "Error" }]

[[experiments.claims]]
says = "SAMME errs on fewer than all rows."
left = { method = "SAMME" }
right = { value = 100.0 }

[[experiments.claims]]
says = "SAMME is perfect."
left = { method = "SAMME" }
right = { value = 0.0 }
relation = "at_most"

[[experiments.claims]]
says = "The future is better than SAMME."
left = { method = "future" }
right = { method = "SAMME" }

[[experiments]]
id = "figure-1"
title = "Errors (%) by round, with wrong labels"
protocol = "main"
learner = { name = "Tree", max_depth = 2 }
rounds = 6
noise = [0.1, 0.3]
reference_noise = [0.0]
curve = true
clock = true
parts = ["train", "test"]
methods = ["SAMME", "M1"]
data = ["iris"]
rows = ["noise", "part"]
quick = { repeats = 1, rounds = 3, noise = [0.3] }
pictures = [
  { kind = "curves", title = "By round", log = true },
  { kind = "curves", by = "time", part = "train", title = "By time" },
  { kind = "lines", by = "noise", title = "By noise" },
]

[[experiments]]
id = "figure-2"
title = "Errors (%) by step"
protocol = "main"
learner = "Stump"
rounds = 3
record = [1, 3]
sweep = { method = "steps", parameter = "learning_rate", symbol = "step", values = [0.5, 1.0] }
data = ["iris"]
rows = ["round"]
pictures = [
  { kind = "lines", by = "method", title = "By step" },
  { kind = "scatter", methods = ["step = 0.5", "step = 1.0"], title = "Scatter" },
  { kind = "histogram", methods = ["step = 0.5", "step = 1.0"], title = "Histogram" },
]
"""


def paper():
    return read_paper(PAPER)


def experiment(id_="table-1", quick=False, **changes):
    found = next(e for e in paper().experiments if e.id == id_)
    found = quick_version(found) if quick else found
    return replace(found, **changes)


def report_of(chosen, folder):
    """Run in this process and report."""
    cache, failures = Cache(folder), {}
    session = Session([chosen], cache)
    for cell in session.waiting():
        why = run_and_save(cache.folder, cell.key, cell.config)
        if why:
            failures[cell.key] = why
    return make_report(gather(chosen, cache, obstacles(chosen, ()), failures))
