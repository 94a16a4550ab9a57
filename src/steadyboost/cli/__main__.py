"""Run the command line as ``python -m steadyboost.cli``."""

from steadyboost.cli import main

main()
