"""A data set is the same in every format, and a truncated file is never read partially."""

from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
import numpy as np
import pytest

from service.engine.table import Table
from service.loading.dataset import Loaded
from tests.interface_fields import STORE_FIELDS as FIELDS, members
from tests.loading.data_files import (
    COMPANY_FIELDS,
    STORE_FIELDS,
    Record,
    as_csv,
    as_json,
    as_lines,
    company,
    dataset,
    load_files,
    load_stores,
    packed,
    rows,
    served,
    store,
)
from tests.thoroughness import some_of

pytestmark = pytest.mark.slow

COMPANIES = [
    company("c2", name="Bølt  AB", domain="bolt.example", parent_company_id="c1", created_at="2020-02-02 10:00:00.5"),
    company("c1"),
    company("c3", created_at="1999-12-31T23:59:59.999999-08:00"),
]
STORES = [
    store("s3", name='A "quoted",\r\nbroken name', latitude="43.70", longitude="-79.40", created_at="2024-05-31"),
    store("s1", company_id="c2", parent_company_id="c1", address_2="\ttab", province="ON", postal_code="M5V 2T6"),
    store("s2", phone_number="+1 (555) 0100", is_open=False, updated_at="2024-05-31T10:00:00.1234567+02:00"),
    store("é", city="東京", created_at="2024-05-31T00:00:01Z", updated_at="2024-05-31 10:00", latitude="1e2x"),
]


def spaced(text: bytes) -> bytes:
    return b"\n\r\n" + text.replace(b"\n", b"\n\n").replace(b"\r\n\n", b"\r\n")


FORMATS: dict[str, Callable[[Sequence[Record], Sequence[str], str], bytes]] = {
    "array.json": lambda records, _, __: as_json(records),
    "spread.json": lambda records, _, __: b"\xef\xbb\xbf\n[ " + b"\r\n, ".join(map(as_json, records)) + b"\n]\n",
    "object.json": lambda records, _, kind: as_json({"x": {kind: [1]}, kind: records, "y": None}),
    "lines.jsonl": lambda records, _, __: as_lines(records),
    "gaps.ndjson": lambda records, _, __: b"\xef\xbb\xbf\n" + as_lines(records).replace(b"\n", b" \r\n\n \t\n"),
    "feed.csv": lambda records, columns, _: as_csv(records, columns),
    "crlf.csv": lambda records, columns, _: as_csv(records, columns, end="\r\n"),
    "return.csv": lambda records, columns, _: as_csv(records, columns, end="\r"),
    "marked.csv": lambda records, columns, _: b"\xef\xbb\xbf" + as_csv(records, columns, end="\r\n"),
    "gaps.csv": lambda records, columns, _: spaced(as_csv(records, columns)),
    "shuffled.csv": lambda records, columns, _: as_csv(records, ["extra", *sorted(columns, reverse=True), "more"]),
}


PACKED = [*((form, "") for form in FORMATS), *((form, ".gz") for form in ("array.json", "feed.csv"))]
PACKED += [("lines.jsonl", ".zst"), ("feed.csv", ".zst")]


def load_as(folder: Path, form: str, packing: str) -> Loaded:
    ending = form.partition(".")[2]
    return load_files(
        folder,
        {
            f"companies.{ending}{packing}": packed(FORMATS[form](COMPANIES, COMPANY_FIELDS, "companies"), packing),
            f"stores.{ending}{packing}": packed(FORMATS[form](STORES, STORE_FIELDS, "stores"), packing),
        },
    )


def same(one: Table, other: Table) -> bool:
    return (
        bytes(one.rows.data) == bytes(other.rows.data)
        and np.array_equal(one.rows.offsets, other.rows.offsets)
        and all(
            np.array_equal(getattr(column, array), getattr(other.columns[name], array))
            for name, column in one.columns.items()
            for array in ("codes", "order", "starts")
        )
    )


@pytest.mark.parametrize(("form", "packing"), PACKED)
def test_the_same_records_give_the_same_tables_in_every_format(tmp_path: Path, form: str, packing: str) -> None:
    loaded, plain = load_as(tmp_path / "form", form, packing), load_as(tmp_path / "plain", "array.json", "")
    assert loaded.report.errors == []
    unused = [("unused", "extra"), ("unused", "more")] if form == "shuffled.csv" else []
    assert [(each.code, each.field) for each in loaded.report.warnings] == [*unused, *unused, ("number", "latitude")]
    assert same(dataset(loaded).stores, dataset(plain).stores)
    assert same(dataset(loaded).companies, dataset(plain).companies)


