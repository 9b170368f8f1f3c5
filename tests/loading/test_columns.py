"""The fast path of a column equals `service.model.kinds` for each cell, or gives up."""

import datetime as dt
import sys
import tracemalloc
from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given, strategies as st
from msgspec import UNSET

from service.engine.columns.column import join_keys
from service.loading import fast_path
from service.loading.fast_path import PlainColumn, decimal_keys, fold_lines
from service.model.kinds import (
    IDENTIFIER,
    INSTANT,
    NUMBER,
    POSTAL,
    WORDS,
    Kind,
    fold,
    fold_case,
    format_instant,
    instant_key,
    number_key,
    parse_instant,
)
from service.reading.batch import TextCells
from tests.thoroughness import some_of

TEXTS = st.lists(
    st.text(max_size=5) | st.sampled_from(["Ada", "A  B", " A", "\u3000", "ｶﾞ", "\u0301a", "¨a", "1.50"]) | st.none()
)
TEXT_KINDS = [IDENTIFIER, WORDS, POSTAL, NUMBER]
DATES = st.sampled_from(
    ["2024-05-31", "2024-02-29", "2023-02-29", "0001-01-01", "9999-12-31", "0000-12-31", "2024-5-31", "2024-W01-1", ""]
)
TIMES = st.sampled_from(["", "T10:00", " 10:00:59", "T23:59:59", "T24:00:00", "T10:60", "T10:00:60", "t00:00", "T1000"])
FRACTIONS = st.sampled_from(["", "", ".", ".5", ".000000", ".123456", ".1234567", ".\u0661"])
ZONES = st.sampled_from(
    ["", "Z", "+00:00", "-00:00", "+05:30", "-14:00", "+23:59", "+24:00", "-01:60", "z", "Z ", "-0100", "\0"]
)
INSTANTS = st.builds(lambda *parts: "".join(parts), DATES, TIMES, FRACTIONS, ZONES)


def read_plain_column(
    kind: Kind, cells: Sequence[str | None], bounds: tuple[str, str] | None = None
) -> PlainColumn | None:
    texts = TextCells.of(cells)
    assert texts is not None
    return fast_path.read_plain_column(kind, texts, bounds)


def parse_instants(cells: Sequence[str]) -> PlainColumn | None:
    return read_plain_column(INSTANT, cells)


def assert_plain(kind: Kind, cells: Sequence[str | None], plain: PlainColumn) -> None:
    """Hold plain cells against their kind, each by itself."""
    assert list(plain.values) == [cell or None for cell in cells]
    assert plain.keys == join_keys([kind.normalize(cell) if cell else None for cell in cells])


@pytest.mark.parametrize("kind", TEXT_KINDS, ids=lambda kind: str(kind.name))
@given(cells=TEXTS)
def test_the_fast_path_reads_texts_like_their_kind(kind: Kind, cells: list[str | None]) -> None:
    plain = read_plain_column(kind, cells)
    if plain is not None:
        assert_plain(kind, cells, plain)


def found_strange(kind: Kind, cells: Sequence[str]) -> Iterator[str]:
    """Find the cells that are not read quickly, by halves: each by itself would take long."""
    if read_plain_column(kind, cells) is None:
        half = len(cells) // 2
        yield from (*found_strange(kind, cells[:half]), *found_strange(kind, cells[half:])) if half else cells


@pytest.mark.parametrize("kind", TEXT_KINDS, ids=lambda kind: str(kind.name))
def test_the_fast_path_reads_every_printable_character_like_its_kind(kind: Kind) -> None:
    marks = [mark for mark in map(chr, range(sys.maxunicode + 1)) if mark.isprintable() and mark != " "]
    cells = [f"{mark}a{mark}" for mark in some_of(marks, len(TEXT_KINDS), TEXT_KINDS.index(kind))]
    strange = list(found_strange(kind, cells))
    usual = [cell for cell in cells if cell not in set(strange)]
    plain = read_plain_column(kind, usual)
    assert plain is not None
    assert_plain(kind, usual, plain)
    assert strange == ([cell for cell in cells if fold_case(cell) != fold(cell)] if kind in (WORDS, POSTAL) else [])


@pytest.mark.parametrize("kind", TEXT_KINDS, ids=lambda kind: str(kind.name))
@pytest.mark.parametrize("cell", ["a\x00", "\x7f", "a\nb", "a\tb", "\x85", "\u3000", " ", " a", "a ", "a  b"])
def test_the_fast_path_gives_up_on_unusual_cells(kind: Kind, cell: str) -> None:
    assert read_plain_column(kind, ["a", cell, "b"]) is None


@given(st.lists(st.text(st.characters() | st.sampled_from("ßẞªº\u00b4ｶﾞ\u0301\u1161\u0345각"), max_size=8)))
def test_lines_are_folded_together_like_each_alone(texts: list[str]) -> None:
    printable = ["".join(filter(str.isprintable, text)) for text in texts]
    assert fold_lines(TextCells(printable).lines) == TextCells(map(fold_case, printable)).lines


