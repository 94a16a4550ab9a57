"""Checks cases from standard input, a line of JSON each, within a limit of memory.

``python -m fuzz.worker NAME MEGABYTES``, in the folder ``tests``.
"""

import faulthandler
import importlib
import json
import sys
import traceback


def limit_memory(megabytes):
    try:
        import resource
    except ImportError:  # not on Windows
        return
    resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))


def result_of(fuzzer, case):
    try:
        return {"result": fuzzer.check(case)}
    except Exception as error:  # whatever it is, it is a finding
        last = traceback.format_exc().splitlines()[-14:]
        return {"finding": f"{type(error).__name__}: {error}"[:2000], "where": last}


def main():
    faulthandler.enable()
    name, megabytes = sys.argv[1:]
    fuzzer = importlib.import_module(f"fuzz.{name}")
    limit_memory(int(megabytes))
    answers = sys.stdout
    sys.stdout = sys.stderr
    for line in sys.stdin:
        answers.write(json.dumps(result_of(fuzzer, json.loads(line))) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
