"""`store-directory diff`."""

import asyncio
import json
import re
import shutil
import sqlite3
import subprocess
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from random import Random
from subprocess import PIPE
from tempfile import TemporaryDirectory
from typing import Any, Final

import orjson
import pytest
from hypothesis import given, settings, strategies as st

from service.commands.diff import changes
from service.engine.table import Table
from service.model.records import STORES
from tests.baking.random_datasets import RandomDataset, loaded, random_dataset
from tests.declared_attributes import DECLARED, NONE, attributes
from tests.directory import company, store, write_directory
from tests.program import PROGRAM, SECONDS, environment, run_here, run_into
from tests.publishing.origin import Origin, serving, status
from tests.warm import Warm

PAGE: Final = Path(__file__).parents[2] / "docs" / "in-step.md"
KEYS: Final = {"stores": "store_id", "companies": "company_id"}
ROW: Final = (
    '{"store_id":"%s","company_id":"acme","parent_company_id":null,"name":%s,"address_1":"1 Main St","address_2":null,'
    '"city":"%s","province":null,"country":"CA","postal_code":null,"phone_number":null,"is_open":true,'
    '"latitude":"59.2","longitude":"18","created_at":"2026-01-01T10:00:00Z"%s}'
)
BEFORE: Final = '"name":null,"city":"Toronto","updated_at":"2026-11-01T00:00:00Z"'
UPDATED: Final = ',"updated_at":"2026-11-01T00:00:00Z"'
TWO: Final = '"Two"'
FIRM: Final = '{"company_id":"b","name":"B","domain":"b.example","parent_company_id":null}'
OTHER: Final = attributes(stores="area number f\nhours text f\nyears list f |", companies="brands list fs")


def difference(old: Path, new: Path, *options: str) -> tuple[int, list[Any], list[str]]:
    """Run the command; return its exit code, its lines as values and those of standard error."""
    ended = run_here("diff", old, new, *options)
    return ended.returncode, [orjson.loads(line) for line in ended.stdout.splitlines()], ended.stderr.splitlines()


def exact(line: str) -> Any:
    """Return a line of JSON, with numbers as texts."""
    return json.loads(line, parse_float=lambda text: ("number", text), parse_int=lambda text: ("number", text))


def exported(data: Path, resource: str, parse: Callable[[str], Any] = exact) -> dict[str, dict[str, Any]]:
    """Return the records of a data set by identifier, as `export` writes them."""
    with TemporaryDirectory() as folder:
        ended = run_here("export", data, file := Path(folder, "x.ndjson"), "--resource", resource)
        assert ended.returncode == 0, ended.stderr
        records = map(parse, file.read_text().split("\n")[:-1])
        return {record[KEYS[resource]]: record for record in records}


