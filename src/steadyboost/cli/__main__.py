"""Run the command line as ``python -m steadyboost.cli``."""

from steadyboost.cli import main

if __name__ == "__main__":
    main()
