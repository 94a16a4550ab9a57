"""Reproduction of the papers: their tables and figures, printed numbers and claims.

Each file in ``papers/`` is one paper as data. One runner runs them all: a *cell* (one method on one
data set, at one rate of noise, in one repeat or fold) is the unit of work and of the cache.
"""