def differing(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """Return the old values of the members that differ, None for one that was missing."""
    missing = object()
    names = [name for name in {**new, **old} if old.get(name, missing) != new.get(name, missing)]
    before = {name: old.get(name) for name in names}
    if "attributes" in before and "attributes" in old and "attributes" in new:
        before["attributes"] = differing(old["attributes"], new["attributes"])
    return before


def expected(old: Path, new: Path) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the lines and the numbers, of dictionaries of all records."""
    lines: list[dict[str, Any]] = []
    summary = []
    for resource in ("companies", "stores"):
        one, other = exported(old, resource), exported(new, resource)
        counts = dict.fromkeys(("added", "removed", "changed", "unchanged"), 0)
        for key in sorted({*one, *other}):
            kind = "added" if key not in one else "removed" if key not in other else "changed"
            line: dict[str, Any] = {"resource": resource, "change": kind, "record": (other | one)[key]}
            if kind == "changed":
                line |= {"record": other[key], "before": differing(one[key], other[key])}
                kind = "changed" if line["before"] else "unchanged"
            counts[kind] += 1
            lines += [line] if kind != "unchanged" else []
        summary.append(f"{resource}: " + ", ".join(f"{number:,} {kind}" for kind, number in counts.items()))
    return lines, summary


def edition(old: RandomDataset, other: RandomDataset, seed: int) -> RandomDataset:
    """Return a data set of some records of both: of one identifier mostly the old one."""
    random = Random(seed)

    def chosen(name: str, key: str) -> Iterator[Any]:
        by_key = [{record[key]: record for record in each.records[name]} for each in (old, other)]
        for identifier in {**by_key[0], **by_key[1]}:
            if random.random() < 0.9:
                first, second = by_key if random.random() < 0.7 else by_key[::-1]
                yield (first if identifier in first else second)[identifier]

    firms = list(chosen("companies", "company_id"))
    owners: Sequence[str] = [each["company_id"] for each in firms]
    owned = [
        each if each["company_id"] in owners else {**each, "company_id": owners[0]}
        for each in (chosen("stores", "store_id") if owners else ())
    ]
    return RandomDataset({"stores": owned, "companies": firms}, None, old.attributes)


SIZES: Final = st.tuples(st.integers(0, 40), st.integers(0, 12), st.integers(1, 12), st.integers(0, 2**32))


@settings(max_examples=12)
@given(sizes=SIZES, seed=st.integers(0, 2**32), declared=st.sampled_from([NONE, DECLARED]))
def test_the_differences_are_those_of_dictionaries_of_the_exported_records(
    sizes: tuple[int, int, int, int], seed: int, declared: Any
) -> None:
    made = random_dataset(sizes, attributes=declared)
    new = edition(made, random_dataset((*sizes[:3], seed), attributes=declared), seed)
    with TemporaryDirectory() as name:
        folders = made.write(Path(name, "old")), new.write(Path(name, "new"))
        ended = run_here("diff", *folders)
        lines, summary = expected(*folders)
        assert list(map(exact, ended.stdout.splitlines())) == lines
        assert (ended.returncode, ended.stderr.splitlines()) == (bool(lines), summary)


def test_attributes_that_only_one_declares_are_null_before_or_old_values(tmp_path: Path) -> None:
    folders = [
        random_dataset((30, 5, 6, 1), attributes=each).write(tmp_path / str(number))
        for number, each in enumerate((NONE, DECLARED, OTHER))
    ]
    for old, new in ((0, 1), (1, 0), (1, 2), (2, 1)):
        code, _, errors = difference(folders[old], folders[new])
        lines, summary = expected(folders[old], folders[new])
        printed = run_here("diff", folders[old], folders[new]).stdout.splitlines()
        assert (code, list(map(exact, printed)), errors) == (1, lines, summary)


def edit(data: Path, resource: str, **editions: dict[str, object]) -> None:
    """Change members of records, by their identifiers."""
    file = data / f"{resource}.json"
    records = orjson.loads(file.read_bytes())
    file.write_bytes(orjson.dumps([{**each, **editions.get(each[KEYS[resource]], {})} for each in records]))


@pytest.fixture
def old(tmp_path: Path) -> Path:
    times = {"created_at": "2026-01-01T10:00:00Z", "updated_at": "2026-11-01T00:00:00Z"}
    stores = [store(each, latitude="59.2", longitude="18", **times) for each in ("a", "b", "c", "\uff5e", "\U0001d54f")]
    return write_directory(tmp_path / "old", stores, [company(), company("b", created_at="2020-01-01")])


@pytest.fixture
def new(old: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(old, tmp_path / "new"))


def baked(folder: Path) -> Path:
    file = folder.with_suffix(".baked")
    assert run_here("bake", folder, file).returncode == 0
    return file


def test_a_line_is_compact_json_with_the_old_values_of_what_differs_in_record_order(old: Path, new: Path) -> None:
    edit(new, "stores", b={"updated_at": None, "name": "Two", "city": "Ulm"}, c={"store_id": "d"})
    edit(new, "companies", b={"domain": "b.example"})
    ended = run_here("diff", old, new)
    assert ended.stdout.splitlines() == [
        f'{{"resource":"companies","change":"changed","record":{FIRM},"before":{{"domain":null}}}}',
        f'{{"resource":"stores","change":"changed","record":{ROW % ("b", TWO, "Ulm", "")},"before":{{{BEFORE}}}}}',
        f'{{"resource":"stores","change":"removed","record":{ROW % ("c", "null", "Toronto", UPDATED)}}}',
        f'{{"resource":"stores","change":"added","record":{ROW % ("d", "null", "Toronto", UPDATED)}}}',
    ]
    assert ended.stderr == (
        "companies: 0 added, 0 removed, 1 changed, 1 unchanged\nstores: 1 added, 1 removed, 1 changed, 3 unchanged\n"
    )
    assert ended.returncode == 1
    assert run_here("diff", old, new, "--summary").stdout == ""
    assert run_here("diff", old, new, "--summary").returncode == 1


SAME: Final = (
    "companies: 0 added, 0 removed, 0 changed, 2 unchanged\nstores: 0 added, 0 removed, 0 changed, 5 unchanged\n"
)


def test_what_is_served_alike_does_not_differ_but_digits_and_offsets_do_and_lines_are_in_the_order_of_code_points(
    old: Path, new: Path, tmp_path: Path
) -> None:
    edit(new, "stores", a={"updated_at": "2026-11-01T00:00:00+00:00"}, b={"created_at": "2026-01-01 10:00"})
    edit(new, "companies", b={"created_at": "2021-01-01"})
    ended = run_here("diff", old, baked(new))
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", SAME)
    edit(new, "stores", a={"latitude": "59.20"}, b={"updated_at": "2026-11-01T01:00:00+01:00"})
    _, lines, _ = difference(baked(old), new)
    assert [line["before"] for line in lines] == [{"latitude": "59.2"}, {"updated_at": "2026-11-01T00:00:00Z"}]
    _, lines, _ = difference(old, write_directory(tmp_path / "none", []))
    identifiers = [line["record"]["store_id"] for line in lines if line["resource"] == "stores"]
    assert identifiers == ["a", "b", "c", "\uff5e", "\U0001d54f"]


@pytest.mark.parametrize("place", [0, 1])
def test_bad_data_is_an_error_before_any_line(old: Path, new: Path, place: int) -> None:
    edit(new, "stores", b={"city": None}, c={"store_id": "d"})
    paths = [old, new] if place else [new, old]
    ended = run_here("diff", *paths)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert f"the data set in {new} is rejected: stores.json:1: record 2" in ended.stderr
    skipped = run_here("diff", *paths, "--invalid", "skip")
    assert (skipped.returncode, skipped.stdout.count("\n")) == (1, 3)
    baked(old).write_bytes(b"no")
    assert run_here("diff", old, old.with_suffix(".baked")).returncode == 2
    assert run_here("diff", old, old / "nowhere").returncode == 2


def test_a_mapping_is_for_what_is_not_baked(old: Path, new: Path, tmp_path: Path) -> None:
    (tmp_path / "mapping.toml").write_text('[stores.fields]\ncity = "town"\n')
    records = orjson.loads((new / "stores.json").read_bytes())
    towns = [{"town" if name == "city" else name: value for name, value in each.items()} for each in records]
    (new / "stores.json").write_bytes(orjson.dumps(towns))
    mapped = ("--mapping", str(tmp_path / "mapping.toml"))
    assert run_here("diff", baked(old), new, *mapped).stderr == SAME
    both = run_here("diff", baked(old), baked(old), *mapped)
    assert (both.returncode, both.stdout) == (2, "")
    assert "Usage: " in both.stderr
    assert "--mapping: a baked file has been read already" in both.stderr


def test_a_copy_in_sqlite_is_kept_in_step_over_ten_changes_by_intervals_and_by_diff_where_records_are_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (code,) = re.findall(r"^```python\n(.+?)^```", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    monkeypatch.chdir(tmp_path)
    stores, old, picked = dict[str, dict[str, Any]](), write_directory(tmp_path / "none", [], []), Random(5)
    for number in range(11):
        changed = [*picked.sample(sorted(stores), len(stores) // 3), *(f"{number}-{new}" for new in range(4))]
        removed = picked.sample(sorted(stores), 2) if number and number % 3 == 0 else []
        fields = {"name": f"{number}", "updated_at": f"2026-01-{number + 1:02}T10:00:00Z"}
        stores |= {key: store(key, **fields) for key in changed}
        new = write_directory(tmp_path / f"{number}", [each for key, each in stores.items() if key not in removed])
        stores = {key: each for key, each in stores.items() if key not in removed}
        lines = run_here("diff", old, new).stdout
        if number and not removed:
            with closing(sqlite3.connect("copy.db")) as copy:
                (latest,) = copy.execute("SELECT max(json_extract(record, '$.updated_at')) FROM records").fetchone()
            run_here("export", new, "stores.ndjson", "--query", f"updated_at={latest}/..")
            records = (tmp_path / "stores.ndjson").read_text("utf-8").splitlines()
            assert 4 <= len(records) <= len(stores)
            lines = "".join(f'{{"resource": "stores", "change": "changed", "record": {each}}}\n' for each in records)
        (tmp_path / "changes.ndjson").write_text(lines, "utf-8")
        exec(code, {})  # noqa: S102 - our own
        old = new
    with closing(sqlite3.connect("copy.db")) as copy:
        rows = copy.execute("SELECT id, record FROM records WHERE resource = 'stores'").fetchall()
    assert {key: json.loads(record) for key, record in rows} == exported(old, "stores", json.loads)
    assert len(rows) > 30


def test_the_interval_of_the_readme_finds_some_stores_of_the_bundled_data(tmp_path: Path) -> None:
    root = PAGE.parents[1]
    (query,) = re.findall(r"`(updated_at=[^`]+)`", (root / "README.md").read_text("utf-8"))
    assert run_here("export", root / "datasets", tmp_path / "x.csv", "--query", query).returncode == 0
    assert 10 < (tmp_path / "x.csv").read_text("utf-8").count("\n") < 1_000


@pytest.mark.process
async def test_a_url_is_what_serve_takes(old: Path, new: Path) -> None:
    edit(new, "stores", b={"name": "Two"})
    async with serving(Origin(baked(new).read_bytes())) as origin:
        ended = await asyncio.to_thread(run_here, "diff", old, origin.url)
        assert (ended.returncode, ended.stdout.count("\n")) == (1, 1), ended.stderr
        origin.will(status("404 Not Found"))
        ended = await asyncio.to_thread(run_here, "diff", origin.url, origin.url)
        assert (ended.returncode, ended.stdout) == (2, "")
        assert ended.stderr == f"Error: {origin.url}: 404 Not Found\n"
    for url, why in (("ftp://x/y", "ftp:// is not supported"), ("http://x/stores.csv", "bake the data first")):
        ended = run_here("diff", old, url)
        assert (ended.returncode, why in ended.stderr) == (2, True)


@pytest.mark.process
def test_a_reader_that_stops_ends_it_without_a_message_and_a_full_disk_with_one(tmp_path: Path) -> None:
    stores = [store(f"s{number}", name="x" * 100) for number in range(2000)]
    folders = write_directory(tmp_path / "old", stores), write_directory(tmp_path / "new", [])
    command = [*PROGRAM, "diff", *map(str, folders)]
    with Warm(command, stdout=PIPE, stderr=PIPE, text=True, env=environment({})) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert orjson.loads(process.stdout.readline())["change"] == "removed"
        process.stdout.close()
        assert (process.wait(SECONDS), process.stderr.read()) == (1, "")
    with Path("/dev/full").open("w") as full:
        ended = run_into(full, "diff", *folders)
    assert (ended.returncode, ended.stderr) == (2, "Error: the lines cannot be written: No space left on device\n")
    closed = ["sh", "-c", '"$@" >&-', "sh", *command]
    without = subprocess.run(closed, stderr=PIPE, env=environment({}), timeout=SECONDS, check=False)
    assert (without.returncode, without.stderr.count(b"\n")) == (1, 2)


def many(folder: Path, name: str, count: int) -> Table:
    rows = "".join(f"{number:08},c,{name},1 Main St,Ulm,DE\n" for number in range(count))
    data = folder / f"{name}{count}.csv"
    data.write_text(f"store_id,company_id,name,address_1,city,country\n{rows}")
    return loaded(data).stores


@pytest.mark.ci
def test_memory_does_not_grow_with_the_data(tmp_path: Path) -> None:
    peaks = []
    for count in (5000, 10_000):
        old, new = (many(tmp_path, name, count) for name in ("One", "Two"))
        tracemalloc.start()
        assert sum(kind == "changed" for kind, _, _ in changes(old, new, STORES)) == count
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.5 * peaks[0]
