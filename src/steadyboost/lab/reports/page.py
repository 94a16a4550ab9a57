"""One self-contained HTML page: style, script and pictures inside, no network."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from html import escape
from importlib.resources import files

from steadyboost import __version__
from steadyboost.plots.svg import COLORS


def html_page(title: str, heading: str, made_by: str, parts: Iterable[str]) -> str:
    """The page; ``parts`` are HTML, all else is text, and ``made_by`` says by what and when."""
    return "\n".join(
        [
            '<!doctype html><html lang="en"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{escape(title)}</title>",
            f"<style>{_colors()}\n{_resource('page.css')}</style></head><body><main>",
            f"<h1>{escape(heading)}</h1>",
            f'<p class="quiet">{escape(made_by)}</p>',
            *(part for part in parts if part),
            f"</main><script>{_resource('page.js')}</script></body></html>\n",
        ]
    )


def made_by(command: str) -> str:
    """The line below the heading: the command, if it was one, the version and the date."""
    ours = f"SteadyBoost {__version__}, {datetime.now(UTC):%Y-%m-%d}"
    return f"{command} · {ours}" if command else ours


def _resource(name: str) -> str:
    return (files("steadyboost.lab.reports") / name).read_text(encoding="utf-8")


def _colors() -> str:
    named = "; ".join(f"--series-{k}: {color}" for k, color in enumerate(COLORS))
    return f":root {{ {named}; }}"


def paragraph(words: str, kind: str = "") -> str:
    """Text as a paragraph of a class such as ``quiet`` or ``note``."""
    return f'<p class="{kind}">{escape(words)}</p>' if kind else f"<p>{escape(words)}</p>"


def listing(lines: Sequence[str]) -> str:
    """Remarks in small print; nothing where there are none."""
    items = "".join(f"<li>{escape(line)}</li>" for line in lines)
    return f'<ul class="quiet">{items}</ul>' if items else ""


def facts(pairs: Iterable[tuple[str, str]]) -> str:
    """A card per fact: its value, and below it what it is."""
    items = "".join(
        f"<li><b>{escape(value)}</b><span>{escape(name)}</span></li>" for value, name in pairs
    )
    return f'<ul class="facts">{items}</ul>'


def figure(caption: str, panels: Sequence[str], keys: str = "") -> str:
    """Pictures side by side where there is room; nothing where there are none."""
    if not panels:
        return ""
    inside = f'{keys}<div class="panels">{"".join(panels)}</div>'
    return f"<figure><figcaption>{escape(caption)}</figcaption>{inside}</figure>"


def badge(words: str, kind: str = "") -> str:
    return f'<span class="badge {kind}">{escape(words)}</span>'
