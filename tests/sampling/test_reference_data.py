# ruff: noqa: RUF001 - Turkish has a dotless i
"""Reference data: slugs of names; random choices that follow their weights and repeat for their seed."""

import re
from collections import Counter

import pytest

from service.sampling.records import BRANDS
from service.sampling.reference_data import Weighted, fill, pick, shuffled, slug, stream


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


ALMOST_ONE = 1 - 2**-53


def test_items_are_drawn_in_proportion_to_their_weights_and_shuffled_without_loss() -> None:
    letters = Weighted.of([("a", 1), ("b", 0), ("c", 3)])
    draws = iter(number / 400 for number in range(400))
    assert Counter(letters.pick(lambda: next(draws)) for _ in range(400)) == {"a": 100, "c": 300}
    for draw, item in ((0.0, "a"), (ALMOST_ONE, "c")):
        assert pick("abc", lambda: draw) == item  # noqa: B023 - called at once
        assert letters.pick(lambda: draw) == item  # noqa: B023 - called at once
    mixed = shuffled(range(100), stream(1))
    assert mixed != sorted(mixed) == list(range(100))


def test_a_pattern_is_filled_with_digits_and_letters() -> None:
    assert fill("+1 *#-@ x", lambda: 0.0) == "+1 20-A x"
    assert fill("+1 *#-@ x", lambda: ALMOST_ONE) == "+1 99-Z x"
