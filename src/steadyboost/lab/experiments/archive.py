"""Results that are kept with a project: a file per experiment, a line per cell.

The cache of a machine is lost with the machine; these files can be committed, and another machine
goes on from them. A cell is known by its key, so that lines of another configuration or version of
the package are of no use, and are dropped.
"""

import json
from pathlib import Path

from steadyboost.ensemble.files import write_whole
from steadyboost.lab.experiments.cache import Cache
from steadyboost.lab.experiments.cells import cells_of
from steadyboost.lab.experiments.plan import Experiment


class Archive:
    """Files of results in a folder."""

    def __init__(self, folder: Path):
        self.folder = folder

    def _file(self, experiment: Experiment) -> Path:
        return self.folder / f"{experiment.name.replace('/', '-')}.jsonl"

    def restore(self, experiment: Experiment, cache: Cache) -> None:
        """Add what the cache lacks."""
        file = self._file(experiment)
        if not file.exists():
            return
        lines = file.read_text(encoding="utf-8").splitlines()
        kept = {line["key"]: line["result"] for line in map(json.loads, lines)}
        for cell in cells_of(experiment):
            if cell.key in kept and cell.key not in cache:
                cache.put(cell.key, cell.config, kept[cell.key])

    def store(self, experiment: Experiment, cache: Cache) -> None:
        """Write all results of an experiment; nothing where there are none."""
        results = {cell.key: cache.get(cell.key) for cell in cells_of(experiment)}
        lines = [
            json.dumps({"key": key, "result": result}, ensure_ascii=False)
            for key, result in results.items()
            if result is not None
        ]
        if lines:
            self.folder.mkdir(parents=True, exist_ok=True)
            write_whole(self._file(experiment), "\n".join(lines) + "\n")
