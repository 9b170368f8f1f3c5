"""Parquet and GeoParquet: the same tables as CSV, exact values, and hostile files refused."""

import io
import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from datetime import date
from decimal import Decimal
from functools import reduce
from pathlib import Path
from struct import pack
from typing import Any
from uuid import UUID

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from service.reading import isolation as file_reader
from service.reading.batch import Cell, WrongType
from service.reading.diagnostics import FileError
from service.reading.formats import parquet_file
from service.reading.formats.arrow import MAX_RECORDS, ArrowFile
from service.reading.formats.parquet_file import ColumnRequest, Opened, ParquetFile, RowBatch
from service.reading.isolation import answer
from tests.loading.data_files import Record, load_stores, refusal
from tests.program import children, eventually, has_ended
from tests.thoroughness import some_of

LOCATION = ("geometry.latitude", "geometry.longitude")


def written(columns: Mapping[str, object], metadata: Mapping[str, str | bytes] | None = None, **more: object) -> bytes:
    file = io.BytesIO()
    table = pa.table(columns)
    pq.write_table(table.replace_schema_metadata(metadata) if metadata else table, file, **more)
    return file.getvalue()


def point(record: Record) -> bytes | None:
    if "latitude" not in record:
        return None
    return pack("<BIdd", 1, 1, float(str(record["longitude"])), float(str(record["latitude"])))


def geo(**column: object) -> dict[str, str]:
    found = {"version": "1.1.0", "primary_column": "place", "columns": {"place": {"encoding": "WKB", **column}}}
    return {"geo": json.dumps(found)}


# Lists in 500 others.
DEEP = reduce(lambda inner, _: [inner], range(500), list[Any]())


def columns_of(file: ArrowFile, paths: Sequence[str]) -> Sequence[Sequence[Sequence[Cell]]]:
    """Return the columns of each batch, read in this process."""
    return [batch.columns for batch in file.parts(ColumnRequest(paths))]


def cells(array: pa.Array, path: str = "a") -> object:
    """Return the cells of a column, read in this process."""
    ((column,),) = columns_of(ArrowFile(written({"a": array})), [path])
    return column


@pytest.mark.parametrize(
    ("array", "expected"),
    [
        (pa.array([2**63 - 1, -5, None]), ["9223372036854775807", "-5", None]),
        (pa.array([2**64 - 1], pa.uint64()), ["18446744073709551615"]),
        (pa.array([43.7, 1e20, -0.0, float("nan"), None]), ["43.7", "1e+20", "-0.0", None, None]),
        (pa.array([43.7, 0.1], pa.float32()), ["43.7", "0.1"]),
        (pa.array([43.7], pa.float16()), ["43.7"]),
        (pa.array([Decimal("1.50"), None], pa.decimal128(20, 2)), ["1.50", None]),
        (pa.array([Decimal("0.0000001")], pa.decimal128(20, 9)), ["0.000000100"]),
        (pa.array([Decimal(10) ** 60], pa.decimal256(76, 0)), ["1" + "0" * 60]),
        (pa.array([True, None, False]), [True, None, False]),
        (pa.array(["x", "", None]), ["x", "", None]),
        (pa.array(["x", None]).dictionary_encode(), ["x", None]),
        (pa.array([date(2024, 5, 31)]), ["2024-05-31"]),
        (pa.array([1], pa.timestamp("ms", "Europe/Berlin")), ["1970-01-01T00:00:00.001Z"]),
        (pa.array([1, None], pa.timestamp("us")), ["1970-01-01T00:00:00.000001", None]),
        (pa.array([1], pa.timestamp("ns", "UTC")), ["1970-01-01T00:00:00.000000001Z"]),
        (pa.array([UUID(int=5).bytes], pa.uuid()), [str(UUID(int=5))]),
        (pa.array([b"\x00\xff", None]), [WrongType('"00ff"'), None]),
        (pa.array([{"b": 1, "c": [1.5, None]}]), [WrongType('{"b":1,"c":[1.5,null]}')]),
        (pa.array([None, None]), [None, None]),
    ],
)
def test_values_become_exact_texts(array: pa.Array, expected: object) -> None:
    assert cells(array) == expected


IDENTIFIERS = {"store_id": ["s1", "s2"], "company_id": ["c1", "c1"]}
NESTED = pa.array([{"b": "x", "c": [{"d": "y"}, {"d": "z"}]}, None, {"b": None, "c": []}])
MAP = pa.array([[("k.l", "v")], None, []], pa.map_(pa.string(), pa.string()))

IN_LISTS = pa.array(
    [[{"m": [("k", [1, 2])]}], [{"m": None}], None],
    pa.list_(pa.struct([("m", pa.map_(pa.string(), pa.list_(pa.int32())))])),
)


