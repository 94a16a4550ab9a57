"""The compiled tree core: numba functions on plain arrays.

Nothing here depends on boosting or on scikit-learn. Three design decisions explain the rest:

* A column is binned once into ``uint8`` codes; four columns share one ``uint32`` word.
* A split is *the set of bins that go left*, as a 256-bit mask. Thresholds, missing values and
  subsets of categories are the same thing.
* Weights become 64-bit integers that sum to about 2**60. Sums of integers do not depend on their
  order, so a histogram minus its sibling is exact, and neither the number of threads nor the way
  in which rows are sharded changes a tree. The rounding, at most n/2**61 of the total weight, is
  below that of a floating-point sum.
"""
