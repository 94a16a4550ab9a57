"""Chromium, driven as a reviewer would: keys, clicks, files."""

import json
import shutil
import time

import pytest

CHROMIUM = ("chromium", "chromium-browser", "google-chrome")
QUIET = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip
PATIENCE = 60  # seconds that something may take which the page does later


class Reviewer:
    """A browser of its own profile, with a folder for downloads."""

    def __init__(self, folder):
        webdriver = pytest.importorskip("selenium.webdriver", reason="needs selenium")
        program = next(filter(None, map(shutil.which, CHROMIUM)), None)
        server = shutil.which("chromedriver")
        if program is None or server is None:
            pytest.skip("needs Chromium and chromedriver")
        self.n_saved = 0
        self.downloads = folder / "downloads"
        self.downloads.mkdir()
        self.blank = folder / "blank.html"
        self.blank.write_text("<!doctype html><title>Nothing</title>")
        options = webdriver.ChromeOptions()
        options.binary_location = program
        for flag in (*QUIET, f"--user-data-dir={folder / 'profile'}", "--window-size=1300,1000"):
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        service = webdriver.chrome.service.Service(server)
        self.driver = webdriver.Chrome(options, service=service)
        self.command(
            "Browser.setDownloadBehavior", behavior="allow", downloadPath=str(self.downloads)
        )

    def command(self, name, **parameters):
        """A command of the DevTools protocol."""
        return self.driver.execute_cdp_cmd(name, parameters)

    def open(self, path, fresh=True):
        """Open a page; as if for the first time, or with what the browser has kept of it."""
        self.command("Emulation.clearDeviceMetricsOverride")
        if fresh:
            # From a page that keeps nothing itself, as a review does when one leaves it.
            self.driver.get(self.blank.as_uri())
            self.run("localStorage.clear();")
        self.driver.get_log("performance")
        self.driver.get(path.as_uri())

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def text(self, selector):
        """The visible text of the first element."""
        script = "return document.querySelector(arguments[0])?.innerText ?? ''"
        return self.run(script, selector).replace("\u00a0", " ")

    def press(self, *keys):
        from selenium.webdriver.common.keys import Keys

        for key in keys:
            self.run("document.activeElement.blur()")
            self.driver.switch_to.active_element.send_keys(getattr(Keys, key, key))

    def click(self, selector, nth=0):
        self.driver.find_elements("css selector", selector)[nth].click()

    def fill(self, selector, value):
        """Give a field a value, as typing or choosing it would."""
        script = (
            "const field = document.querySelector(arguments[0]); field.value = arguments[1];"
            "field.dispatchEvent(new Event('input', { bubbles: true }));"
        )
        self.run(script, selector, str(value))

    def phone(self, width=390, height=844):
        self.command(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=height, deviceScaleFactor=2, mobile=True,
        )  # fmt: skip

    def downloaded(self, selector):
        """The file that a click saves."""
        self.click(selector)
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            saved = [path for path in self.downloads.iterdir() if path.is_file()]
            if saved and saved[0].suffix in (".json", ".csv") and saved[0].stat().st_size:
                # Out of the way of the next one, which would get another name.
                self.n_saved += 1
                kept = self.downloads / str(self.n_saved)
                kept.mkdir()
                return saved[0].rename(kept / saved[0].name)
            time.sleep(0.05)
        raise AssertionError("nothing was saved")

    def waits_for(self, selector, words):
        end = time.monotonic() + PATIENCE
        while words not in self.text(selector):
            assert time.monotonic() < end, self.text(selector)
            time.sleep(0.05)

    def requests(self):
        """Addresses that were asked for since the page was opened."""
        logged = [json.loads(entry["message"])["message"] for entry in
                  self.driver.get_log("performance")]  # fmt: skip
        sent = [one["params"] for one in logged if one["method"] == "Network.requestWillBeSent"]
        return [params["request"]["url"] for params in sent]

    def errors(self):
        """What the console tells, such as a script that was refused."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def close(self):
        self.driver.quit()
