"""Checks cases from standard input, a line of JSON each, within limits of memory and time.

``python -m fuzz.worker NAME MEGABYTES SECONDS``, in the folder ``tests``.
"""

import faulthandler
import importlib
import json
import sys
import time
import traceback

try:
    import resource
except ImportError:  # not on Windows
    resource = None


def limit_memory(megabytes):
    if resource is not None:
        resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def limit_time(seconds):
    """End this process if the next case takes more time of the processor."""
    if resource is not None:
        hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
        resource.setrlimit(resource.RLIMIT_CPU, (int(time.process_time()) + 1 + seconds, hard))


def result_of(fuzzer, case):
    try:
        return {"result": fuzzer.check(case)}
    except Exception as error:  # whatever it is, it is a finding
        last = traceback.format_exc().splitlines()[-14:]
        return {"finding": f"{type(error).__name__}: {error}"[:2000], "where": last}


def main():
    faulthandler.enable()
    name, megabytes, seconds = sys.argv[1:]
    fuzzer = importlib.import_module(f"fuzz.{name}")
    limit_memory(int(megabytes))
    answers = sys.stdout
    sys.stdout = sys.stderr
    for line in sys.stdin:
        limit_time(int(seconds))
        answers.write(json.dumps(result_of(fuzzer, json.loads(line))) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
