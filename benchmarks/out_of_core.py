"""Fits to files that need not fit into memory, beside LightGBM's: time, peak memory and error.

    python benchmarks/out_of_core.py --rows 2000000 --folder /somewhere/with/space

Each model has a process of its own. SteadyBoost streams a folder of Parquet files; LightGBM reads
the same rows from a text file in two passes (``two_round``), its own way to load more than fits.
Memory is what the process holds at most, in all and without pages of files, which the system takes
back when it needs them. Models have as many trees: SAMME one per round, LightGBM one per round and
class. Times are those of the processor, which others on the machine change little.
"""

import argparse
import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

N_FEATURES, N_CLASSES, PART_ROWS, TEST_ROWS = 20, 5, 500_000, 200_000
TEST_SEED = 10**6
NAMES = [f"x{f}" for f in range(N_FEATURES)]
DEPTH, LEAVES = 3, 8
LOOK_SECONDS = 0.05


def made(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows whose class is that of the largest of five noisy functions."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, N_FEATURES)).astype(np.float32)
    scores = X[:, :5] + np.sin(2 * X[:, 5:10]) + X[:, 10:15] * X[:, 15:20]
    return X, (scores + rng.gumbel(size=(n, N_CLASSES))).argmax(axis=1)


def write(folder: Path, rows: int, text: bool) -> tuple[Path, Path]:
    """A folder of Parquet files, and one text file if it is wanted, unless they are there."""
    parts, lines = folder / f"rows-{rows}", folder / f"rows-{rows}.csv"
    schema = pa.schema([*((name, pa.float32()) for name in NAMES), ("y", pa.int64())])
    parts.mkdir(parents=True, exist_ok=True)
    needed = text and not lines.exists()
    bare = pa.csv.WriteOptions(include_header=False)  # LightGBM does not take quoted names
    writer = pa.csv.CSVWriter(lines, schema, write_options=bare) if needed else None
    for k, start in enumerate(range(0, rows, PART_ROWS)):
        part = parts / f"part-{k:03}.parquet"
        if part.exists() and writer is None:
            continue
        X, y = made(min(PART_ROWS, rows - start), k)
        table = pa.table([*X.T, y], schema=schema)
        pa.parquet.write_table(table, part)
        if writer is not None:
            writer.write_table(table)
    if writer is not None:
        writer.close()
    return parts, lines


class Memory(threading.Thread):
    """Looks at what the process holds, now and then; the largest values are kept."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.most = {"VmRSS": 0.0, "RssAnon": 0.0}
        self.start()

    def run(self) -> None:
        while True:
            for line in Path("/proc/self/status").read_text().splitlines():
                name, _, value = line.partition(":")
                if name in self.most:
                    self.most[name] = max(self.most[name], int(value.split()[0]) / 2**20)
            time.sleep(LOOK_SECONDS)


def steadyboost(parts: Path, lines: Path, n_trees: int, started: Callable[[], None]) -> Callable:
    """SAMME on streamed Parquet files."""
    from steadyboost import SAMMEClassifier, Tree
    from steadyboost.callbacks import Callback

    class Start(Callback):
        def on_begin(self, run):
            started()

    tree = Tree(max_depth=DEPTH)
    model = SAMMEClassifier(tree, n_estimators=n_trees, n_jobs=1, callbacks=[Start()])
    model.fit(parts, "y")
    return lambda X: model.predict(pa.table(list(X.T), names=NAMES))


def in_memory(parts: Path, lines: Path, n_trees: int, started: Callable[[], None]) -> Callable:
    """The same model, of a table that is read at once."""
    import polars as pl

    from steadyboost import SAMMEClassifier, Tree

    table = pl.read_parquet(parts)
    model = SAMMEClassifier(Tree(max_depth=DEPTH), n_estimators=n_trees, n_jobs=1)
    started()
    model.fit(table.drop("y"), table["y"].to_numpy())
    return lambda X: model.predict(pl.DataFrame(X, schema=NAMES))


def lightgbm(parts: Path, lines: Path, n_trees: int, started: Callable[[], None]) -> Callable:
    """LightGBM from a text file, read twice."""
    import lightgbm as lgb

    params = {
        "objective": "multiclass",
        "num_class": N_CLASSES,
        "num_leaves": LEAVES,
        "max_depth": DEPTH,
        "num_threads": 1,
        "verbose": -1,
        "label_column": str(N_FEATURES),
        "two_round": True,
    }
    data = lgb.Dataset(str(lines), params=params).construct()
    started()
    model = lgb.train(params, data, num_boost_round=n_trees // N_CLASSES)
    return lambda X: model.predict(X).argmax(axis=1)


MODELS = {
    "SteadyBoost, streamed": steadyboost,
    "SteadyBoost, in memory": in_memory,
    "LightGBM, from a file": lightgbm,
}


def measured(name: str, parts: Path, lines: Path, n_trees: int) -> dict[str, float]:
    """One fit, in this process."""
    memory, times = Memory(), [time.process_time()]
    predict = MODELS[name](parts, lines, n_trees, lambda: times.append(time.process_time()))
    times.append(time.process_time())
    held = dict(memory.most)
    X, y = made(TEST_ROWS, TEST_SEED)
    return {
        "loading": times[1] - times[0],
        "boosting": times[2] - times[1],
        "GB": held["VmRSS"],
        "GB without files": held["RssAnon"],
        "error": float(np.mean(predict(X) != y)),
    }


def table(rows: int, n_trees: int, results: dict[str, dict[str, float]]) -> str:
    lines = [
        f"{rows:,} rows, {N_FEATURES} columns, {N_CLASSES} classes, {n_trees} trees of depth "
        f"{DEPTH}, one thread; processor time",
        "",
        "| | reading, s | trees, s | peak memory, GB | without pages of files | error, % |",
        "|---|---|---|---|---|---|",
    ]
    for name, own in results.items():
        lines.append(
            f"| {name} | {own['loading']:.1f} | {own['boosting']:.1f} | {own['GB']:.2f} | "
            f"{own['GB without files']:.2f} | {100 * own['error']:.2f} |"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--trees", type=int, default=100)
    parser.add_argument("--folder", type=Path, required=True, help="for the files of rows")
    parser.add_argument("--models", nargs="+", choices=MODELS, default=list(MODELS))
    parser.add_argument("--output", type=Path, help="a JSON file of the results")
    parser.add_argument("--measure", choices=MODELS, help="one model, in this process")
    options = parser.parse_args()
    parts, lines = write(options.folder, options.rows, "LightGBM, from a file" in options.models)
    if options.measure:
        print(json.dumps(measured(options.measure, parts, lines, options.trees)))
        return
    results = {}
    for name in options.models:
        command = [sys.executable, __file__, "--measure", name, "--models", name]
        command += ["--rows", str(options.rows), "--trees", str(options.trees)]
        command += ["--folder", str(options.folder)]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        results[name] = json.loads(done.stdout.splitlines()[-1])
        print(name, results[name], flush=True)
    print(table(options.rows, options.trees, results))
    if options.output:
        described = {"rows": options.rows, "trees": options.trees}
        options.output.write_text(json.dumps({**described, "models": results}, indent=1))


if __name__ == "__main__":
    main()
