"""Fuzzers: cases drawn from seeds, what must hold of each, and how to make a case simpler.

``python -m tests.fuzz --minutes N`` runs them in processes with limits of memory and time. Each
module has ``generate(seed)``, which gives a case of plain values, ``check(case)``, which raises an
``AssertionError`` for what must not be, and ``shrink(case)``, which gives simpler ones.
"""
