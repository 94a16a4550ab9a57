"""Draw the pictures of docs/plots.md: ``python docs/plots.py [--output folder]``.

The code is that of the page's blocks: each block that is followed by a picture ends with a display
called ``display``, which is saved under the name of the picture.
"""

import argparse
import re
from pathlib import Path

import matplotlib

matplotlib.use("Agg")  # a file, whether or not there is a display
import matplotlib.pyplot as plt

PAGE = Path(__file__).with_suffix(".md")
BLOCK = re.compile(r"```python\n(.*?)```(?:\s*!\[[^\]]*\]\(images/([\w-]+)\.png\))?", re.DOTALL)


def draw(folder: Path) -> list[Path]:
    """Run the page from top to bottom, in one namespace."""
    folder.mkdir(parents=True, exist_ok=True)
    names, written = {}, []
    for code, name in BLOCK.findall(PAGE.read_text()):
        exec(compile(code, str(PAGE), "exec"), names)
        if name:
            written.append(folder / f"{name}.png")
            names["display"].figure_.savefig(written[-1], dpi=200)
            plt.close("all")
    return written


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=PAGE.parent / "images", help="folder")
    for path in draw(parser.parse_args().output):
        print(path)


if __name__ == "__main__":
    main()
