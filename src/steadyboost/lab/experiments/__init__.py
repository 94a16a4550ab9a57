"""The tables and figures of the papers: what to run, what the paper printed, what it claims.

Each file in ``papers/`` is one paper as data. One runner runs them all: a *cell* (one method on one
data set, at one rate of noise, in one repeat or fold) is the unit of work and of the cache.
"""
