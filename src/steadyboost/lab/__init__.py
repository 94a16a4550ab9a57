"""Studies with the library: data sets, experiments, comparisons, reports and the demo."""
