"""`store-directory bake`, `verify` and `serve --data FILE`."""

import re
import shutil
import subprocess
from pathlib import Path
from subprocess import CompletedProcess
from types import SimpleNamespace

import numpy as np
import pytest

from service.baking.baked_file import load_baked
from service.baking.layout import Array, map_file, write_file
from service.dataset import Totals
from tests.baking.random_datasets import baked_file, random_dataset
from tests.declared_attributes import DECLARED
from tests.directory import company, store, write_directory
from tests.program import PROGRAM, SECONDS, environment, run, run_here, start_error, usage
from tests.run.generations import flip

BAKING_KIBIBYTES = 200 << 10  # of data, in one process


def failed(ended: CompletedProcess[str], code: int = 1) -> str:
    """Return the error message of a command that failed; for a usage error it follows the usage."""
    assert (ended.returncode, ended.stdout.count("\n")) in ((code, 0), (code, 1))
    assert "Traceback" not in ended.stderr
    usage_text, error, message = ended.stderr.partition("Error: ")
    assert bool(usage_text) == (code == 2)
    assert len(message.splitlines()) == 1 or "`store-directory check " in message.splitlines()[1]
    return error + message.splitlines()[0]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_directory(tmp_path / "data", [store("s1"), store("s2", city="Örebro")], [company(), company("b")])


@pytest.fixture
def baked(folder: Path, tmp_path: Path) -> Path:
    file = tmp_path / "set.baked"
    assert run_here("bake", folder, file).returncode == 0
    return file


@pytest.fixture
def invalid(tmp_path: Path) -> Path:
    return write_directory(tmp_path / "invalid", [store("s1"), store("s2", city=None), store("s3", city="")])


