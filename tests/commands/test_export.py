"""`store-directory export`."""

import struct
import subprocess
import sys
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, Final

import orjson
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from pytest_aiohttp import AiohttpClient

from service.publishing.snapshot import SnapshotHolder
from service.web.site import make_site
from tests.baking.random_datasets import baked_file, random_dataset
from tests.declared_attributes import DECLARED, PREFIX, mapping
from tests.directory import store, write_directory
from tests.loaded import serve
from tests.program import SECONDS, run, run_here
from tests.web.live import DEFAULTS, KEY, Client, ServiceServer, authentication
from tests.web.reply import ask


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return random_dataset((600, 12, 16, 3)).write(tmp_path / "data")


@pytest.fixture
def described(tmp_path: Path) -> Path:
    return random_dataset((200, 12, 16, 3), attributes=DECLARED).write(tmp_path / "described")


INSTANTS: Final = ("created_at", "updated_at")
HOURS = "attributes.opening"
# The name of a file, options, and the target with the same bytes.
FILES: Final = (
    ("stores.csv", (), "/stores.csv"),
    ("near.csv", ("--query", "near=43.7,-79.4&bom=true"), "/stores.csv?near=43.7,-79.4&bom=true"),
    ("stores.ndjson", ("--query", "city=toronto&sort_by=name"), "/stores.ndjson?city=toronto&sort_by=name"),
    ("stores.geojson", ("--query", "fields=name"), "/stores.geojson?fields=name"),
    ("c.csv", ("--resource", "companies"), "/companies.csv"),
    ("c.ndjson", ("--resource", "companies", "--query", "q=a"), "/companies.ndjson?q=a"),
)


async def test_the_bytes_are_those_of_the_service(folder: Path, tmp_path: Path, aiohttp_client: AiohttpClient) -> None:
    await serve(snapshots := SnapshotHolder(), folder)
    client: Client = await aiohttp_client(ServiceServer(make_site(snapshots, authentication([KEY]), DEFAULTS).public))
    baked = baked_file(folder, tmp_path / "set.baked")
    for name, options, target in FILES:
        reply, file = await ask(client, target), tmp_path / name
        count, noun = int(reply.headers["X-Total-Count"]), target[1:].partition(".")[0]
        written = f"{count:,} {noun}, version {reply.headers['X-Dataset-Version']}"
        for data in (folder, baked):
            ended = run_here("export", data, file, *options)
            assert (ended.returncode, ended.stdout) == (0, f"{file}: {written}\n"), ended.stderr
            assert file.read_bytes() == reply.body
    ended = run_here("export", baked, tmp_path / "s.csv", "--encoding", "windows-1252")
    assert (ended.returncode, "a baked file has been read already" in ended.stderr) == (2, True)


def exported(data: Path, file: Path, resource: str, query: str = "sort_by=name") -> Path:
    """Return the file of an export, in a folder that is made."""
    file.parent.mkdir(exist_ok=True)
    ended = run_here("export", data, file, "--resource", resource, "--query", query)
    assert ended.returncode == 0, ended.stderr
    return file


def records_of(lines: Path) -> list[dict[str, Any]]:
    """Return the records of lines of JSON, each attribute as a member of its own."""
    records = [orjson.loads(line) for line in lines.read_bytes().splitlines()]
    return [each | {PREFIX + name: value for name, value in each.pop("attributes", {}).items()} for each in records]


def in_utc(text: str | None) -> datetime | None:
    """Return a date-time as served, in UTC."""
    return text if text is None else datetime.fromisoformat(text).astimezone(UTC)


def typed(record: dict[str, Any]) -> dict[str, Any]:
    """Return a record with its date-times in UTC, its dates as values of these types, and its hours as a text."""
    hours = {name: each and orjson.dumps(each).decode() for name, each in record.items() if name == HOURS}
    dates = {name: each and date.fromisoformat(each) for name, each in record.items() if name == "attributes.opened"}
    return record | {name: in_utc(record[name]) for name in INSTANTS if name in record} | dates | hours


