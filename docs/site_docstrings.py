"""Docstrings as the site shows them: filled in as at run time, and Markdown in place of reST."""

import re
from typing import Any

import griffe

from steadyboost.ensemble.estimator import with_shared_parameters

ROLE = re.compile(r":(?:class|func|meth|mod|attr):`~?([^`]+)`")
CITATION = re.compile(r"^( *)\.\. \[(\d+)\] (.*)$", flags=re.MULTILINE)


def as_markdown(text: str) -> str:
    """Roles as code, citations as a list; their following lines are indented already."""
    text = ROLE.sub(lambda match: f"`{match[1].removeprefix('steadyboost.')}`", text)
    return CITATION.sub(r"\1\2. \3", text)


class Docstrings(griffe.Extension):
    """Prepare each docstring before it is parsed."""

    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring is None:
            return
        text = obj.docstring.value
        if re.search(r"\{(shared_parameters|strategy|bits)\}", text):
            text = with_shared_parameters(text)
        obj.docstring.value = as_markdown(text)
