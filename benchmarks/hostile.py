"""Damaged model files of several libraries: what do they do? ``python benchmarks/hostile.py``

Each library saves a small classifier; copies of the file get a few random bytes changed, cut out or
moved, and each is loaded and predicts in a process of its own with a limit of memory and time. The
table says how often that ends with an error of Python, with predictions, with the death of the
process or not at all. Files that run code by design (pickle, joblib) are damaged in the same way:
the last column says what a file made on purpose can do, whatever the number of crashes.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np

SECONDS, MEGABYTES = 20, 8000
SAVE = {
    "steadyboost": "m.save(path)",
    "pickle": "import pickle; pickle.dump(m, open(path, 'wb'))",
    "joblib": "import joblib; joblib.dump(m, path)",
    "skops": "import skops.io; skops.io.dump(m, path)",
    "LightGBM, text": "m.booster_.save_model(path)",
    "XGBoost, UBJ": "m.save_model(path)",
    "XGBoost, JSON": "m.save_model(path)",
}
MAKE = {
    "steadyboost": "from steadyboost import SAMMEClassifier as C; m = C(n_estimators=10)",
    "LightGBM, text": "from lightgbm import LGBMClassifier as C; m = C(n_estimators=10)",
    "XGBoost, UBJ": "from xgboost import XGBClassifier as C; m = C(n_estimators=10)",
    "XGBoost, JSON": "from xgboost import XGBClassifier as C; m = C(n_estimators=10)",
}
SKLEARN = "from sklearn.ensemble import RandomForestClassifier as C; m = C(n_estimators=10)"
SKOPS = "import skops.io as s; m = s.load(path, trusted=s.get_untrusted_types(file=path))"
LOAD = {
    "steadyboost": "import steadyboost; m = steadyboost.load(path)",
    "pickle": "import pickle; m = pickle.load(open(path, 'rb'))",
    "joblib": "import joblib; m = joblib.load(path)",
    "skops": SKOPS,
    "LightGBM, text": "import lightgbm; m = lightgbm.Booster(model_file=path)",
    "XGBoost, UBJ": "from xgboost import XGBClassifier; m = XGBClassifier(); m.load_model(path)",
    "XGBoost, JSON": "from xgboost import XGBClassifier; m = XGBClassifier(); m.load_model(path)",
}
ENDS = {"XGBoost, UBJ": ".ubj", "XGBoost, JSON": ".json"}
RUNS_CODE = {"pickle": "yes", "joblib": "yes", "skops": "if its types are trusted"}

# A process forks for each file, so that the libraries are imported once.
CHILD = """
import os, resource, signal, sys, time, warnings
warnings.simplefilter("ignore")
import numpy as np
from sklearn.datasets import load_iris
X, y = load_iris(return_X_y=True)
path = sys.argv[1]
{load}
m.predict(X)
for line in sys.stdin:
    path, pid = line.strip(), os.fork()
    if pid == 0:
        size = {megabytes} << 20
        resource.setrlimit(resource.RLIMIT_AS, (size, size))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1), os.dup2(null, 2)
        try:
            {load}
            m.predict(X)
        except BaseException:
            os._exit(1)
        os._exit(0)
    end, what = time.monotonic() + {seconds}, None
    while what is None and time.monotonic() < end:
        done, status = os.waitpid(pid, os.WNOHANG)
        what = status if done else None
        time.sleep(0 if done else 0.002)
    if what is None:
        os.kill(pid, signal.SIGKILL), os.waitpid(pid, 0)
    names = {{None: "hangs", 0: "predicts", 256: "error"}}
    print(names.get(what, "dies"), flush=True)
"""


def mutated(data, rng):
    """A few bytes changed; or a stretch cut out, repeated, or put elsewhere."""
    out = bytearray(data)
    if rng.random() < 0.7:
        for place in rng.integers(len(out), size=rng.integers(1, 9)):
            out[place] = rng.integers(256)
        return bytes(out)
    a, b = sorted(rng.integers(len(out) + 1, size=2).tolist())
    kept = [out[:a], out[:a] + out[b:], out[:b] + out[a:], out[b:] + out[:b]]
    return bytes(kept[rng.integers(4)])


def sound_file(name, folder):
    """A small model as the library saves it."""
    path = Path(folder, "sound" + ENDS.get(name, ".bin"))
    make = MAKE.get(name, SKLEARN)
    script = f"import sys; path = sys.argv[1]; {make}\n"
    script += "from sklearn.datasets import load_iris; X, y = load_iris(return_X_y=True)\n"
    script += f"m.fit(X, y)\n{SAVE[name]}"
    silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    subprocess.run([sys.executable, "-c", script, str(path)], check=True, **silent)
    return path


def attack(name, n, seed):
    """What came of n damaged files."""
    with tempfile.TemporaryDirectory() as folder:
        sound = sound_file(name, folder)
        data, rng = sound.read_bytes(), np.random.default_rng(seed)
        script = CHILD.format(load=LOAD[name], seconds=SECONDS, megabytes=MEGABYTES)
        with subprocess.Popen(
            [sys.executable, "-c", script, str(sound)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1,
            env={**os.environ, "OMP_NUM_THREADS": "1"},  # threads do not outlive a fork
        ) as process:  # fmt: skip
            counts, path = Counter(), sound.with_name("damaged" + sound.suffix)
            for _ in range(n):
                path.write_bytes(mutated(data, rng))
                process.stdin.write(f"{path}\n")
                counts[process.stdout.readline().strip() or "dies"] += 1
            process.stdin.close()
        return len(data), counts


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=200, help="damaged files of each kind")
    parser.add_argument("--only", nargs="+", choices=LOAD, default=list(LOAD))
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    outcomes = ("error", "predicts", "dies", "hangs")
    print("| file | bytes | " + " | ".join(outcomes) + " | runs code by design |")
    print("|---|---|" + "---|" * (len(outcomes) + 1))
    for name in options.only:
        try:
            size, counts = attack(name, options.files, options.seed)
        except subprocess.CalledProcessError:
            print(f"| {name} | not installed |", flush=True)
            continue
        cells = [str(counts[outcome]) for outcome in outcomes]
        print(
            f"| {name} | {size:,} | {' | '.join(cells)} | {RUNS_CODE.get(name, 'no')} |", flush=True
        )


if __name__ == "__main__":
    main()
