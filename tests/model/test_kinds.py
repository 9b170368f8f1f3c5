"""The kinds of field: which values match, how they sort, and how dates are written."""

import re
import time
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from itertools import product

import pytest
from hypothesis import assume, example, given, strategies as st

from service.model.kinds import (
    FLAG,
    IDENTIFIER,
    INSTANT,
    NUMBER,
    POSTAL,
    WORDS,
    Kind,
    format_instant,
    instant_key,
    key_number,
    number_key,
    parse_flag,
    parse_instant,
    served_instant_key,
)
from tests.engine import oracle
from tests.engine.oracle import Form
from tests.engine.random_records import VALUES
from tests.loading.oracle import Flawed, answered_date

# Texts of each kind, beside those of `VALUES`: alike by what does not matter to their kind, or different by little.
TEXTS: dict[Kind, tuple[Form, list[str]]] = {
    IDENTIFIER: (oracle.identifier, ["a1", "A1", "a1 ", " a1", "a\u200b1", "\uff411", "", "\u00e9", "e\u0301"]),
    WORDS: (
        oracle.words,
        [
            *("Toront", "New\t \r\nYork", "a\x1cb", "a b", "a-b", "\uff34\uff2f\uff32\uff2f\uff2e\uff34\uff2f"),
            *(f"new{space}york" for space in ("\u00a0", "\u2003", "\u3000")),
            *("Σίσυφος", "ΣΊΣΥΦΟΣ", "\u212bland", "ｶﾞ", "ガ", "\u0345\u03b1", "\u03b9\u03b1", "Montréal", "Montreal"),
            *("\u1d2e", "b"),  # a modifier letter, which folds only after NFKC
            *("J\u030c\u0323", "\u01f0\u0323"),  # folding takes NFKC away from the second
            *("\u1e9e", "SS"),
        ],
    ),
    NUMBER: (
        oracle.number,
        [
            *(
                "0043.7",
                " 43.7\t",
                "\u00a043.7",
                "4.37E+1",
                "0.5",
                "5.",
                "-0.00e5",
                "1e3",
                "1000",
                "1e003",
                "100",
                "1e2",
            ),
            *("1" + "0" * 999, "1e998", "-0." + "0" * 998 + "1", "10e999", "16", "0x10", "--1", "1 0", " inf", "e5"),
            *("", "+", "43.70000000000000000000000000000000000001", "1e", "10", "-43.7", " 000.5 ", " -00043.7 "),
            *("43.\u0667", "43.7e", "43.7 5", "43.-7", "43.7.5", "4\u0663.7", "43.7X"),  # which begin like degrees
        ],
    ),
    POSTAL: (
        oracle.postal,
        [
            *("M5V  2T6", " m5V\u00a02t6\t", "\uff2d\uff15\uff36\uff12\uff34\uff16", "m 5 v 2 t 6", "M5V\u30002T6"),
            *("M5V-2T6", "M5V 2T", "M5V\u200b2T6"),
        ],
    ),
}


@pytest.mark.parametrize("kind", TEXTS, ids=lambda kind: kind.name)
def test_values_match_and_sort_as_those_of_a_naive_scan(kind: Kind) -> None:
    form, texts = TEXTS[kind]
    for one, other in product([*VALUES[form], *texts], repeat=2):
        keys, expected = (kind.normalize(one), kind.normalize(other)), (form(one), form(other))
        assert (keys[0] == keys[1]) is (expected[0] == expected[1]), (one, other)
        assert (keys[0] < keys[1]) is (expected[0] < expected[1]), (one, other)


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


@given(st.text(), st.text())
def test_words_are_compared_after_nfkc_case_folding_nfkc_and_collapsed_white_space(one: str, other: str) -> None:
    keys, expected = (WORDS.normalize(one), WORDS.normalize(other)), (oracle.words(one), oracle.words(other))
    assert (keys[0] == keys[1], keys[0] < keys[1]) == (expected[0] == expected[1], expected[0] < expected[1])


# Marks of several combining classes, some of which decompose or fold to letters; letters that compose with them.
MARKED = (
    "\u0301\u0316\u0327\u0334\u0344\u0345\u05b0\u0f73\u302a\U0001d165eE\u00e9\u1fb3\u1100\uac00\ufdfa\uff76\uff9e 1"
)


