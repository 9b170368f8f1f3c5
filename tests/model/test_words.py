# ruff: noqa: RUF001 - they are other scripts
"""Words of texts, and the terms of a search."""

import sys
import unicodedata

import pytest
from hypothesis import given, strategies as st

from service.model.words import MAX_CHARACTERS, MAX_WORDS, Term, parse_terms, words_of_lines
from tests.engine.search_oracle import NAMES, indexed, tokens
from tests.thoroughness import some_of

TEXTS = st.lists(st.sampled_from([*NAMES, " ", "'", "´", "\u0301", "\u3099"]) | st.text(max_size=3), max_size=8).map(
    "".join
)


def words(text: str) -> list[str]:
    """Return the words of a text without line ends."""
    (found,) = words_of_lines(text)
    return found


@given(st.lists(TEXTS, min_size=1, max_size=4))
def test_the_words_of_lines_are_those_of_each(texts: list[str]) -> None:
    lines = [text.replace("\n", " ") for text in texts]
    assert words_of_lines("\n".join(lines)) == list(map(words, lines))


@given(TEXTS)
def test_words_equal_those_of_a_naive_tokenizer(text: str) -> None:
    assert {word for line in words_of_lines(text) for word in line} == indexed([text])


def test_each_character_is_split_like_a_naive_tokenizer_does() -> None:
    for start in some_of(range(0, sys.maxunicode + 1, 256), 3):
        characters = [
            c for c in map(chr, range(start, start + 256)) if unicodedata.category(c) not in {"Cn", "Cs", "Co"}
        ]
        text = " ".join(f"x{character}y {character}" for character in characters)
        assert {word for line in words_of_lines(text) for word in line} == indexed([text]), hex(start)


def test_words_are_in_their_order_and_so_are_the_parts_of_one_without_spaces() -> None:
    assert words("Rock ´n´ E.Leclerc パン屋7") == ["rock", "n", "e", "leclerc", "パン", "ン屋", "屋", "7"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("cafe", [Term("cafe", is_prefix=True)]),
        ("cafe ", [Term("cafe")]),
        ("cafe\u3000", [Term("cafe")]),
        ("cafe!", [Term("cafe", is_prefix=True)]),
        ("main st", [Term("main"), Term("st", is_prefix=True)]),
        ("st main st ", [Term("main"), Term("st")]),
        ("東京駅", [Term("京駅"), Term("東京")]),
        ("駅 ", [Term("駅", is_prefix=True)]),
        ("駅 1", [Term("1", is_prefix=True), Term("駅", is_prefix=True)]),
        ("!!", []),
        ("", []),
    ],
)
def test_terms(text: str, expected: list[Term]) -> None:
    assert list(parse_terms(text)) == expected


@given(TEXTS)
def test_terms_are_of_all_tokens(text: str) -> None:
    text = text[:MAX_CHARACTERS]
    if len(tokens(text)) <= MAX_WORDS:
        assert {term.word for term in parse_terms(text)} == {
            part for each in tokens(text) for part in ([*words(each)[:-1]] or words(each))
        }


@pytest.mark.parametrize(
    "text",
    [
        "a " * MAX_WORDS,
        "a " * (MAX_WORDS - 1) + "p" * 226,
        "京 " * MAX_WORDS,
        "京" * MAX_CHARACTERS,
        "x" * MAX_CHARACTERS,
    ],
)
def test_the_longest_searches(text: str) -> None:
    assert parse_terms(text)


@pytest.mark.parametrize("text", ["a " * (MAX_WORDS + 1), "a京" * 8 + "b", "x" * (MAX_CHARACTERS + 1), " " * 257])
def test_longer_searches_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"^expected at most 16 words and 256 characters$"):
        parse_terms(text)
