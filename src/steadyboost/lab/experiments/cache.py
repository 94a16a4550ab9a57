"""Results on disk, by the full configuration of their cell; written whole or not at all."""

import json
import os
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from steadyboost.ensemble.files import write_whole

CACHE_VARIABLE = "STEADYBOOST_CACHE"


def default_folder() -> Path:
    """The folder named in ``STEADYBOOST_CACHE``, or one in the user's cache folder."""
    named = os.environ.get(CACHE_VARIABLE)
    if named:
        return Path(named)
    if sys.platform == "win32":
        home = Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local"))
    elif sys.platform == "darwin":
        home = Path.home() / "Library" / "Caches"
    else:
        home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return home / "steadyboost" / "cells"


class Cache:
    """Cell results in a folder, one file each."""

    def __init__(self, folder: Path):
        self.folder = folder

    def _path(self, key: str) -> Path:
        return self.folder / key[:2] / f"{key}.json"

    def get(self, key: str) -> dict[str, Any] | None:
        """The result of a cell; None where there is none, or where its file is damaged."""
        try:
            return json.loads(self._path(key).read_text(encoding="utf-8"))["result"]
        except (FileNotFoundError, ValueError, KeyError):
            return None

    def put(self, key: str, config: dict[str, Any], result: dict[str, Any]) -> None:
        path = self._path(key)
        path.parent.mkdir(parents=True, exist_ok=True)
        made = datetime.now(UTC).isoformat(timespec="seconds")
        record = {"cell": config, "made": made, "result": result}
        write_whole(path, json.dumps(record, ensure_ascii=False))

    def __contains__(self, key: str) -> bool:
        return self._path(key).is_file()