@given(st.text(st.sampled_from(MARKED), max_size=400), st.integers(0, 120), st.sampled_from(MARKED))
def test_long_runs_of_combining_marks_fold_as_short_ones_do(text: str, count: int, mark: str) -> None:
    assert WORDS.normalize(text + mark * count + text) == oracle.words(text + mark * count + text)


def test_a_text_of_combining_marks_folds_in_linear_time() -> None:
    marks = 500_000  # the square of which would keep this test busy for minutes
    assert WORDS.normalize("\u0301\u0316" * marks) == "\u0316" * marks + "\u0301" * marks


TRUE = ["1", "t", "y", "on", "yes", "true", "T", "Y", "ON", "Yes", "tRuE"]
FALSE = ["0", "f", "n", "off", "no", "false", "F", "N", "OFF", "No", "fALSE"]


@pytest.mark.parametrize(
    ("text", "flag"), [(text, flag) for flag in (True, False) for text in (TRUE if flag else FALSE)]
)
def test_spellings_of_flags_are_accepted_ascii_case_insensitively(text: str, *, flag: bool) -> None:
    assert parse_flag(text) is flag
    assert FLAG.normalize(text) == FLAG.normalize("true" if flag else "false")


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


DECIMAL_TEXT = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,3})?")
ANY_DECIMALS = st.from_regex(DECIMAL_TEXT, fullmatch=True)
FEW_DECIMALS = st.from_regex(
    r"[+-]?(0{0,2}[019]{1,2}(\.[019]{0,3})?|\.[019]{1,3})([eE][+-]?0{0,2}[0-2])?", fullmatch=True
)
ODD_DECIMALS = st.sampled_from(
    ["1e999", "-1e999", "1E-999", "-1e-999", "-0", "+0.00", ".0e9", "0e999", ".5", "5.", "0005"]
)
LONG_DECIMALS = st.builds("{}{}.{}".format, st.sampled_from(["", "-"]), *[st.text("09", min_size=1, max_size=60)] * 2)
ANY_DECIMAL = ANY_DECIMALS | FEW_DECIMALS | ODD_DECIMALS | LONG_DECIMALS


@given(ANY_DECIMAL, ANY_DECIMAL)
@example("1e999", "1e-999")
@example("-1.5", "-1")
@example("-1e999", "-1e998")
@example("-10", "-9")
@example("-0", "0")
@example("9" * 400, "1e400")
def test_numbers_sort_and_match_as_decimals(one: str, other: str) -> None:
    ranks, decimals = (number_key(one), number_key(other)), (Decimal(one), Decimal(other))
    assert (ranks[0] == ranks[1]) == (decimals[0] == decimals[1])
    assert (ranks[0] < ranks[1]) == (decimals[0] < decimals[1])


@given(st.lists(ANY_DECIMAL | FEW_DECIMALS.map("{}!".format) | st.text(), max_size=8))
def test_texts_sort_after_numbers_by_code_point(texts: list[str]) -> None:
    numbers = [text for text in texts if DECIMAL_TEXT.fullmatch(text.strip())]
    others = [text for text in texts if not DECIMAL_TEXT.fullmatch(text.strip())]
    assert sorted(texts, key=number_key) == sorted(numbers, key=Decimal) + sorted(others)


MOMENTS = st.datetimes(
    min_value=datetime(1, 1, 2),  # noqa: DTZ001 - hypothesis puts the offset on
    max_value=datetime(9999, 12, 30),  # noqa: DTZ001
    timezones=st.integers(-23 * 60 - 59, 23 * 60 + 59).map(lambda minutes: timezone(timedelta(minutes=minutes))),
)


