"""Pictures of ``docs/review.md``, by the tests' browser: ``python docs/review_pictures.py``."""

import sys
import tempfile
from pathlib import Path

from sklearn.datasets import load_breast_cancer

from steadyboost.noise import audit, corrupt

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS.parent / "tests"))


def main() -> None:
    from review_browser import Reviewer

    data = load_breast_cancer(as_frame=True)
    labels = data.target_names[data.target]
    given, _ = corrupt(labels, 40 / len(labels), random_state=0)
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "review.html"
        found = audit(data.data, given, random_state=0)
        found.review(page, name="tumours.csv", target="diagnosis")
        browser = Reviewer(Path(folder))
        browser.open(page)
        browser.press("a", "a", "a", "k", "a", "n", "a", "a", "a", "a")
        browser.driver.save_screenshot(str(DOCS / "images/review-card.png"))
        browser.press("l")
        browser.driver.save_screenshot(str(DOCS / "images/review-list.png"))
        browser.close()


if __name__ == "__main__":
    main()
