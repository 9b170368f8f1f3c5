# ruff: noqa: RUF001 - Turkish has a dotless i
"""Slugs of names."""

import re

import pytest

from service.sampling.records import BRANDS
from service.sampling.reference_data import slug


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Maple Grocers", "maple-grocers"),
        ("O'Brien & Peña", "obrien-pena"),
        ("Bäckerei Strauß", "backerei-strauss"),
        ("Złoty Kłos", "zloty-klos"),
        ("Işık Kırtasiye", "isik-kirtasiye"),
        ("さくら商店", "sakura-shoten"),
        ("日の出ホールディングス", "hinode-holdings"),
    ],
)
def test_a_slug_has_lower_case_latin_letters_and_hyphens(name: str, expected: str) -> None:
    assert slug(name) == expected


def test_every_word_of_a_brand_has_a_slug() -> None:
    words = [word for brand in BRANDS.values() for word in (*brand.stems, *brand.trades)]
    assert [word for word in words if not re.fullmatch("[a-z]+(-[a-z]+)*", slug(word))] == []
