"""`store-directory export`."""

import struct
from pathlib import Path
from typing import Final

import orjson
import pyarrow.parquet as pq
import pytest
from pytest_aiohttp import AiohttpClient

from service.snapshot.snapshot import SnapshotHolder
from service.web.site import make_site
from tests.baking.random_data_sets import baked_file, random_data_set
from tests.directory import store, write_directory
from tests.loaded import serve
from tests.program import run, run_here
from tests.web.live import DEFAULTS, KEY, Client, ServiceServer, authentication
from tests.web.reply import ask


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return random_data_set((600, 12, 16, 3)).write(tmp_path / "data")


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


def test_parquet_has_the_records_of_the_lines(folder: Path, tmp_path: Path) -> None:
    file, lines = tmp_path / "x.parquet", tmp_path / "x.ndjson"
    for resource in ("stores", "companies"):
        for each in (file, lines):
            ended = run_here("export", folder, each, "--resource", resource, "--query", "sort_by=name")
            assert ended.returncode == 0, ended.stderr
        table = pq.read_table(file)
        columns = [name for name in table.column_names if name != "geometry"]
        records = [orjson.loads(line) for line in lines.read_bytes().splitlines()]
        assert table.select(columns).to_pylist() == [{name: each.get(name) for name in columns} for each in records]


def test_parquet_of_stores_is_geoparquet(folder: Path, tmp_path: Path) -> None:
    file, features = tmp_path / "near.parquet", tmp_path / "near.geojson"
    for each in (file, features):
        assert run_here("export", folder, each, "--query", "near=1,2&fields=name,distance").returncode == 0
    table = pq.read_table(file)
    assert table.column_names == ["name", "distance", "geometry"]
    geo = orjson.loads(table.schema.metadata[b"geo"])
    assert (geo["version"], geo["columns"][geo["primary_column"]]["encoding"]) == ("1.1.0", "WKB")
    points = [None if wkb is None else list(struct.unpack("<BIdd", wkb)) for wkb in table["geometry"].to_pylist()]
    expected = [each["geometry"] for each in orjson.loads(features.read_bytes())["features"]]
    assert points == [each and [1, 1, *each["coordinates"]] for each in expected]


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
        ("s.csv", ("--query", "limit=5&sort_by=size"), "--query: sort_by: Input should be"),
        ("s.csv", ("--query", "limit=5"), "--query: limit: Extra inputs are not permitted"),
        ("s.csv", ("--resource", "shops"), "'shops' is not one of"),
    ],
)
def test_a_name_or_option_that_cannot_be(
    folder: Path, tmp_path: Path, name: str, options: tuple[str, ...], why: str
) -> None:
    ended = run_here("export", folder, tmp_path / name, *options)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert why in " ".join(ended.stderr.split())
    assert not (tmp_path / name).exists()


def test_a_baked_file_has_been_read_already(folder: Path, tmp_path: Path) -> None:
    baked = baked_file(folder, tmp_path / "set.baked")
    ended = run_here("export", baked, tmp_path / "s.csv", "--encoding", "windows-1252")
    assert (ended.returncode, "a baked file has been read already" in ended.stderr) == (2, True)


def test_the_data_file_is_not_replaced(tmp_path: Path) -> None:
    data = tmp_path / "stores.csv"
    data.write_text("store_id\n")
    ended = run_here("export", data, data)
    assert (ended.returncode, "this is the data file" in ended.stderr) == (2, True)
    assert data.read_text() == "store_id\n"


def test_rejected_data_and_an_unwritable_file(tmp_path: Path) -> None:
    invalid = write_directory(tmp_path / "invalid", [store("s1"), store("s2", city=None)])
    ended = run_here("export", invalid, tmp_path / "s.csv")
    assert (ended.returncode, "is rejected: stores.json:1: record 2: city" in ended.stderr) == (1, True)
    assert run_here("export", invalid, tmp_path / "s.csv", "--invalid", "skip").returncode == 0
    ended = run_here("export", invalid, tmp_path / "no" / "s.csv", "--invalid", "skip")
    assert (ended.returncode, "No such file or directory" in ended.stderr) == (1, True)
    assert run_here("export", tmp_path / "missing", tmp_path / "m.csv").returncode == 1
    damaged = tmp_path / "damaged.baked"
    damaged.write_bytes(b"no data")
    assert run_here("export", damaged, tmp_path / "m.csv").returncode == 1
