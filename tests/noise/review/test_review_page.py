"""The review page, read as text."""

import base64
import json
import re

import numpy as np
import pandas as pd
import pytest
from html_pages import Checker, is_guarded, needs_no_network

from conftest import N, animals, made_up
from steadyboost.noise.review.page import ReviewSettings, embedded, review_page
from steadyboost.noise.review.table import ShownTable

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\u2028&amp;"


def document(page):
    """The data of a page."""
    (text,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page)
    return json.loads(text)


@pytest.fixture(scope="module")
def page():
    found, _ = made_up()
    settings = ReviewSettings(animals(), ids=[f"a{k}" for k in range(N)], id_name="tag",
                              name="pets.csv", target="pet", n_evidence=5)  # fmt: skip
    return review_page(found, settings)


def test_page_is_one_guarded_file(page):
    Checker(page)
    assert needs_no_network(page)
    assert is_guarded(page)
    assert "img-src" not in page


def test_rows_are_ranked_and_whole(page):
    found, wrong = made_up()
    data = document(page)
    rows = np.array(data["rows"]) - 1  # pages count from 1
    assert rows.tolist() == found.table.row.tolist()
    assert set(rows[: len(wrong)]) == set(wrong.tolist())
    assert data["ids"][0] == f"a{rows[0]}"
    assert (data["id"], data["target"], data["n_review"]) == ("tag", "pet", N)
    given = [data["classes"][code] for code in data["given"]]
    assert given == found.given[rows].tolist()
    other = [data["classes"][code] for code in data["other"]]
    assert all(a != b for a, b in zip(given, other, strict=True))
    flagged = found.suggested[rows] != found.given[rows]
    assert data["flagged"] == flagged.astype(int).tolist()
    assert np.array(other)[flagged].tolist() == found.suggested[rows][flagged].tolist()
    assert np.allclose(np.array(data["wrong"]) / 1e4, 1 - found.scores[rows], atol=1e-4)
    first = data["top"][: data["n_top"]]
    assert first == np.argsort(-found.probabilities[rows[0]]).tolist()


def test_columns_have_kinds_and_all_values(page):
    data, frame = document(page), animals()
    kinds = {column["name"]: column["kind"] for column in data["columns"]}
    assert kinds == {"kg": "number", "fur": "text", "note": "long"}
    fur = data["columns"][1]
    values = [fur["levels"][code] for code in fur["codes"]]
    assert values == frame["fur"].fillna("").iloc[np.array(data["rows"]) - 1].tolist()


def test_a_page_of_few_rows_says_so_and_names_no_others():
    found, _ = made_up()
    data = document(review_page(found, ReviewSettings(None, max_rows=10)))
    assert (data["n_review"], len(data["rows"]), data["hashes"]) == (10, 10, [])
    assert data["n_rows"] == N
    assert any("10 most suspicious of 300 rows" in note for note in data["notes"])


def test_hostile_text_stays_data():
    text = embedded({"a": HOSTILE})
    assert not set("<>&\u2028") & set(text)
    assert json.loads(text) == {"a": HOSTILE}


def test_pictures_are_part_of_the_page(tmp_path):
    found, _ = made_up()
    (tmp_path / "one.png").write_bytes(PIXEL)
    settings = ReviewSettings(None, pictures=[tmp_path / "one.png"] * N, n_evidence=3)
    page = review_page(found, settings)
    assert "img-src data:;" in page
    assert is_guarded(page)
    assert (
        document(page)["pictures"]
        == [f"data:image/png;base64,{base64.b64encode(PIXEL).decode()}"] * 3
    )
    (tmp_path / "a.svg").write_text("<svg/>")
    for name, message in (("a.svg", "PNG, JPEG, GIF or WebP"), ("none.png", "is not there")):
        wrong = ReviewSettings(None, pictures=[tmp_path / name] * N)
        with pytest.raises(ValueError, match=message):
            review_page(found, wrong)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"table": np.zeros((3, 2))}, "table has 3 rows and the audit 300"),
        ({"table": None, "ids": ["a"]}, "ids has 1 rows"),
        ({"table": None, "ids": ["a"] * N}, "ids must differ"),
        ({"table": None, "pictures": []}, "pictures has 0 rows"),
        ({"table": None, "max_rows": -1}, "max_rows=-1 must not be negative"),
    ],
)
def test_settings_that_do_not_fit_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        review_page(made_up()[0], ReviewSettings(**settings))


@pytest.mark.parametrize("unit", ["ns", "us", "s"])
def test_dates_are_shown_as_dates(unit):
    when = np.array(["2020-01-02", "2020-01-02T03:00", "NaT"], dtype=f"datetime64[{unit}]")
    table = ShownTable(pd.DataFrame({"when": when}))
    assert table.texts(0, np.arange(3)) == ["2020-01-02", "2020-01-02 03:00:00", ""]
