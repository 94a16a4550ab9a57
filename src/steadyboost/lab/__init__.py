"""What studies the library: data sets, experiments, comparisons, reports and the demo."""