@pytest.mark.process
def test_bake_and_verify_print_the_counts_and_the_version(folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "set.baked"
    runs = [run("bake", folder, file), run_here("verify", file)]
    assert [(ended.returncode, ended.stderr) for ended in runs] == [(0, "")] * 2
    version = map_file(file).metadata["version"]
    described = f"2 stores of 2 companies, version {version}\n"
    assert [ended.stdout for ended in runs] == [f"{file}: {described}", f"{file}: valid, {described}"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data", "set.baked"]


def test_bake_is_deterministic_and_replaces_a_file_atomically(baked: Path, folder: Path, invalid: Path) -> None:
    stored, old = baked.read_bytes(), baked.open("rb")
    with old:
        assert run_here("bake", invalid, baked, "--invalid", "skip").returncode == 0
        assert baked.read_bytes() != stored
        assert old.read() == stored
    assert run_here("bake", folder, baked).returncode == 0
    assert baked.read_bytes() == stored


def test_too_few_stores_or_too_many_skipped_records_are_rejected_unless_allowed(invalid: Path, tmp_path: Path) -> None:
    empty, file, skip = write_directory(tmp_path / "empty", []), tmp_path / "set.baked", ("--invalid", "skip")
    for data, options, why in (
        (empty, (), "0 stores, at least 1 needed; --min-stores 0 allows that"),
        (invalid, (*skip, "--max-skipped", "0.4"), "2 of 4 records skipped, 50 %; --max-skipped 0.5 allows that"),
    ):
        assert failed(run_here("bake", data, file, *options)) == f"Error: the data set in {data} is rejected: {why}"
        assert not file.exists()
    assert run_here("bake", empty, file, "--min-stores", "0").stdout.startswith(f"{file}: 0 stores of 1 company")
    ended = run_here("bake", invalid, file, *skip, "--max-skipped", "0.5")
    assert (ended.returncode, ended.stdout.count("1 store of 1 company")) == (0, 1)
    assert load_baked(file).totals == Totals(stores=1, companies=1, skipped=2, repeated=0)


def test_errors_and_warnings_are_printed_one_line_for_each_code(tmp_path: Path) -> None:
    stores = [store("s1", latitude="47,37", zip="1"), store("s2", latitude="N/A"), store("s3", city="")]
    folder = write_directory(tmp_path / "data", stores)
    ended = run_here("bake", folder, tmp_path / "set.baked", "--invalid", "skip")
    lines = [line.partition(", the first: stores.json:1: ")[0] for line in ended.stderr.splitlines()]
    assert (ended.returncode, ended.stdout.count("\n")) == (0, 1)
    assert lines == [
        "skipped 1 invalid record",
        "missing: 1 error",
        "number: 1 warning",
        "placeholder: 1 warning",
        "unused: 1 warning",
        f"`store-directory check {folder}` reports every error and warning",
    ]


def test_a_single_file_is_baked_with_a_line_of_what_was_assumed_and_never_replaced(tmp_path: Path) -> None:
    data, file = tmp_path / "filialen.csv", tmp_path / "set.baked"
    data.write_text("store_id,company_id,address_1,city,country\ns1,acme,1 Main St,Ulm,DE\n")
    stored = data.read_bytes()
    ended = run_here("bake", data, file)
    assert ended.stderr == "filialen.csv: companies: from company_id, named by company_name if there is one\n"
    assert ended.stdout.startswith(f"{file}: 1 store of 1 company")
    (tmp_path / "link").symlink_to(data)
    for target in (data, tmp_path / "link"):
        assert "this is the data file: choose another name" in run_here("bake", data, target).stderr
        assert data.read_bytes() == stored


def test_the_command_that_reports_every_error_has_the_options_that_read_the_file(tmp_path: Path) -> None:
    data = tmp_path / "filialen.csv"
    data.write_text("store_id,company_id,address_1,city,country\ns1,acme,1 Main St,,DE\n")
    options = ("--encoding", "cp1252")
    refused = run_here("bake", data, tmp_path / "set.baked", *options)
    assert f"`store-directory check {data} --encoding cp1252` reports every error" in refused.stderr
    skipped = run_here("bake", data, tmp_path / "set.baked", *options, "--invalid", "skip", "--min-stores", "0")
    assert "0 stores" in skipped.stderr + skipped.stdout


LONG = "x" * 300


def test_the_error_names_a_folder_without_data_and_a_file_that_cannot_be_used(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for source in (tmp_path / name for name in ("nowhere", "empty", LONG)):
        message = failed(run_here("bake", source, tmp_path / "set.baked"))
        assert f"the data set in {source} is rejected: " in message
    for target in (tmp_path / name for name in ("nowhere/set.baked", "data/stores.json/set.baked", LONG)):
        assert failed(run_here("bake", folder, target)).startswith(f"Error: {target}: ")
    for name in ("nowhere", LONG):
        assert f"{tmp_path / name}: the f" in failed(run_here("verify", tmp_path / name))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data", "empty"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("bake",), "DATA"),
        (("bake", "data"), "FILE"),
        (("bake", "data", "."), "is a directory"),
        (("bake", "https://user:secret@host/data", "set.baked"), "'DATA': must be a local folder or file, not a URL"),
        (("bake", "data", ""), "FILE"),
        (("bake", "data", "set.baked", "--encoding", "hex"), "--encoding: 'hex' is not the name"),
        (("bake", "data", "set.baked", "--min-stores", "-1"), "--min-stores"),
        (("bake", "data", "set.baked", "--max-skipped", "nan"), "must be a number from 0 to 1, not 'nan'"),
        (("verify",), "FILE"),
        (("verify", "."), "is a directory"),
    ],
)
def test_a_usage_error_exits_with_2_and_a_message(arguments: tuple[str, ...], message: str) -> None:
    ended = usage(*arguments)
    assert ended.exit_code == 2
    assert message in ended.stderr.splitlines()[-1]


def test_verify_rejects_a_damaged_file(baked: Path) -> None:
    flip(baked)
    message = failed(run_here("verify", baked))
    assert f"{baked}: " in message
    assert message.endswith(" is damaged; bake it again")


@pytest.mark.process
def test_verify_and_serve_reject_a_file_that_is_not_baked_or_of_another_format(baked: Path, tmp_path: Path) -> None:
    other, file = map_file(baked), tmp_path / "stores"
    write_file(baked, other.arrays, {**other.metadata, "format": "store-directory 99"})
    file.write_bytes(b"store_id,company_id\ns1,acme\n")
    for name, why in ((file, "is not a baked data set"), (baked, "has the format 'store-directory 99'")):
        assert f"{name}: the file {why}" in failed(run_here("verify", name))
        assert f"{name}: the file {why}" in start_error(run("serve", "--port", "0", "--data", name))


def test_verify_rejects_records_that_do_not_match_the_version(baked: Path) -> None:
    content = map_file(baked)
    rows: Array = content.arrays["stores/rows/data"].copy()
    rows[np.flatnonzero(rows == ord("T"))[0]] = ord("t")
    write_file(baked, {**content.arrays, "stores/rows/data": rows}, content.metadata)
    version = content.metadata["version"]
    error = f"Error: {baked}: the records do not match version {version}; bake it again"
    assert failed(run_here("verify", baked)) == error


def test_verify_rejects_clusters_at_other_places_than_the_stores(tmp_path: Path) -> None:
    file = tmp_path / "set.baked"
    stores = [store("s1", latitude="43.70", longitude="-79.40"), store("s2", latitude="45.42", longitude="-75.70")]
    assert run_here("bake", write_directory(tmp_path / "data", stores), file).returncode == 0
    content = map_file(file)
    latitudes: Array = content.arrays["stores/z_order/latitudes"][::-1].copy()
    write_file(file, {**content.arrays, "stores/z_order/latitudes": latitudes}, content.metadata)
    load_baked(file)
    error = f"Error: {file}: stores/z_order/latitudes is not that of the locations; bake it again"
    assert failed(run_here("verify", file)) == error


@pytest.fixture(scope="module")
def described(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a baked file with attributes."""
    folder = tmp_path_factory.mktemp("described")
    return baked_file(random_dataset((20, 3, 12, 1), attributes=DECLARED).write(folder / "data"), folder / "set.baked")


LENGTHS = "attributes.opening/times/week/lengths"


def test_verify_accepts_attributes_and_opening_hours(described: Path) -> None:
    assert run_here("verify", described).stdout.startswith(f"{described}: valid, ")


@pytest.mark.parametrize(
    ("part", "change", "why"),
    [
        (LENGTHS, ("3c00", "3b00"), "{}/times/week/lengths are not those of the records"),
        ("rows/data", (b"02:00".hex(), b"42:00".hex()), "the hours in {} are invalid"),
        ("rows/data", (b"America".hex(), b"Armoric".hex()), "the hours in {} are invalid"),
    ],
)
def test_verify_rejects_opening_hours_that_are_not_those_of_the_records(
    described: Path, tmp_path: Path, part: str, change: tuple[str, str], why: str
) -> None:
    content, name, file = map_file(described), f"stores/{part}", tmp_path / "set.baked"
    array: Array = content.arrays[name]
    other = np.frombuffer(bytes.fromhex(array.tobytes().hex().replace(*change, 1)), array.dtype)
    write_file(file, {**content.arrays, name: other}, content.metadata)
    load_baked(file)
    assert failed(run_here("verify", file)) == f"Error: {file}: {why.format('attributes.opening')}; bake it again"


def test_a_baked_file_whose_hours_are_no_object_is_refused(described: Path, tmp_path: Path) -> None:
    content, file = map_file(described), tmp_path / "set.baked"
    rows = content.arrays["stores/rows/data"].tobytes()
    other = re.sub(rb'"opening":\{.*?\]\}', lambda old: b'"opening":' + b"[]".ljust(len(old[0]) - 10), rows, count=1)
    assert len(other) == len(rows) != sum(map(int.__eq__, rows, other))
    write_file(file, {**content.arrays, "stores/rows/data": np.frombuffer(other, np.uint8)}, content.metadata)
    assert "is not a record: Expected `object | null`" in failed(run_here("verify", file))


def test_the_memory_is_a_size_with_a_unit(folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "set.baked"
    for size in ("64MiB", "1.5gib", "100 MB"):
        assert run_here("bake", folder, file, "--memory", size).returncode == 0
    for size in ("64", "MiB", "1KiB", "1TiB", "-1GiB"):
        ended = usage("bake", folder, file, "--memory", size)
        assert ended.exit_code == 2
        assert f"'{size}' is not a size of at least 64MiB, such as 512MiB or 2GiB" in " ".join(ended.stderr.split())


def test_too_little_disk_for_temporary_files_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They take several times the size of a CSV file; what they need is estimated from the first records."""
    data, row = tmp_path / "stores.csv", "{0},c,{0} Main St,Ulm,DE\n"
    data.write_text("store_id,company_id,address_1,city,country\n" + "".join(map(row.format, range(40_000))))
    size = data.stat().st_size
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=size))
    message = failed(run_here("bake", data, tmp_path / "set.baked"))
    found = re.search(r"set.baked: temporary files need about ([0-9.]+) MB here, and only 1.1 MB are free$", message)
    assert found is not None
    assert 5 * size < 1e6 * float(found[1]) < 20 * size
    assert list(tmp_path.iterdir()) == [data]


