"""The page in a real browser, where there is one."""

import re
import shutil
import subprocess

import pytest

from steadyboost.experiments.report import html_page

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
MEASURE = """<script>document.title = [document.documentElement.scrollWidth, innerWidth,
document.querySelectorAll('.panels > svg').length,
Math.min(...[...document.querySelectorAll('.panels > svg')].map(s => s.clientWidth))].join(' ');
</script></body>"""


@pytest.fixture(scope="module")
def browser():
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        pytest.skip("needs Chromium or Chrome")
    return found


@pytest.mark.parametrize("width", [500, 1200])
def test_page_fits_the_window(browser, reports, made_up_papers, tmp_path, width):
    file = tmp_path / "page.html"
    page = html_page(reports, "steadyboost reproduce 999")
    file.write_text(page.replace("</body>", MEASURE), encoding="utf-8")
    command = [browser, "--headless", "--no-sandbox", "--disable-gpu"]
    command += [f"--user-data-dir={tmp_path}", f"--window-size={width},900", "--dump-dom"]
    result = subprocess.run(
        [*command, file.as_uri()], capture_output=True, text=True, timeout=60, check=True
    )
    title = re.search(r"<title>(\d+) (\d+) (\d+) (\d+)</title>", result.stdout)
    content, window, n_panels, narrowest = map(int, title.groups())
    assert content <= window
    assert n_panels >= 8
    assert narrowest >= 250
