"""Acceptance of data sets, and the message for a rejected one."""

import re
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, strategies as st

from service.dataset import InvalidRecords, ReadOptions, Rejected, Safeguards, Totals
from service.loading.dataset import Loaded, accept, load
from tests.loading.data_files import Record, as_csv, load_files, load_stores, store

SOUND, FAULTY = store("s1"), store("s2", city=None)


def stores(*records: Record) -> bytes:
    return as_csv(records)


@pytest.mark.parametrize("invalid", InvalidRecords)
def test_a_valid_dataset_is_served(tmp_path: Path, invalid: InvalidRecords) -> None:
    assert len(accept(load_stores(tmp_path, stores(SOUND)), invalid).stores) == 1


@pytest.mark.parametrize(("records", "more"), [((SOUND, FAULTY), ""), ((FAULTY, SOUND, FAULTY), " (and 1 more)")])
def test_invalid_records_refuse_the_dataset_with_the_first_error_and_the_number_of_others(
    tmp_path: Path, records: tuple[Record, ...], more: str
) -> None:
    line = 2 + records.index(FAULTY)
    with pytest.raises(Rejected) as caught:
        accept(load_stores(tmp_path, stores(*records)), InvalidRecords.REFUSE)
    assert str(caught.value).startswith(f"stores.csv:{line}: city: ")
    assert str(caught.value).endswith(f"a value is required{more}")


@pytest.mark.parametrize("invalid", InvalidRecords)
def test_an_unusable_file_always_refuses_the_dataset(tmp_path: Path, invalid: InvalidRecords) -> None:
    with pytest.raises(Rejected, match=r"^companies: "):
        accept(load_files(tmp_path, {"stores.csv": stores(SOUND)}), invalid)


def hint(loaded: Loaded) -> str:
    """Return the hint for a data set that is not served."""
    with pytest.raises(Rejected) as caught:
        accept(loaded, InvalidRecords.REFUSE)
    return caught.value.rejection.hint


def test_the_hint_for_a_folder_is_to_check_it_and_for_invalid_records_to_skip_them(tmp_path: Path) -> None:
    folder = tmp_path / "it's data"
    check = f"`store-directory check '{tmp_path}/it'\"'\"'s data'` reports every error"
    assert hint(load_files(folder, {"stores.csv": stores(SOUND)})) == check
    assert hint(load_stores(folder, stores(FAULTY))) == f"{check}; `--invalid skip` skips invalid records"
    printed = f"`store-directory check '{tmp_path}/\\x1b\\udcff'` "  # of a path that is not text
    assert hint(load_files(tmp_path / "\x1b\udcff", {})).startswith(printed)


@pytest.mark.parametrize("name", ["filialen.csv", "filialen.CSV.gz", "data.zip"])
def test_a_data_file_and_an_archive_are_checked_with_the_options_that_read_them(tmp_path: Path, name: str) -> None:
    (tmp_path / name).touch()
    options = ReadOptions(mapping="my mapping.toml", encoding="cp1252")
    given = "--mapping 'my mapping.toml' --encoding cp1252"
    check = f"`store-directory check {tmp_path}/{name} {given}`"
    assert hint(load(tmp_path / name, options=options)) == f"{check} reports every error"


@pytest.mark.parametrize("source", ["/dev/null", "nowhere", "x" * 300, "nul\0"])
def test_there_is_no_hint_for_what_check_does_not_take(source: str) -> None:
    assert hint(load(Path(source))) == ""


def totals(stores: int, companies: int = 120, *, skipped: int = 0, repeated: int = 0) -> Totals:
    return Totals(stores, companies, skipped, repeated)


NO_STORES = "0 stores, at least 1 needed"
FEWER = "fewer than served now"
LEFT, EMPTY = f"2,000 of 5,000 stores left, 60 % {FEWER}", "--min-stores 0"
SERVED, USUAL, NONE_SKIPPED = totals(5_000), Safeguards(), Safeguards(max_skipped=0)


@pytest.mark.parametrize(
    ("safeguards", "found", "served", "reported"),
    [
        (USUAL, totals(0), None, f"{NO_STORES}; --min-stores 0"),
        (Safeguards(min_stores=2_000), totals(1_999), None, "1,999 stores, at least 2,000 needed; --min-stores 1999"),
        (USUAL, totals(30, 10, skipped=41), None, "41 of 81 records skipped, 50.6 %; --max-skipped 0.51"),
        (NONE_SKIPPED, totals(3, 4, skipped=1, repeated=2), None, "1 of 10 records skipped, 10 %; --max-skipped 0.1"),
        (USUAL, totals(0, 0, skipped=7), None, f"{NO_STORES}; 7 of 7 records skipped, 100 %; {EMPTY} --max-skipped 1"),
        (USUAL, totals(312), SERVED, f"312 of 5,000 stores left, 93.8 % {FEWER}; --max-shrink 0.94"),
        (USUAL, totals(5_000, 3), SERVED, f"3 of 120 companies left, 97.5 % {FEWER}; --max-shrink 0.98"),
        (USUAL, totals(2_000, 1), SERVED, f"{LEFT}; 1 of 120 companies left, 99.2 % {FEWER}; --max-shrink 1"),
        (USUAL, totals(0), SERVED, f"{NO_STORES}; 0 of 5,000 stores left, 100 % {FEWER}; {EMPTY} --max-shrink 1"),
    ],
)
def test_a_dataset_beyond_a_limit_is_refused_with_counts_and_the_option_that_allows_it(
    safeguards: Safeguards, found: Totals, served: Totals | None, reported: str
) -> None:
    with pytest.raises(Rejected) as caught:
        safeguards.check(found, served)
    assert str(caught.value) == f"{reported} allows that"
    assert caught.value.rejection.hint == ""  # the options are named


@pytest.mark.parametrize(
    ("safeguards", "found", "served"),
    [
        (USUAL, totals(1, 0), None),
        (Safeguards(min_stores=0), totals(0, 0), None),
        (USUAL, totals(30, 10, skipped=40), None),
        (USUAL, totals(2_500, 60), totals(5_000)),
        (Safeguards(max_shrink=0), totals(5_000), totals(5_000)),
        (Safeguards(max_shrink=0), totals(9_000, 200), totals(5_000)),
        (Safeguards(max_shrink=0), totals(1, 1), totals(0, 0)),
        (Safeguards(min_stores=0, max_shrink=1), totals(0, 0), totals(5_000)),
        (Safeguards(min_stores=0, max_skipped=1), totals(0, 0, skipped=5_000), None),
    ],
)
def test_a_dataset_within_the_limits_is_served(safeguards: Safeguards, found: Totals, served: Totals | None) -> None:
    safeguards.check(found, served)


COUNTS = st.integers(0, 1_000_000) | st.integers(0, 12)
TOTALS = st.builds(Totals, COUNTS, COUNTS, COUNTS, COUNTS)
SHARES = st.floats(0, 1)


@given(st.builds(Safeguards, min_stores=COUNTS, max_skipped=SHARES, max_shrink=SHARES), TOTALS, st.none() | TOTALS)
def test_the_suggested_options_allow_the_dataset(safeguards: Safeguards, found: Totals, served: Totals | None) -> None:
    try:
        safeguards.check(found, served)
    except Rejected as rejected:
        options = dict(re.findall(r"--([a-z-]+) ([0-9.]+)", str(rejected)))
        allowed = {name.replace("-", "_"): float(value) for name, value in options.items()}
        msgspec.structs.replace(safeguards, **allowed).check(found, served)
