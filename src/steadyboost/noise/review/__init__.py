"""Checking suspects by hand: evidence, the review page, verdicts, and applying them.

A reviewer looks at rows whose labels look wrong (``page.py``, with the evidence of ``evidence.py``)
and says of each what is right (``verdicts.py``). Verdicts find their rows again by an identifier,
or by number and a hash of the row (``matching.py``), and then change labels.
"""

PACKAGE = __name__  # where templates are looked for