def test_parquet_has_the_records_of_the_lines_with_typed_values_in_utc(described: Path, tmp_path: Path) -> None:
    for resource in ("stores", "companies"):
        table = pq.read_table(exported(described, tmp_path / "x.parquet", resource))
        records = [typed(each) for each in records_of(exported(described, tmp_path / "x.ndjson", resource))]
        columns = [name for name in table.column_names if name not in ("geometry", "bbox")]
        assert table.select(columns).to_pylist() == [{name: each.get(name) for name in columns} for each in records]


def test_the_latest_update_in_parquet_is_the_latest_instant_whatever_its_offset(tmp_path: Path) -> None:
    late, early = "2024-01-01T00:00:00.000001-05:00", "2024-01-01T04:00:00+00:00"
    folder = write_directory(tmp_path / "data", [store("s1", updated_at=late), store("s2", updated_at=early)])
    column = pq.read_table(exported(folder, tmp_path / "x.parquet", "stores"))["updated_at"]
    assert pc.max(column).as_py() == datetime(2024, 1, 1, 5, 0, 0, 1, UTC)


@pytest.mark.process
def test_an_export_to_parquet_is_read_back_as_the_same_with_times_in_utc(described: Path, tmp_path: Path) -> None:
    back = tmp_path / "back"
    for resource in ("stores", "companies"):
        exported(described, back / f"{resource}.parquet", resource)
    (back / "mapping.toml").write_text(mapping(DECLARED))
    for resource, key in (("stores", "store_id"), ("companies", "company_id")):
        lines, query = tmp_path / "x.ndjson", f"sort_by={key}"
        before, after = (records_of(exported(data, lines, resource, query)) for data in (described, back))
        assert [typed(each) for each in after] == [typed(each) for each in before]
        assert {each[name][-1] for each in after for name in INSTANTS if name in each} <= {"Z"}


@pytest.mark.parametrize("ending", ["csv", "ndjson", "geojson", "parquet"])
@pytest.mark.process
def test_opening_hours_of_an_export_in_any_format_are_read_back_as_they_were(tmp_path: Path, ending: str) -> None:
    declared = {"stores": [each for each in DECLARED["stores"] if each.kind == "hours"], "companies": []}
    data = random_dataset((200, 12, 16, 3), attributes=declared).write(tmp_path / "data")
    exported(data, tmp_path / "back" / f"stores.{ending}", "stores", "")
    exported(data, tmp_path / "back" / "companies.ndjson", "companies", "")
    (tmp_path / "back" / "mapping.toml").write_text('[stores.attributes]\nopening = { kind = "hours" }\n')
    before, after = (
        {each["store_id"]: each[HOURS] for each in records_of(exported(folder, lines, "stores"))}
        for folder, lines in ((data, tmp_path / "before.ndjson"), (tmp_path / "back", tmp_path / "after.ndjson"))
    )
    assert after == before
    assert len({orjson.dumps(each) for each in before.values()}) > 5


def test_parquet_of_stores_is_geoparquet(folder: Path, tmp_path: Path) -> None:
    query = "near=1,2&fields=name,distance"
    table = pq.read_table(exported(folder, tmp_path / "near.parquet", "stores", query))
    features = orjson.loads(exported(folder, tmp_path / "near.geojson", "stores", query).read_bytes())["features"]
    assert table.column_names == ["name", "distance", "geometry", "bbox"]
    expected = [each["geometry"] and each["geometry"]["coordinates"] for each in features]
    points = [None if wkb is None else list(struct.unpack("<BIdd", wkb)) for wkb in table["geometry"].to_pylist()]
    assert points == [each and [1, 1, *each] for each in expected]
    boxes = [each and list(each.values()) for each in table["bbox"].to_pylist()]
    assert boxes == [each and [*each, *each] for each in expected]
    geo = orjson.loads(table.schema.metadata[b"geo"])
    assert (geo["version"], geo["primary_column"]) == ("1.1.0", "geometry")
    located = [each for each in expected if each]
    assert geo["columns"]["geometry"] == {
        "encoding": "WKB",
        "geometry_types": ["Point"],  # without a reference system, which is OGC:CRS84
        "covering": {"bbox": {side: ["bbox", side] for side in ("xmin", "ymin", "xmax", "ymax")}},
        "bbox": [*map(min, zip(*located, strict=True)), *map(max, zip(*located, strict=True))],
    }