@pytest.mark.parametrize(
    ("array", "path", "expected"),
    [
        (NESTED, "a.b", ["x", None, None]),
        (NESTED, "a.c.0.d", ["y", None, None]),
        (NESTED, "a.c.1.d", ["z", None, None]),
        (NESTED, "a.c.2.d", [None, None, None]),
        (NESTED, "a.c.x.d", [None, None, None]),
        (NESTED, "a.none", [None, None, None]),
        (NESTED, "none", [None, None, None]),
        (MAP, "a.k.l", ["v", None, None]),
        (MAP, "a.none", [None, None, None]),
        (MAP, "a", [WrongType('[["k.l","v"]]'), None, WrongType("[]")]),
        (IN_LISTS, "a.0.m", [WrongType('[["k",[1,2]]]'), None, None]),
        (pa.array(["x"]), "a.b", [None]),
    ],
)
def test_a_path_leads_into_structs_lists_and_maps(array: pa.Array, path: str, expected: object) -> None:
    assert cells(array, path) == expected


def test_a_column_with_dots_in_its_name_is_preferred() -> None:
    file = ArrowFile(written({"a.b": ["whole"], "a": [{"b": "parts", "c": 1}]}))
    assert file.opened.paths.keys() == {"a.b", "a.c"}
    assert columns_of(file, ["a.b", "a.c"]) == [[["whole"], ["1"]]]


@pytest.mark.process
def test_the_names_are_paths_and_unused_columns_are_counted_and_an_error_names_the_record(tmp_path: Path) -> None:
    file = ParquetFile(written({"x": [1, 2], "names": NESTED[:2], "tags": MAP[:2], "geometry": [b"", None]}))
    assert file.names == ["x", "names.b", "names.c.0.d", "tags", *LOCATION]
    (batch,) = file.batches(["names.b"])
    assert (batch.columns, batch.numbers, batch.lines()) == ({"names.b": ["x", None]}, range(1, 3), [None, None])
    assert [(each.name, each.line, each.records) for each in batch.unused] == [("x", None, 2), ("tags", None, 2)]
    assert (batch.done, batch.total) == (2, 2)
    content = written({**{name: ["1", "1"] for name in ("address_1", "country")}, **IDENTIFIERS, "city": ["Ada", None]})
    (error,) = load_stores(tmp_path, content, "stores.parquet").report.errors
    assert str(error) == "stores.parquet: record 2: city: a value is required"


CRS84 = {"id": {"authority": "OGC", "code": "CRS84"}}


@pytest.mark.parametrize("metadata", [None, geo(), geo(crs=None), geo(crs=CRS84), geo(crs={"name": "WGS 84 (CRS84)"})])
def test_the_geometry_of_geoparquet_has_a_place(metadata: dict[str, str] | None) -> None:
    wkb = [pack("<BIdd", 1, 1, -79.4, 43.7), None, b"junk", pack(">BI", 0, 2) + pack(">I4d", 2, 0, 0, 2, 4)]
    file = ArrowFile(written({"place" if metadata else "geometry": wkb}, metadata))
    wrong = WrongType(f'"{b"junk".hex()}"')
    assert list(file.opened.paths) == list(LOCATION)
    assert columns_of(file, LOCATION) == [[["43.7", None, wrong, "2.0"], ["-79.4", None, wrong, "1.0"]]]


def test_the_geometry_may_be_a_struct_of_coordinates() -> None:
    places = [{"x": -79.4, "y": 43.7}, None, {"x": None, "y": None}, {"x": 1.0, "y": None}]
    file = ArrowFile(written({"place": pa.array(places)}, geo(encoding="point")))
    ((latitudes, longitudes),) = columns_of(file, LOCATION)
    assert latitudes[:3] == ["43.7", None, None]
    assert longitudes[:3] == ["-79.4", None, None]
    assert latitudes[3] == longitudes[3] == WrongType('{"x":1.0,"y":null}')


NOT_VALID: list[str | bytes] = ["{", b'{"primary_column": "\xff"}', "[" * 100_000, '{"a":' * 100_000]
NOT_VALID.append('{"primary_column": "x", "columns": {}}')


@pytest.mark.parametrize(
    ("metadata", "why"),
    [
        (geo(crs={"id": {"authority": "EPSG", "code": 3857}}), "the coordinate reference system is 'EPSG:3857': "),
        (geo(crs={"name": "NAD83"}), "the coordinate reference system is 'NAD83': "),
        (geo(crs={"name": "WGS 84 (CRS84)", "x": DEEP}), "the metadata of GeoParquet are not valid"),
        *(({"geo": text}, "the metadata of GeoParquet are not valid") for text in NOT_VALID),
    ],
)
def test_other_reference_systems_and_wrong_metadata_are_refused(metadata: dict[str, str | bytes], why: str) -> None:
    with pytest.raises(FileError) as error:
        ArrowFile(written({"place": [b""]}, metadata))
    assert error.value.why.startswith(why)


