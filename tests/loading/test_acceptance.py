"""Whether a data set is served, and what is told where it is not."""

from pathlib import Path

import pytest

from service.loading.acceptance import Invalid, Refused, accept
from tests.loading.data_files import STORE_FIELDS, Record, as_csv, load_files, load_stores, store

SOUND, FAULTY = store("s1"), store("s2", city=None)


def stores(*records: Record) -> bytes:
    return as_csv(records, STORE_FIELDS)


@pytest.mark.parametrize("invalid", Invalid)
def test_a_data_set_without_a_fault_is_served(tmp_path: Path, invalid: Invalid) -> None:
    dataset, report = accept(load_stores(tmp_path, stores(SOUND)), invalid)
    assert len(dataset.stores) == 1
    assert report.faults == []


def test_records_at_fault_are_left_out_where_that_is_wanted_and_told(tmp_path: Path) -> None:
    dataset, report = accept(load_stores(tmp_path, stores(SOUND, FAULTY)), Invalid.SKIP)
    assert len(dataset.stores) == 1
    assert report.totals.skipped == len(report.faults) == 1


@pytest.mark.parametrize(("records", "more"), [((SOUND, FAULTY), ""), ((FAULTY, SOUND, FAULTY), " (and 1 more)")])
def test_records_at_fault_refuse_the_set_with_the_first_fault_and_how_many_more_there_are(
    tmp_path: Path, records: tuple[Record, ...], more: str
) -> None:
    line = 2 + records.index(FAULTY)
    with pytest.raises(Refused) as caught:
        accept(load_stores(tmp_path, stores(*records)), Invalid.REFUSE)
    assert str(caught.value).startswith(f"stores.csv:{line}: city: ")
    assert str(caught.value).endswith(f"a value is needed{more}")
    assert caught.value.of_records


@pytest.mark.parametrize("invalid", Invalid)
def test_a_file_that_is_refused_refuses_the_set_always(tmp_path: Path, invalid: Invalid) -> None:
    with pytest.raises(Refused, match=r"^companies: ") as caught:
        accept(load_files(tmp_path, {"stores.csv": stores(SOUND)}), invalid)
    assert not caught.value.of_records
