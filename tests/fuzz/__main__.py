"""``python -m tests.fuzz --minutes N``: run the fuzzers, print counts, write down findings."""

import argparse
import itertools
import json
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from fuzz.running import NAMES, run


def until(end, first):
    """Seeds, until a time."""
    return itertools.takewhile(lambda _: time.monotonic() < end, itertools.count(first))


def show(found):
    print(f"\n{found.name} {found.seed}: {found.what}", *found.where, sep="\n  ")
    print(" ", json.dumps(found.case)[:3000], flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10, help="of all fuzzers together")
    parser.add_argument("--only", nargs="+", choices=NAMES, default=NAMES)
    parser.add_argument("--first", type=int, default=0, help="first seed")
    parser.add_argument("--case", help="check one case, as it was printed, with --only NAME")
    options = parser.parse_args()
    if options.case:
        from importlib import import_module

        print(import_module(f"fuzz.{options.only[0]}").check(json.loads(options.case)))
        return
    n_found, seconds = 0, 60 * options.minutes / len(options.only)
    for name in options.only:
        counts, found = run(name, until(time.monotonic() + seconds, options.first), keep=show)
        n_found += len(found)
        print(f"{name}: {sum(counts.values())} cases, {dict(counts)}", flush=True)
    sys.exit(min(n_found, 1))


if __name__ == "__main__":
    main()