def test_without_pyarrow_the_error_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet_file, "find_spec", lambda _: None)
    why = refusal(load_stores(tmp_path, b"", "stores.parquet")).why
    assert why == "reading Parquet needs pyarrow: `pip install 'store-directory[parquet]'`"


WHOLE = written({"a": ["x", "y"] * 50, "b": [1.5, None] * 50}, compression="zstd")
FOOTER = int.from_bytes(WHOLE[-8:-4], "little")


def repeated(text: str, times: int) -> pa.Array:
    return pa.DictionaryArray.from_arrays(pa.array([0] * times, pa.int32()), pa.array([text]))


def read(content: bytes) -> int:
    file = ArrowFile(content)
    return sum(batch.records for batch in file.parts(ColumnRequest(list(file.opened.paths))))


def test_the_process_answers_requests_one_after_the_other() -> None:
    opened, *rows = answer(ArrowFile, WHOLE, [ColumnRequest(["a"]), ColumnRequest(["b", "gone"])])
    assert opened == Opened({"a": "a", "b": "b"}, 100)
    assert rows == [RowBatch(100, [["x", "y"] * 50]), None, RowBatch(100, [["1.5", None] * 50, [None] * 100]), None]
    (refused,) = answer(ArrowFile, WHOLE[:-1], [ColumnRequest(["a"])])
    assert isinstance(refused, str)


def test_duplicate_columns_are_refused_by_name() -> None:
    file = io.BytesIO()
    pq.write_table(pa.Table.from_arrays([pa.array([1])] * 3, ["a", "b", "a"]), file)
    with pytest.raises(FileError, match=r"^duplicate columns: 'a'$"):
        ArrowFile(file.getvalue())


def test_a_file_truncated_anywhere_or_with_a_footer_of_another_length_is_refused() -> None:
    lengths = (0, 1, FOOTER - 1, FOOTER + 1, len(WHOLE), 2**31 - 1, 2**31, 2**32 - 1)
    lying = [WHOLE[:-8] + length.to_bytes(4, "little") + WHOLE[-4:] for length in lengths]
    for content in (*(WHOLE[:size] for size in some_of(range(len(WHOLE)), 3)), *lying):
        with pytest.raises(FileError):
            read(content)


@pytest.mark.process
@pytest.mark.parametrize(
    ("columns", "why"),
    [
        ({"a": pa.nulls(MAX_RECORDS + 1, pa.int8())}, "1,048,577 records are more than the file has bytes"),
        ({"a": repeated("a" * 4_000_000, 3_000)}, "not a Parquet file that can be read: it takes too much memory"),
        ({"a": repeated("a" * 50_000, 3_000)}, "the file expands to more than 64 MiB and 200 times its size"),
    ],
)
def test_a_bomb_is_refused_by_the_process_that_reads_it(columns: Mapping[str, object], why: str) -> None:
    content = written(columns, compression="zstd")
    assert len(content) < 10_000
    with pytest.raises(FileError) as error:
        list(ParquetFile(content).batches(["a"]))
    assert error.value.why.startswith(why)


@pytest.mark.process
def test_the_process_ends_with_the_one_that_needs_it(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(WHOLE)
    program = (
        "import sys; from pathlib import Path; from service.reading.formats.parquet_file import ParquetFile\n"
        f"file = ParquetFile(Path({str(tmp_path / 'file')!r}).read_bytes()); print(flush=True); sys.stdin.read()"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        parent.stdout.readline()
        (reader_process,) = children(parent.pid)
        parent.kill()
    eventually(lambda: has_ended(reader_process))


@pytest.mark.process
def test_a_reader_that_dies_is_an_error_of_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_reader, "Popen", subprocess.Popen)
    for code, how in (
        ("import os; os.kill(os.getpid(), 11)", "its reader was killed by SIGSEGV"),
        ("import os; os.abort()", "its reader was killed by SIGABRT"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGXCPU)", "it takes too much time"),
        ("exit(3)", "its reader exited with code 3"),
    ):
        start = (sys.executable, "-c", code)
        monkeypatch.setattr(file_reader, "module_command", lambda _, start=start: start)
        with pytest.raises(FileError) as error:
            ParquetFile(WHOLE)
        assert error.value.why == f"not a Parquet file that can be read: {how}"