def test_geoparquet_without_a_location_has_no_bounds(tmp_path: Path) -> None:
    folder = write_directory(tmp_path / "data", [store("s1")])
    file = exported(folder, tmp_path / "x.parquet", "stores")
    table = pq.read_table(file)
    assert "bbox" not in orjson.loads(table.schema.metadata[b"geo"])["columns"]["geometry"]
    assert table.select(["geometry", "bbox"]).to_pylist() == [{"geometry": None, "bbox": None}]


@pytest.mark.process
def test_it_is_a_program(folder: Path, tmp_path: Path) -> None:
    ended = run("export", folder, tmp_path / "all.ndjson")
    assert (ended.returncode, ended.stderr) == (0, "")
    assert (tmp_path / "all.ndjson").read_bytes().count(b"\n") == 600


@pytest.mark.parametrize(
    ("name", "options", "why"),
    [
        ("stores.xlsx", (), "must end with one of .csv, .ndjson, .geojson, .parquet"),
        ("stores", (), "must end with one of .csv, .ndjson, .geojson, .parquet"),
        ("c.geojson", ("--resource", "companies"), "must end with one of .csv, .ndjson, .parquet"),
        ("s.csv", ("--query", "sort_by=size"), "--query: sort_by: Input should be"),
        ("s.csv", ("--query", "limit=5"), "--query: 'limit' is no parameter of files"),
        ("s.csv", ("--query", "cuntry=ca"), "--query: 'cuntry' is no parameter of files; did you mean country?"),
        ("s.csv", ("--query", "updated_since=2026"), "no parameter of files; use an interval, such as updated_at=A/.."),
        ("s.csv", ("--resource", "shops"), "'shops' is not one of"),
    ],
)
def test_a_wrong_name_or_option(folder: Path, tmp_path: Path, name: str, options: tuple[str, ...], why: str) -> None:
    ended = run_here("export", folder, tmp_path / name, *options)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert why in " ".join(ended.stderr.split())
    assert not (tmp_path / name).exists()


def test_rejected_data_and_an_unwritable_file(tmp_path: Path) -> None:
    invalid = write_directory(tmp_path / "invalid", [store("s1"), store("s2", city=None)])
    ended = run_here("export", invalid, tmp_path / "s.csv")
    assert (ended.returncode, "is rejected: stores.json:1: record 2: city" in ended.stderr) == (1, True)
    assert run_here("export", invalid, tmp_path / "s.csv", "--invalid", "skip").returncode == 0
    ended = run_here("export", invalid, tmp_path / "no" / "s.csv", "--invalid", "skip")
    assert (ended.returncode, "No such file or directory" in ended.stderr) == (1, True)
    assert run_here("export", tmp_path / "missing", tmp_path / "m.csv").returncode == 1
    data = tmp_path / "stores.csv"
    data.write_text("store_id\n")
    ended = run_here("export", data, data)
    assert (ended.returncode, "this is the data file" in ended.stderr, data.read_text()) == (2, True, "store_id\n")
    damaged = tmp_path / "damaged.baked"
    damaged.write_bytes(b"no data")
    assert run_here("export", damaged, tmp_path / "m.csv").returncode == 1


FAULTS = """
import atexit, sys
from resource import RUSAGE_SELF, getrusage
from service.__main__ import main
atexit.register(lambda: print(getrusage(RUSAGE_SELF).ru_minflt, file=sys.stderr))
main()
"""


@pytest.mark.ci
@pytest.mark.process
def test_the_pieces_of_a_file_have_the_same_memory(tmp_path: Path) -> None:
    baked, faults = str(tmp_path / "data.baked"), list[int]()
    run("sample", tmp_path / "data", "--stores", "20000", "--companies", "10")
    run("bake", tmp_path / "data", baked)
    for resource in ("companies", "stores"):
        command = [sys.executable, "-c", FAULTS, "export", baked, f"{tmp_path}/{resource}.csv", "--resource", resource]
        ended = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=True)
        faults.append(int(ended.stderr))
    assert faults[1] - faults[0] < 20_000 / 4