@pytest.mark.process
def test_a_full_disk_is_an_error_and_leaves_nothing(tmp_path: Path) -> None:
    folder = write_directory(tmp_path / "data", [store(f"s{number}") for number in range(2_000)])
    file = tmp_path / "out" / "set.baked"
    file.parent.mkdir()
    command = [*PROGRAM, "bake", str(folder), str(file), "--memory", "64MiB"]
    limited = ["sh", "-c", 'ulimit -f 200 && exec "$@"', "sh", *command]
    ended = subprocess.run(limited, capture_output=True, text=True, timeout=SECONDS, check=False, env=environment({}))
    assert (ended.returncode, ended.stderr) == (1, f"Error: {file}: File too large\n")
    assert list(file.parent.iterdir()) == []


@pytest.mark.process
@pytest.mark.ci
@pytest.mark.parametrize("form", ["csv", "json"])
def test_baking_takes_less_memory_than_the_data(form: str, tmp_path: Path) -> None:
    """Of 10,000 stores with 200 MB of a text that is not served, neither the file nor the records are in memory."""
    text, file = b"x" * 20_000, tmp_path / "set.baked"
    assert run_here("sample", tmp_path, "--stores", "10000", "--format", form + "l" * (form == "json")).returncode == 0
    (data,) = tmp_path.glob("stores.*")
    header, *rest = data.read_bytes().splitlines()
    if form == "csv":
        data.write_bytes(header + b",notes\n" + b"".join(b"%b,%b\n" % (line, text) for line in rest))
    else:
        records = (b'%b,"notes":"%b"}' % (line[:-1], text) for line in (header, *rest))
        data = data.rename(data.with_suffix(".json"))
        data.write_bytes(b"[" + b",\n".join(records) + b"]")
    limited = ["sh", "-c", f'ulimit -d {BAKING_KIBIBYTES} && exec "$@"', "sh"]
    command = [*limited, *PROGRAM, "bake", str(tmp_path), str(file), "--memory", "64MiB"]
    settings = environment({"OPENBLAS_NUM_THREADS": "1"})
    ended = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False, env=settings)
    assert ended.stdout.startswith(f"{file}: 10,000 stores"), ended.stderr
