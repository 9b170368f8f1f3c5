"""The files of a sample: the same bytes for the same numbers, valid, and written atomically."""

import csv
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import orjson
import pytest

from service.loading.dataset import load
from service.model.records import COMPANIES, STORES
from service.sampling.sample_dataset import FORMATS, DatasetExists, SampleFormat, write_sample
from tests.recording import check_recorded, fingerprint

NUMBERS = [(0, 0), (0, 1), (1, 1), (5, 3), (3, 40), (600, 120)]


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@contextmanager
def small_disk(size: int) -> Iterator[None]:
    """Limit the size of files, in bytes: writing more raises OSError, as on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


# Users share seeds, so these bytes must not change.
@pytest.mark.parametrize("file_format", FORMATS)
def test_the_same_numbers_give_the_same_bytes_on_every_machine(tmp_path: Path, file_format: SampleFormat) -> None:
    """Of each file some lines are recorded, and a digest of all."""
    write_sample(tmp_path, stores=500, companies=30, seed=42, file_format=file_format)
    files = contents(tmp_path)
    assert sorted(files) == [f"companies.{file_format}", f"stores.{file_format}"]
    lines = []
    for name, content in sorted(files.items()):
        lines += [f"{name}: {fingerprint(content)}", *content.decode().splitlines()[::50]]
    check_recorded(f"sample_{file_format}", lines)
    write_sample(tmp_path / "other", stores=500, companies=30, seed=43, file_format=file_format)
    other = contents(tmp_path / "other")
    assert all(other[name] != content for name, content in files.items())


@pytest.mark.parametrize(
    ("stores", "companies", "file_format"),
    [*((*each, "json") for each in NUMBERS), (9, 4, "jsonl"), (9, 4, "csv")],
)
def test_a_sample_of_any_size_and_form_loads_without_errors_or_warnings(
    tmp_path: Path, *, stores: int, companies: int, file_format: SampleFormat
) -> None:
    write_sample(tmp_path, stores=stores, companies=companies, seed=3, file_format=file_format)
    report = load(tmp_path).report
    assert (report.errors, report.warnings) == ([], [])
    assert (report.totals.stores, report.totals.companies) == (stores, companies)


def test_every_format_holds_the_same_values_in_the_order_of_the_fields_each_record_on_a_line(tmp_path: Path) -> None:
    for file_format in FORMATS:
        write_sample(tmp_path / file_format, stores=200, companies=9, seed=5, file_format=file_format)
    for kind in (STORES, COMPANIES):
        opening, *lines, closing, end = (tmp_path / "json" / f"{kind.name}.json").read_text("utf-8").split("\n")
        assert (opening, closing, end) == ("[", "]", "")
        records = [orjson.loads(line.removesuffix(",")) for line in lines]
        fields = [field.name for field in kind.fields]
        assert all(list(record) == [field for field in fields if field in record] for record in records)
        assert [*map(orjson.loads, (tmp_path / "jsonl" / f"{kind.name}.jsonl").read_bytes().splitlines())] == records
        with (tmp_path / "csv" / f"{kind.name}.csv").open(encoding="utf-8", newline="") as file:
            header, *rows = csv.reader(file)
        assert header == fields
        cells = {None: "", True: "true", False: "false"}
        assert rows == [[cells.get(value, value) for value in map(record.get, fields)] for record in records]


def test_stores_without_a_company_are_refused_and_nothing_is_written(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="at least 1 company"):
        write_sample(tmp_path / "new", stores=1, companies=0, seed=1)
    assert contents(tmp_path) == {}


@pytest.mark.parametrize("name", ["stores.csv", "stores.json.gz", "companies.jsonl", "manifest.json"])
def test_an_existing_dataset_is_named_and_not_touched(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"mine")
    with pytest.raises(DatasetExists, match=f"{name} exists: ") as refusal:
        write_sample(tmp_path, stores=5, companies=2, seed=1)
    assert "\n" not in str(refusal.value)
    assert contents(tmp_path) == {name: b"mine"}


@pytest.mark.parametrize("step", ["Making companies", "Making stores"])
def test_an_interrupt_leaves_no_file(tmp_path: Path, step: str) -> None:
    def interrupt(name: str, done: int, _: int) -> None:
        if name == step and done:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_sample(tmp_path, stores=10_001, companies=10, seed=1, progress=interrupt)
    assert contents(tmp_path) == {}


def test_a_full_disk_raises_oserror_and_leaves_no_file(tmp_path: Path) -> None:
    with small_disk(100_000), pytest.raises(OSError, match="too large"):
        write_sample(tmp_path, stores=1000, companies=10, seed=1)
    assert contents(tmp_path) == {}


def test_both_files_get_their_names_when_both_are_complete(tmp_path: Path) -> None:
    steps: list[tuple[str, int, int]] = []

    def record(step: str, done: int, total: int) -> None:
        assert [path for path in tmp_path.iterdir() if not path.name.startswith(".")] == []
        steps.append((step, done, total))

    write_sample(tmp_path, stores=10_001, companies=7, seed=1, progress=record)
    assert len(contents(tmp_path)) == 2
    assert steps == [
        ("Making companies", 0, 7),
        ("Making companies", 7, 7),
        ("Making stores", 0, 10_001),
        ("Making stores", 10_000, 10_001),
        ("Making stores", 10_001, 10_001),
    ]
