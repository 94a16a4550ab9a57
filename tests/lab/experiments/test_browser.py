"""The page in a real browser, where there is one."""

import pytest

from steadyboost.lab.reports.experiments import experiments_page

MEASURE = """
const panels = [...page.querySelectorAll(".panels > svg")];
return [page.documentElement.scrollWidth, panels.length,
        Math.min(...panels.map((panel) => panel.clientWidth))];
"""


@pytest.mark.parametrize("width", [390, 1200])
def test_page_fits_the_window(browser, reports, made_up_papers, width):
    page = experiments_page(reports, "steadyboost reproduce 999")
    content, n_panels, narrowest = browser.look(page, MEASURE, width)
    assert content <= width
    assert n_panels >= 8
    assert narrowest >= 250


NAMES_FIT = """
return [...page.querySelectorAll(".overview a")].every((link) =>
    link.scrollWidth <= link.clientWidth);
"""


def test_names_in_the_overview_do_not_cover_the_titles(browser, reports, made_up_papers):
    page = experiments_page(reports, "steadyboost reproduce 999")
    name = reports[0].experiment.name
    longer = page.replace(f">{name}</a>", f">{name}-with-a-longer-name</a>")
    assert longer != page
    assert browser.look(longer, NAMES_FIT)