@pytest.mark.parametrize(
    "text",
    [
        *("2024-02-29", "2024-01-02T03:04", "2024-01-02 03:04:05", "2024-01-02T03:04:05Z", "2024-01-02T03:04Z"),
        *("2024-01-02 03:04-05:30", "2024-01-02T03:04:05+02:00", "2024-01-02T03:04:05+00:00"),
        *("2024-01-02T03:04:05-00:00", "2024-01-02T03:04:05-00:30", "2024-01-02T03:04:05+23:59"),
        *("2024-01-02T03:04:05-23:59", "2024-01-02T03:04:05.5", "2024-01-02T03:04:05.000001Z"),
        *("2024-01-02T03:04:05.1234569+01:00", "2024-01-02T03:04:05.9999999", "2024-01-02T03:04:05.000000"),
        *("2024-01-02T03:04:05.0000009", "2024-01-02T23:59:59", "0001-01-01", "0001-01-01T00:00-01:00"),
        *("9999-12-31T23:59:59.999999", "9999-12-31T23:59:59+00:01"),
        *("", "2024", "2024-01", "20240102", "2024-1-2", "2024-W01-1", "2024-001", "24-01-02", "02024-01-02"),
        *("+2024-01-02", "2024/01/02", "2023-02-29", "2024-13-01", "2024-00-01", "2024-01-00", "2024-01-32"),
        *("0000-01-01", "1704153600", "2024-01-02Z", "2024-01-02+02:00", "2024-01-02T", "2024-01-02T03"),
        *("2024-01-02T03Z", "2024-01-02T0304", "2024-01-02T3:04", "2024-01-02T03:04:5", "2024-01-02T03:04:05."),
        *("2024-01-02T03:04.5", "2024-01-02T03:04:05,5", "2024-01-02T24:00", "2024-01-02T24:00:00Z"),
        *("2024-01-02T03:60", "2024-01-02T03:04:60Z", "2024-01-02t03:04:05Z", "2024-01-02T03:04:05z"),
        *("2024-01-02_03:04:05", "2024-01-02  03:04:05", "2024-01-02T03:04:05 Z", "2024-01-02T03:04:05 +02:00"),
        *("2024-01-02T03:04:05+0200", "2024-01-02T03:04:05+02", "2024-01-02T03:04:05+2:00"),
        *("2024-01-02T03:04:05+24:00", "2024-01-02T03:04:05+02:60", "2024-01-02T03:04:05\u221202:00"),
        *("2024-01-02T03:04:05+02:00:00", "2024-01-02T03:04:05UTC", "2024-01-02T03:04:05Z[UTC]"),
        *("0001-01-01T00:00+00:01", "0001-01-01T22:59:59.999999+23:00", "9999-12-31T23:59:59-00:01"),
        *("9999-12-31T01:00-23:00", "\uff12024-01-02", "2024-01-02T03:04:0\uff15", " 2024-01-02", "2024-01-02 "),
        *("2024-01-02\n", "2024-01-02T03:04:05Z\n"),
    ],
)
def test_a_date_is_parsed_and_formatted_as_rfc_3339_and_another_text_is_none(text: str) -> None:
    moment, expected = parse_instant(text), None
    with suppress(Flawed):
        expected = answered_date(text)
    assert (moment and format_instant(moment)) == expected


@given(MOMENTS)
def test_a_formatted_date_parses_to_the_same_instant_and_offset(moment: datetime) -> None:
    read = parse_instant(format_instant(moment))
    assert read is not None
    assert (read, read.utcoffset()) == (moment, moment.utcoffset())


@given(MOMENTS, MOMENTS, st.timedeltas(timedelta(microseconds=-1), timedelta(microseconds=1)))
def test_dates_match_and_sort_as_instants(one: datetime, other: datetime, step: timedelta) -> None:
    for left, right in ((one, other), (one, (one + step).astimezone(other.tzinfo)), (one, one.astimezone(UTC))):
        ranks = instant_key(format_instant(left)), instant_key(format_instant(right))
        assert ranks == (served_instant_key(format_instant(left)), served_instant_key(format_instant(right)))
        assert (ranks[0] == ranks[1]) == (left == right)
        assert (ranks[0] < ranks[1]) == (left < right)


@pytest.mark.parametrize("text", ["yesterday", "2024-02-30", "24:00"])
def test_an_invalid_instant_has_no_key(text: str) -> None:
    with pytest.raises(ValueError, match=text):
        instant_key(text)


@pytest.fixture(params=["Asia/Tokyo", "America/Los_Angeles"])
def elsewhere(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let the clock on the wall be that of another place."""
    monkeypatch.setenv("TZ", request.param)
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.usefixtures("elsewhere")
def test_keys_of_instants_do_not_depend_on_the_local_time_zone() -> None:
    assert instant_key("2024-01-02T03:04:05+02:00") == "2024-01-02T01:04:05"
    assert instant_key("2024-01-02") == "2024-01-02T00:00:00"
    for first_and_last in ("0001-01-01", "9999-12-31T23:59:59.999999Z"):
        assert parse_instant(first_and_last) is not None
    for outside in ("0001-01-01T00:00:00+00:01", "9999-12-31T23:59:59-00:01"):
        assert parse_instant(outside) is None
