"""Sections of pages that benchmarks fill in."""

from pathlib import Path


def replace_section(page: Path, name: str, text: str) -> None:
    """Put text between the page's markers of a name."""
    begin, end = f"<!-- {name}: begin -->\n", f"<!-- {name}: end -->"
    before, rest = page.read_text().split(begin)
    _, after = rest.split(end)
    page.write_text(f"{before}{begin}\n{text}\n{end}{after}")
