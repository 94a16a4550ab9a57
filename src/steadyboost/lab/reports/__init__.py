"""HTML pages of audits, comparisons and experiments, each one self-contained file.

Each module prepares the content of one kind of page, whose template is in ``templates/``. What they
share is in :mod:`steadyboost.pages`: base template, style sheet, tables and charts.
"""

PACKAGE = __name__  # where templates are looked for
