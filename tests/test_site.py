"""The documentation site builds without warnings, and needs no network."""

import logging
import re
import socket
from html.parser import HTMLParser
from pathlib import Path

import pytest
from mkdocs.commands.build import build
from mkdocs.config import load_config

import steadyboost

ROOT = Path(__file__).parents[1]


def refuse(*arguments, **options):
    raise AssertionError("the site asks for the network")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The built site; a warning is an error."""
    folder = tmp_path_factory.mktemp("site")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", refuse)
        patch.setattr(socket, "getaddrinfo", refuse)
        patch.chdir(ROOT)
        config = load_config(str(ROOT / "mkdocs.yml"), site_dir=str(folder), strict=True)
        logging.getLogger("mkdocs").setLevel(logging.WARNING)
        build(config)
    return folder


class Resources(HTMLParser):
    """What a browser fetches to show a page."""

    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        is_link = tag == "link" and values.get("rel") not in ("canonical", "alternate")
        self.found += [values["href"]] if is_link and "href" in values else []
        self.found += [values["src"]] if values.get("src") else []


def test_pages_fetch_nothing(site):
    for page in site.rglob("*.html"):
        parser = Resources()
        parser.feed(page.read_text(encoding="utf-8"))
        far = [url for url in parser.found if re.match(r"(https?:)?//", url)]
        assert far == [], page.name


def test_formulas_are_drawn(site):
    text = (site / "algorithms/weightboost.html").read_text(encoding="utf-8")
    assert text.count("<math") > 10
    assert "arithmatex" not in text


def test_source_files_are_pages(site):
    assert (site / "source/src/steadyboost/boosters/weightboost/classifier.py.html").is_file()
    text = (site / "algorithms/weightboost.html").read_text(encoding="utf-8")
    assert 'href="../source/src/steadyboost/boosters/weightboost/classifier.py.html"' in text


def test_reference_has_every_name(site):
    text = "".join(page.read_text(encoding="utf-8") for page in (site / "api").glob("*.html"))
    names = [name for name in steadyboost.__all__ if name != "__version__"]
    assert [name for name in names if f'id="steadyboost.{name}"' not in text] == []
    assert "{shared_parameters}" not in text
    assert ":class:" not in text
