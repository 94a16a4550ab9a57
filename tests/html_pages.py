"""Looking at HTML pages, as text and in a real browser where there is one."""

import json
import re
import shutil
import subprocess
from base64 import b64encode
from hashlib import sha256
from html import escape, unescape
from html.parser import HTMLParser

import pytest

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
VOID = {"meta", "br", "input"}
FRAME = """<!doctype html>
<iframe style="border: 0; width: {width}px; height: 900px" srcdoc="{page}"></iframe>
<script>onload = () => {{
  const frame = document.querySelector("iframe"), page = frame.contentDocument;
  const rows = (id) => [...page.querySelectorAll(`#${{id}} tbody tr`)];
  const shown = (id) => rows(id).filter((row) => !row.hidden);
  const column = (id, k) => shown(id).map((row) => row.cells[k].textContent);
  const look = () => {{ {script} }};
  document.title = JSON.stringify(look());
}};</script>"""


class Checker(HTMLParser):
    """Every tag that is opened is closed, in order; collects what a test asks for."""

    def __init__(self, page):
        super().__init__()
        self.open, self.ids, self.links, self.counts, self.words = [], [], [], {}, []
        self.feed(page)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.counts[tag] = self.counts.get(tag, 0) + 1
        values = dict(attrs)
        self.ids += [values["id"]] if "id" in values else []
        self.links += [values[name] for name in ("href", "src") if name in values]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if not self.open or self.open[-1] not in ("style", "script"):
            self.words.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.words).split())


def needs_no_network(page):
    """Whether nothing outside of the page is named, but for the name of SVG."""
    outside = page.replace("http://www.w3.org/2000/svg", "")
    return not re.search(r"https?:|@import|url\(", outside)


def is_guarded(page):
    """Whether the policy of a page allows no script but the one that it has, by its hash."""
    (policy,) = re.findall(r'<meta http-equiv="Content-Security-Policy" content="(.*?)">', page)
    (script,) = re.findall(r"<script>(.*?)</script>", page, re.S)
    digest = b64encode(sha256(script.encode()).digest()).decode()
    rules = dict(rule.split(" ", 1) for rule in unescape(policy).split("; "))
    return rules["default-src"] == "'none'" and rules["script-src"] == f"'sha256-{digest}'"


class Browser:
    """Opens a page in a frame of a given width, and says what a script returns."""

    def __init__(self, folder):
        self.folder = folder
        self.program = next(filter(None, map(shutil.which, BROWSERS)), None)
        if self.program is None:
            pytest.skip("needs Chromium or Chrome")

    def look(self, page, script, width=1200):
        """What the script returns; it has ``page``, the document, and its ``frame``."""
        file = self.folder / "frame.html"
        frame = FRAME.format(width=width, page=escape(page), script=script)
        file.write_text(frame, encoding="utf-8")
        options = ["--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"]
        options += [f"--user-data-dir={self.folder}", "--window-size=1300,1000"]
        command = [self.program, *options, file.as_uri()]
        result = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
        return json.loads(unescape(re.search(r"<title>(.*?)</title>", result.stdout, re.S)[1]))

    def overflow(self, page, width):
        """By how many pixels the page is wider than its window."""
        script = "const { scrollWidth, clientWidth } = page.documentElement;"
        return self.look(page, script + "return scrollWidth - clientWidth;", width)
