"""The kinds of field: which values match, and how they sort."""

import re
import unicodedata
from decimal import Decimal

import pytest
from hypothesis import assume, example, given, strategies as st

from service.model.kinds import FLAG, IDENTIFIER, INSTANT, NUMBER, POSTAL, WORDS, Kind, key_number, parse_flag


def same(kind: Kind, one: str, other: str) -> bool:
    return kind.normalize(one) == kind.normalize(other)


@pytest.mark.parametrize("other", ["A1", "a1 ", " a1", "a\u200b1", "\uff411", ""])
def test_identifiers_match_only_if_all_characters_are_equal(other: str) -> None:
    assert same(IDENTIFIER, "a1", "a1")
    assert not same(IDENTIFIER, "a1", other)


DECIMALS = [
    *("0", "-0", "43.70", "-79.4", "+1e3", "-1e-3", ".5", "5.", "1e999", "-1e999", "1e-999", "180"),
    *("-0.1", "12e15"),
]


@pytest.mark.parametrize("text", [*DECIMALS, "-123456789.123456789123456789", "1e15", "1e-16", "-1e16", "-9.99e-17"])
def test_the_number_of_a_key_is_the_double_nearest_to_the_decimal(text: str) -> None:
    assert key_number(NUMBER.normalize(text).encode()) == float(text)


@given(st.decimals(allow_nan=False, allow_infinity=False) | st.decimals(-180, 180, places=6))
def test_any_decimal_is_read_back_from_its_key(decimal: Decimal) -> None:
    text = f"{decimal:e}"
    assume(abs(decimal.adjusted()) < 900)
    assert key_number(NUMBER.normalize(text).encode()) == float(text)


def test_identifiers_are_not_unicode_normalized() -> None:
    assert not same(IDENTIFIER, "\u00e9", "e\u0301")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (" toronto", "Toronto"),
        ("ÖREBRO", "Örebro"),
        ("O\u0308REBRO", "örebro"),
        ("STRASSE", "Straße"),
        ("ﬁne", "FINE"),
        ("\uff34\uff2f\uff32\uff2f\uff2e\uff34\uff2f", "toronto"),
        ("New\t \r\nYork", "new york"),
        ("new\u00a0york", "New York"),
        ("new\u2003york", "New York"),
        ("new\u3000york", "New York"),
        ("a\x1cb", "a b"),
        ("Σίσυφος", "ΣΊΣΥΦΟΣ"),
        ("\u212bland", "åland"),
        ("ｶﾞ", "ガ"),
        ("\u0345\u03b1", "\u03b9\u03b1"),
        ("\u1d2e", "b"),  # a modifier letter, which folds only after NFKC
        ("J\u030c\u0323", "\u01f0\u0323"),  # folding takes NFKC away from the second
    ],
)
def test_words_match_ignoring_case_unicode_form_and_white_space(one: str, other: str) -> None:
    assert same(WORDS, one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Toronto", "Toront"),
        ("New York", "newyork"),
        ("Montréal", "Montreal"),
        ("İstanbul", "istanbul"),
        ("a-b", "a b"),
    ],
)
def test_different_words_do_not_match(one: str, other: str) -> None:
    assert not same(WORDS, one, other)


def contract(text: str) -> str:
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(unicodedata.normalize("NFKC", folded).split())


@given(st.text(), st.text())
@example("\u1e9e", "SS")
def test_words_are_compared_after_nfkc_case_folding_nfkc_and_collapsed_white_space(one: str, other: str) -> None:
    assert same(WORDS, one, other) == (contract(one) == contract(other))
    assert (WORDS.normalize(one) < WORDS.normalize(other)) == (contract(one) < contract(other))


# Marks of several combining classes, some of which decompose or fold to letters; letters that compose with them.
MARKED = (
    "\u0301\u0316\u0327\u0334\u0344\u0345\u05b0\u0f73\u302a\U0001d165eE\u00e9\u1fb3\u1100\uac00\ufdfa\uff76\uff9e 1"
)


@given(st.text(st.sampled_from(MARKED), max_size=400), st.integers(0, 120), st.sampled_from(MARKED))
def test_long_runs_of_combining_marks_fold_as_short_ones_do(text: str, count: int, mark: str) -> None:
    assert WORDS.normalize(text + mark * count + text) == contract(text + mark * count + text)


def test_a_text_of_combining_marks_folds_in_linear_time() -> None:
    marks = 500_000  # the square of which would keep this test busy for minutes
    assert WORDS.normalize("\u0301\u0316" * marks) == "\u0316" * marks + "\u0301" * marks


@pytest.mark.parametrize(
    "other",
    ["m5v2t6", "M5V  2T6", " m5V\u00a02t6\t", "\uff2d\uff15\uff36\uff12\uff34\uff16", "m 5 v 2 t 6", "M5V\u30002T6"],
)
def test_postal_codes_match_ignoring_case_unicode_form_and_spaces(other: str) -> None:
    assert same(POSTAL, "M5V 2T6", other)


@pytest.mark.parametrize("other", ["M5V-2T6", "M5V 2T", "M5V\u200b2T6"])
def test_different_postal_codes_do_not_match(other: str) -> None:
    assert not same(POSTAL, "M5V 2T6", other)


@pytest.mark.parametrize("text", ["1", "t", "y", "on", "yes", "true", "T", "Y", "ON", "Yes", "tRuE"])
def test_spellings_of_true_are_accepted_ascii_case_insensitively(text: str) -> None:
    assert parse_flag(text) is True
    assert same(FLAG, text, "true")


@pytest.mark.parametrize("text", ["0", "f", "n", "off", "no", "false", "F", "N", "OFF", "No", "fALSE"])
def test_spellings_of_false_are_accepted_ascii_case_insensitively(text: str) -> None:
    assert parse_flag(text) is False
    assert same(FLAG, text, "false")


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", "maybe", " true", "true ", "1.0", "2", "-1", "01", "tru", "None", "oui"),
        *("\uff54\uff52\uff55\uff45", "fal\u017fe", "ye\u017f"),
    ],
)
def test_other_texts_are_not_flags(text: str) -> None:
    assert parse_flag(text) is None


def test_false_sorts_before_true() -> None:
    assert FLAG.normalize("no") < FLAG.normalize("yes")


@pytest.mark.parametrize("kind", [IDENTIFIER, WORDS, POSTAL, NUMBER, FLAG, INSTANT], ids=lambda kind: kind.name)
def test_every_kind_has_its_rule_as_a_sentence(kind: Kind) -> None:
    assert re.fullmatch(r"[A-Z].+\.", kind.rule)
