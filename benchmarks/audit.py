"""Finding wrong labels, beside other methods: ``python benchmarks/audit.py``.

Suites: ``noise`` (all kinds of noise on the suite's sets, and a crowd's labels), ``clean`` (right
labels), ``errors`` (people's mistakes, by the probabilities of networks), ``aqua`` and
``valuation`` (published protocols), ``indicator`` (sets of labels), ``time``. All methods see the
same labels: our audit, cleanlab over LightGBM and over our probabilities, Data-OOB over 800 bagged
trees, self-confidence, and the rule "most probable class is not the given one" over our
probabilities. Probabilities are kept in ``--cache``, so that a run can be stopped (``--minutes``)
and resumed. ``--write-docs`` renews the tables of docs/noise.md and docs/audit.md.
"""

import argparse
import os
import sys
import time
from pathlib import Path

import pandas as pd
from _audit_cases import Case, cases_of, table_of
from _audit_methods import SOURCES, judgements, kept
from _audit_report import bars, report
from _audit_scores import f1_by_two_means, scores_of
from _audit_suites import label_errors, sets_of_labels, timings

TABLE_SUITES = ("noise", "clean", "aqua", "valuation")
OTHER_SUITES = {"errors": label_errors, "indicator": sets_of_labels, "time": timings}
QUICK = {"sets": ["car", "pendigits", "spambase"], "rows": 600, "seeds": 1}
OURS_ALONE = ("aqua", "clean")  # suites in which others' published or own lists are not needed


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    suites = [*TABLE_SUITES, *OTHER_SUITES]
    parser.add_argument("--suites", nargs="+", default=suites, choices=suites)
    parser.add_argument("--sets", nargs="+", default=[], help="sets of noise and clean")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--rows", type=int, default=1000, help="training rows at the most")
    parser.add_argument("--ours-alone", action="store_true", help="no LightGBM, no bagged trees")
    parser.add_argument("--quick", action="store_true", help="three sets of 600 rows")
    parser.add_argument("--minutes", type=float, default=0, help="stop after so long; run again")
    parser.add_argument("--cache", type=Path, default=Path.home() / ".cache/steadyboost/audit")
    parser.add_argument("--fresh", nargs="*", default=[], choices=list(SOURCES))
    parser.add_argument("--write-docs", action="store_true")
    if parser.parse_args().quick:
        parser.set_defaults(**QUICK)
    return parser.parse_args()


def sources_for(case: Case, ours_alone: bool) -> list[str]:
    return ["ours"] if ours_alone or case.suite in OURS_ALONE else list(SOURCES)


def results(wanted: argparse.Namespace, folder: Path | None) -> pd.DataFrame:
    """A line per case and method; exits where time is up."""
    end = time.monotonic() + 60 * wanted.minutes if wanted.minutes else float("inf")
    lines = []
    for case in all_cases(wanted):
        table = table_of(case, folder)
        if table is None:
            continue
        known = {}
        for source in sources_for(case, wanted.ours_alone):
            known[source] = kept(source, case, table, wanted.cache, source in wanted.fresh)
            if time.monotonic() > end:
                sys.exit(f"{wanted.minutes:g} minutes are over; run the command again to go on.")
        for method, found in judgements(table.y, known).items():
            line = {**case._asdict(), "rate_made": case.rate, "method": method}
            lines.append(line | scores_of(found, table.is_wrong))
            if case.suite == "valuation":
                lines[-1]["two_means"] = f1_by_two_means(found, table.is_wrong)
    return pd.DataFrame(lines)


def all_cases(wanted: argparse.Namespace) -> list[Case]:
    return [
        case
        for seed in range(wanted.seeds)
        for suite in TABLE_SUITES
        if suite in wanted.suites
        for case in cases_of(suite, wanted.sets, seed, wanted.rows)
    ]


def main() -> None:
    wanted = options()
    folder = Path(os.environ["STEADYBOOST_DATA"]) if "STEADYBOOST_DATA" in os.environ else None
    frames = {"tables": results(wanted, folder)}
    for suite, run in OTHER_SUITES.items():
        if suite in wanted.suites:
            frames[suite] = run(folder, wanted.cache, wanted.seeds)
    section = "audit-own" if wanted.ours_alone else "audit"
    report(frames, wanted.write_docs, command_of(wanted), section)
    bars(frames)


def command_of(wanted: argparse.Namespace) -> str:
    """What is needed to make the same figures again."""
    chosen = f" --sets {' '.join(wanted.sets)}" if wanted.sets else ""
    alone = " --ours-alone" if wanted.ours_alone else ""
    return f"python benchmarks/audit.py --rows {wanted.rows} --seeds {wanted.seeds}{chosen}{alone}"


if __name__ == "__main__":
    main()