def test_rows_have_their_fields_in_order(tmp_path: Path) -> None:
    loaded = load_as(tmp_path, "array.json", "")
    known = {"store_id": "s3", "company_id": "c1", "name": 'A "quoted",\r\nbroken name', "address_1": "1 Elm St"}
    known |= {"city": "Ada", "country": "Utopia", "latitude": "43.70", "longitude": "-79.40"}
    values = {**known, "is_open": True, "created_at": "2024-05-31T00:00:00Z"}
    shown = {name: values.get(name) for name in members(FIELDS) if name != "updated_at"}
    assert rows(loaded)[0] == msgspec.json.encode(shown) + b","
    assert rows(loaded)[3].endswith(
        b'"is_open":false,"latitude":null,"longitude":null,"updated_at":"2024-05-31T10:00:00.123456+02:00"},'
    )
    assert rows(loaded, "companies") == [
        b'{"company_id":"c3","name":"Acme","domain":null,"parent_company_id":null},',
        '{"company_id":"c2","name":"Bølt  AB","domain":"bolt.example","parent_company_id":"c1"},'.encode(),
        b'{"company_id":"c1","name":"Acme","domain":null,"parent_company_id":null},',
    ]


@pytest.mark.parametrize("ending", ["json", "jsonl"])
def test_a_json_number_keeps_its_digits(tmp_path: Path, ending: str) -> None:
    numbers = ["43.70", "-0", "1E5", "1e400", "0.10", "1234567890123456789.0123456789012345678"]
    latitudes = [f', "latitude": {each}}}'.encode() for each in numbers]
    lines = [as_json(store(f"s{at}")).replace(b"}", each) for at, each in enumerate(latitudes)]
    text = b"\n".join([*lines, b""]) if ending == "jsonl" else b"[" + b",".join(lines) + b"]"
    loaded = load_stores(tmp_path, text, f"stores.{ending}")
    assert [each["latitude"] for each in served(loaded)] == numbers
    assert loaded.report.errors == []


def test_a_flag_without_a_value_is_true_and_the_last_of_repeated_members_wins(tmp_path: Path) -> None:
    records = [store(f"s{at}", is_open=value) for at, value in enumerate((None, "", " ", True))]
    for name, content in [("stores.jsonl", as_lines(records)), ("stores.csv", as_csv(records))]:
        assert [each["is_open"] for each in served(load_stores(tmp_path, content, name))] == [True] * 4
    text = as_json(store())[:-1] + b', "city": 5, "city": "Bo"}\n'
    assert served(load_stores(tmp_path, text, "stores.jsonl"))[0]["city"] == "Bo"


@pytest.mark.parametrize(("form", "packing"), PACKED)
def test_a_file_truncated_anywhere_is_reported_or_has_whole_records(tmp_path: Path, form: str, packing: str) -> None:
    records = [store("s1", name='a\r\n"b'), store("s2", city="東")]
    columns = ["store_id", "company_id", "address_1", "name", "city", "country"]
    content = packed(FORMATS[form](records, columns, "stores"), packing)
    whole = [row for size in (1, 2) for row in rows(load_stores(tmp_path, as_lines(records[:size]), "stores.jsonl"))]
    for size in some_of(range(len(content)), 19):
        loaded = load_stores(tmp_path, content[:size], f"stores.{form.partition('.')[2]}{packing}")
        if not (loaded.report.errors or loaded.report.warnings):
            assert rows(loaded) in ([], whole[:1], whole[1:])


def test_invalid_records_have_their_own_lines_next_to_unreadable_ones(tmp_path: Path) -> None:
    lines = b",\n".join([as_json(store("s1", city=None)), b"7", as_json(store("s2")), as_json(store("s3", city=None))])
    errors = load_stores(tmp_path, b"[" + lines + b"]", "stores.json").report.errors
    found = sorted((error.line, error.record, error.field) for error in errors)
    assert found == [(1, 1, "city"), (2, 2, None), (4, 4, "city")]
