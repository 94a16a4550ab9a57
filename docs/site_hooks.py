"""What the documentation site does to the pages: formulas as MathML, source files as pages.

The pages are written for a repository's viewer: formulas between dollars, links to source files by
relative paths. The site must do without network, so that formulas are turned into MathML when it
is built, and each file of the repository that a page links to becomes a page of the site.
"""

import posixpath
import re
from pathlib import Path
from typing import Any

from latex2mathml.converter import convert
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[1]
LINK = re.compile(r"(\]\()((?:\.\./)+[^()\s#]+)((?:#[^()\s]*)?\))")
MATH = re.compile(r'<(span|div) class="arithmatex">\\([(\[])(.*?)\\[)\]]</\1>', flags=re.DOTALL)
ENTITIES = {"&lt;": "<", "&gt;": ">", "&amp;": "&"}


def outside(page: str, target: str) -> str | None:
    """The path in the repository that a page's link leads to, if it leaves the documentation."""
    path = posixpath.normpath(posixpath.join("docs", posixpath.dirname(page), target))
    return None if path.startswith("docs/") else path


def place(path: str) -> str:
    """Where a file of the repository has its page."""
    return path if path.endswith(".md") else f"source/{path}.md"


def page_of(path: str) -> str:
    """A file of the repository as Markdown."""
    text = (ROOT / path).read_text(encoding="utf-8")
    if path.endswith(".md"):
        return re.sub(r"(\]\()docs/", r"\1", text)
    language = {".py": "python", ".toml": "toml"}.get(Path(path).suffix, "text")
    hidden = "---\nsearch:\n  exclude: true\n---\n\n"
    return f"{hidden}# {Path(path).name}\n\n`{path}`\n\n~~~~{language}\n{text}~~~~\n"


def linked(page: File) -> set[str]:
    """Files outside the documentation that a page links to."""
    targets = (match[1] for match in LINK.findall(page.content_string))
    found = {outside(page.src_uri, target) for target in targets}
    return {path for path in found if path is not None and (ROOT / path).is_file()}


def on_files(files: Files, config: Any) -> Files:
    """Add a page for each file that is linked to, and for those that these link to."""
    paths = set().union(*(linked(page) for page in files.documentation_pages()))
    for path in sorted(paths):
        files.append(File.generated(config, place(path), content=page_of(path)))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Lead links that leave the documentation to the pages made for them."""
    if page.file.generated_by:
        return markdown

    def led(match: re.Match[str]) -> str:
        path = outside(page.file.src_uri, match[2])
        if path is None:
            return match[0]
        start = posixpath.dirname(page.file.src_uri) or "."
        return match[1] + posixpath.relpath(place(path), start) + match[3]

    return LINK.sub(led, markdown)


def on_page_content(html: str, page: Any, config: Any, files: Files) -> str:
    """Turn formulas into MathML, which browsers draw by themselves."""

    def drawn(match: re.Match[str]) -> str:
        latex = re.sub("&(?:lt|gt|amp);", lambda found: ENTITIES[found[0]], match[3])
        formula = convert(latex, display="inline" if match[2] == "(" else "block")
        return formula if match[2] == "(" else f'<div class="formula">{formula}</div>'

    return MATH.sub(drawn, html)