def test_a_pair_of_letters_is_folded_like_a_text() -> None:
    """Each that may join another one, after one that others join."""
    letters = [each for each in map(chr, range(0x80, 0x3400)) if each.isprintable()]
    texts = [f"{before}{each}" for before in "aI\u1100각カ\u03b9" for each in letters]
    assert fold_lines(TextCells(texts).lines) == TextCells(map(fold_case, texts)).lines


@pytest.mark.parametrize("kind", [*TEXT_KINDS, INSTANT], ids=lambda kind: str(kind.name))
def test_the_fast_path_reads_empty_columns(kind: Kind) -> None:
    absent = UNSET if kind is INSTANT else None
    for cells in ([], ["", None, ""]):
        plain = read_plain_column(kind, cells)
        assert plain is not None
        assert list(plain.values) == [absent] * len(cells)
        assert plain.keys == join_keys([None] * len(cells))


def test_the_fast_path_gives_up_on_numbers_out_of_range() -> None:
    bounds = number_key("-90"), number_key("90")
    assert read_plain_column(NUMBER, ["90", "-90.0", "", "0"], bounds) is not None
    for beyond in ("90.01", "-90.01", "1e9", "north"):
        assert read_plain_column(NUMBER, ["1", beyond, "2"], bounds) is None


@given(st.lists(INSTANTS, max_size=4))
def test_date_times_are_parsed_together_like_each_alone(texts: list[str]) -> None:
    """Empty texts have no value."""
    moments = [parse_instant(text) if text else UNSET for text in texts]
    valid = [(text, moment) for text, moment in zip(texts, moments, strict=True) if moment is not None]
    read = parse_instants([text for text, _ in valid])
    if read is not None:
        assert list(read.values) == [moment if moment is UNSET else format_instant(moment) for _, moment in valid]
        assert read.keys == join_keys([instant_key(text) if text else None for text, _ in valid])
    if None in moments:
        assert parse_instants(texts) is None


@given(INSTANTS)
def test_the_fast_path_parses_date_times_with_up_to_six_fraction_digits(text: str) -> None:
    known = not text or parse_instant(text) is not None
    assert (parse_instants([text]) is not None) == (known and ".1234567" not in text)


def test_one_invalid_date_time_among_thousands_is_found() -> None:
    valid = ["2024-05-31T10:00:00.5+02:00"] * 5_000
    assert parse_instants(valid) is not None
    dates = ["2024-02-30", "2024-13-01", "2024-00-10", "2024-01-00", "0000-01-01"]
    for text in (*dates, "2024-01-01T24:00", "2024-01-01T10:00+24:00", "\u0661", "x" * 99):
        assert parse_instants([*valid, text]) is None, text


@given(st.dates(), st.integers(-1, 40))
def test_a_day_is_valid_if_its_month_has_it(date: dt.date, day: int) -> None:
    text = f"{date:%Y-%m}-{day:02}".zfill(10)
    assert (parse_instants([text]) is None) == (parse_instant(text) is None)


def test_missing_date_times_keep_their_positions() -> None:
    plain = read_plain_column(INSTANT, ["", "2024-05-31T10:00:00+02:00", None])
    assert plain is not None
    assert plain.values == [UNSET, "2024-05-31T10:00:00+02:00", UNSET]
    assert plain.keys == join_keys([None, "2024-05-31T08:00:00", None])


# The keys of many decimals at once are those of one at a time.
NULL = "\x7f"
DECIMALS = st.decimals(min_value=-200, max_value=200, allow_nan=False, places=4).map("{:f}".format)
DECIMAL_TEXTS = st.lists(DECIMALS | st.just("") | st.text("0019.5-", min_size=1, max_size=6), max_size=6)


def lines(texts: list[str]) -> bytes:
    return "".join(f"{text or NULL}\n" for text in texts).encode()


@given(DECIMAL_TEXTS)
def test_keys_are_those_of_each_decimal_if_there_are_any(texts: list[str]) -> None:
    found = decimal_keys(lines(texts), ord(NULL), None)
    assert found in (None, join_keys([number_key(text) if text else None for text in texts]))


@given(st.lists(DECIMALS.filter(float), max_size=6))
def test_plain_decimals_have_keys_at_once_if_they_are_in_range(texts: list[str]) -> None:
    keys = join_keys([number_key(text) for text in texts])
    assert decimal_keys(lines(texts), ord(NULL), None) == keys
    inside = all(abs(int(float(text))) < 90 for text in texts)
    assert decimal_keys(lines(texts), ord(NULL), 90.0) == (keys if inside else None)


def test_what_is_no_plain_decimal_has_none() -> None:
    for text in ("0", "-0.0", "1e3", "+1", "1.2.3", "-", ".", "x", "1-2", "0" * 20 + "1", "1" * 20):
        assert decimal_keys(lines(["1.5", text]), ord(NULL), None) is None


def test_one_long_text_among_date_times_takes_no_room_for_each_of_them() -> None:
    texts = ["5" * 100_000, *["2024-05-31"] * 1_000]
    tracemalloc.start()
    try:
        assert parse_instants(texts) is None
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()
