"""The documentation: its code runs, its links lead somewhere, its pictures can be made."""

import re
import runpy
import sys
from pathlib import Path

import pytest

from steadyboost.lab.demo import boosters

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
BLOCK = re.compile(r"^```python\n(.*?)^```", flags=re.DOTALL | re.MULTILINE)
FENCED = re.compile(r"^```.*?^```", flags=re.DOTALL | re.MULTILINE)
MATH = re.compile(r"\$\$.*?\$\$|\$[^$\n]+\$", flags=re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\(([^()\s]+)\)")
THRESHOLD = re.compile(
    r"^\| `([A-Z_, ]+)` \| `(.*?)` \| `(.*?)` .* (`.*?`|—) \|$", flags=re.MULTILINE
)


def text_of(page):
    return page.read_text(encoding="utf-8")


def name_of(page):
    return page.relative_to(ROOT).as_posix()


def links(page):
    """Targets inside the repository; code and formulas look like links at times."""
    found = LINK.findall(MATH.sub("", FENCED.sub("", text_of(page))))
    return [target for target in found if not target.startswith(("http:", "https:", "mailto:"))]


def anchors(page):
    """What headings are called in links to them."""
    headings = re.findall(r"^#+ (.*)$", FENCED.sub("", text_of(page)), flags=re.MULTILINE)
    words = [re.sub(r"[^\w\- ]", "", heading.lower()) for heading in headings]
    return {word.strip().replace(" ", "-") for word in words}


# CONTRIBUTING.md is run by test_demo.py, which also looks at what its code does.
with_code = [page for page in [ROOT / "README.md", *PAGES] if BLOCK.search(text_of(page))]


@pytest.mark.parametrize("page", with_code, ids=name_of)
def test_code_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "page"}
    for number, block in enumerate(BLOCK.findall(text_of(page)), start=1):
        exec(compile(block, f"{name_of(page)}, block {number}", "exec"), names)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page):
    if "\nNot measured yet.\n" in text_of(page):
        pytest.skip("its pictures come with the measurements")
    broken = []
    for target in links(page):
        path, _, anchor = target.partition("#")
        file = page.parent / path if path else page
        if not file.exists() or (anchor and anchor not in anchors(file)):
            broken.append(target)
    assert broken == []


def test_index_lists_every_page():
    index = DOCS / "index.md"
    listed = {(DOCS / target.partition("#")[0]).resolve() for target in links(index)}
    assert [name_of(page) for page in PAGES if page not in listed | {index}] == []


def test_thresholds_are_those_of_the_source():
    rows = THRESHOLD.findall(text_of(DOCS / "internals.md"))
    assert len(rows) > 70
    for name, file, value, test in rows:
        source = (ROOT / "src/steadyboost" / file).read_text(encoding="utf-8")
        assignment = rf"^{re.escape(name)} = {re.escape(value)}(  #.*)?$"
        assert re.search(assignment, source, flags=re.MULTILINE), (name, file, value)
        assert test == "—" or (ROOT / "tests" / test.strip("`")).is_file(), (name, test)


def test_weights_are_drawn_for_every_booster(tmp_path, monkeypatch, capsys):
    arguments = ["weights.py", "--rounds", "3", "--draws", "1", "--output", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", arguments)
    runpy.run_path(str(DOCS / "weights.py"), run_name="__main__")
    drawn = [name for name, cls in boosters().items() if "estimator" not in cls.does_without]
    names = [name.lower().replace(".", "-") for name in drawn]
    assert sorted(path.stem for path in tmp_path.iterdir()) == sorted(
        f"weights-{name}" for name in names
    )
    printed = capsys.readouterr().out
    assert [name for name in drawn if f"\n{name}" not in printed] == []
