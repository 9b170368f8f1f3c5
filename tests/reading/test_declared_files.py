"""Several files of one kind load like one, in the order of their names; a manifest has the checks of every file."""

import hashlib
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from service.dataset import ReadOptions, Totals
from service.loading import batch_diagnostics
from service.loading.dataset import Loaded, load
from service.reading.files.container import data_signature
from service.reading.files.file_names import matching, patterns_of
from tests.loading.data_files import (
    COMPANIES_FILE,
    DERIVED as FROM_STORES,
    REQUIRED,
    as_csv,
    as_json,
    as_lines,
    company,
    dataset,
    load_files,
    packed,
    refusal,
    rows,
    served,
    store,
)
from tests.zip_archives import zipped

SEVERAL = b'[stores]\nfiles = ["stores-*"]\n'
DERIVED = SEVERAL + FROM_STORES.encode()
ONE, TWO, THREE = (store(f"s{number}", city=f"City {number}") for number in (1, 2, 3))
PARTS = {
    "stores-1.csv": as_csv([ONE], REQUIRED),
    "stores-2.csv.gz": packed(as_csv([TWO], [*REQUIRED[::-1], "name"]), ".gz"),
    "stores-3.json": as_json([THREE]),
}
WHOLE = as_csv([ONE, TWO, THREE])
COMPANIES = {"companies.csv": COMPANIES_FILE}


def version(loaded: Loaded) -> str:
    return dataset(loaded).version


def found(loaded: Loaded) -> list[tuple[str, str, int | None, int | None]]:
    """Return the code, the file, the line and the record of each error and warning."""
    return [(each.code, each.file, each.line, each.record) for each in (*loaded.report.errors, *loaded.report.warnings)]


def test_several_files_load_like_one_whatever_their_formats_and_orders_of_columns(tmp_path: Path) -> None:
    one = load_files(tmp_path / "one", COMPANIES | {"stores.csv": WHOLE})
    several = load_files(tmp_path / "several", COMPANIES | PARTS | {"mapping.toml": SEVERAL})
    assert version(several) == version(one)
    assert several.report == one.report
    plain = {name.removesuffix(".gz"): content for name, content in PARTS.items()}
    plain["stores-2.csv"] = as_csv([TWO], REQUIRED)
    (tmp_path / "stores.zip").write_bytes(zipped({f"data/{name}": each for name, each in (COMPANIES | plain).items()}))
    (tmp_path / "mapping.toml").write_bytes(SEVERAL)
    archive = load(tmp_path / "stores.zip", options=ReadOptions(mapping=str(tmp_path / "mapping.toml")))
    assert version(archive) == version(one)
    companies = {"c2.csv": as_csv([company("c2")], ["company_id", "name"]), "c1.csv": COMPANIES_FILE}
    mapping = b'[companies]\nfiles = ["c?.csv"]'
    loaded = load_files(tmp_path / "several", companies | {"stores.csv": WHOLE, "mapping.toml": mapping})
    assert len(rows(loaded, "companies")) == 2


def test_an_archive_takes_the_files_that_its_mapping_declares_and_one_alone_needs_no_match(tmp_path: Path) -> None:
    files = {"stores-1.csv": as_csv([ONE], REQUIRED), "stores-2.csv": as_csv([TWO], REQUIRED), "stores.csv": WHOLE}
    (tmp_path / "stores.zip").write_bytes(zipped({**files, "mapping.toml": DERIVED}))
    assert len(rows(load(tmp_path / "stores.zip"))) == 2
    (tmp_path / "mapping.toml").write_bytes(DERIVED)
    options = ReadOptions(mapping=str(tmp_path / "mapping.toml"))
    for name, content in {"shops.csv": WHOLE, "shops.zip": zipped({"any.csv": WHOLE})}.items():
        (tmp_path / name).write_bytes(content)
        assert len(rows(load(tmp_path / name, options=options))) == 3


def test_the_first_file_by_name_decides_about_derived_companies(tmp_path: Path) -> None:
    mapping = DERIVED + b'[companies.fields]\nname = "city"\n'
    files = {name: PARTS[name] for name in reversed(PARTS)}
    loaded = load_files(tmp_path, files | {"mapping.toml": mapping})
    assert [each["name"] for each in served(loaded, "companies")] == ["City 1"]
    assert found(loaded) == []


def test_errors_and_warnings_name_their_files_in_order(tmp_path: Path) -> None:
    header = ",".join([*REQUIRED, "latitude", "x"]).encode() + b"\n"
    files = {
        "stores-1.csv": header + b"s1,c1,a,b,CA,95,1\ns2,c1,,b,CA,,\n",
        "stores-2.csv": header + b"s3,c9,a,b,CA,,\n\ns1,c1,a,b,CA,95,1\n" + b"s4,c1,a,b,CA,91",
        "stores-3.csv": header + b"s1,c1,a,Other,CA,,\ns5,c1\ns6,c1,a,b,CA,,\n",
    }
    loaded = load_files(tmp_path, COMPANIES | files | {"mapping.toml": SEVERAL})
    assert [each.file for each in loaded.report.errors if each.code == "file"] == ["stores-2.csv"]
    files["stores-2.csv"] += b",2"
    loaded = load_files(tmp_path, COMPANIES | files | {"mapping.toml": SEVERAL})
    located = [each for each in found(loaded) if each[1] != "stores"]
    assert located == [
        ("missing", "stores-1.csv", 3, 2),
        ("company", "stores-2.csv", 2, 1),
        ("duplicate", "stores-3.csv", 2, 1),
        ("cells", "stores-3.csv", 3, 2),
        ("unused", "stores-1.csv", 1, None),
        ("range", "stores-1.csv", 2, 1),
        ("repeated", "stores-2.csv", 4, 2),
        ("range", "stores-2.csv", 4, 2),
        ("range", "stores-2.csv", 5, 3),
        ("unterminated", "stores-2.csv", 5, None),
    ]
    (unused,) = (each for each in loaded.report.warnings if each.code == "unused")
    assert "(7 records)" in unused.why
    assert loaded.report.totals.skipped == 4


def test_warnings_about_all_stores_name_their_kind(tmp_path: Path) -> None:
    located = {"country": "CA", "latitude": "0", "longitude": "0"}
    files = {f"stores-{part}.csv": as_csv([store(f"{part}{n}", **located) for n in range(9)]) for part in "ab"}
    several = load_files(tmp_path, COMPANIES | files | {"mapping.toml": SEVERAL})
    assert {each.file for each in several.report.warnings} == {"stores"}
    one = load_files(tmp_path, COMPANIES | {"stores-a.csv": files["stores-a.csv"], "mapping.toml": SEVERAL})
    assert {each.file for each in one.report.warnings} == {"stores-a.csv"}


def test_errors_that_are_not_listed_are_counted_by_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch_diagnostics, "MAX_LISTED", most := 100)
    bad = as_lines([{}]) * (most - 1)
    files = {"stores-1.jsonl": bad, "stores-2.jsonl": bad, "stores-3.jsonl": as_lines([{}])}
    loaded = load_files(tmp_path, COMPANIES | files | {"mapping.toml": SEVERAL})
    unlisted = [(each.file, each.why) for each in loaded.report.errors if each.record is None and each.field == "city"]
    assert unlisted == [
        ("stores-2.jsonl", f"{most - 2:,} more errors are not listed"),
        ("stores-3.jsonl", "1 more errors are not listed"),
    ]
    assert loaded.error_counts["missing"] == 5 * (2 * most - 1)


def test_every_file_that_cannot_be_used_is_an_error(tmp_path: Path) -> None:
    files = {"stores-1.csv": b"", "stores-2.csv": b"\xff", "stores-3.csv": WHOLE}
    loaded = load_files(tmp_path, files | {"mapping.toml": DERIVED})
    assert [file for code, file, *_ in found(loaded) if code == "file"] == ["stores-1.csv", "stores-2.csv"]
    assert loaded.dataset is None


NO_FILE = "no file matches {!r}, which stores.files of the mapping declares".format
FOUND = "found 'stores-1.csv', 'stores-2.csv': name one stores, or declare files = [\"stores-*.csv\"] in [stores] of"


@pytest.mark.parametrize(
    ("declared", "why"),
    [
        ('files = ["shops-*.csv"]', NO_FILE("shops-*.csv")),
        ('files = ["stores-*", "Stores-1.csv"]', NO_FILE("Stores-1.csv")),
        ('files = ["*.txt", "n*"]', "'notes.md' is no data file, but matches stores.files of the mapping"),
        ('files = ["*.csv"]', "'companies.csv' is a file of stores and of companies: stores.files must not match it"),
        ("", f"the file is missing: {FOUND} mapping.toml"),
    ],
)
def test_files_that_cannot_be_declared_like_that_are_refused(tmp_path: Path, declared: str, why: str) -> None:
    files = {"stores-1.csv": WHOLE, "stores-2.csv": WHOLE, "notes.md": b"", "a.txt": WHOLE}
    mapping = {"mapping.toml": f"[stores]\n{declared}".encode()}
    error = refusal(load_files(tmp_path, COMPANIES | files | mapping))
    assert (error.file, error.why) == ("stores", why)


def test_two_files_of_one_kind_are_an_error_that_names_the_key(tmp_path: Path) -> None:
    why = refusal(load_files(tmp_path, COMPANIES | {"stores.csv": WHOLE, "stores.json": as_json([ONE])})).why
    declare = 'declare files = ["stores.*"] in [stores] of mapping.toml'
    assert why == f"found several files: stores.csv, stores.json; keep one, or {declare}"


def test_a_manifest_lists_each_file(tmp_path: Path) -> None:
    files = COMPANIES | PARTS | {"mapping.toml": SEVERAL}
    listed = {
        name: {"sha256": hashlib.sha256(content).hexdigest(), "records": 1}
        for name, content in files.items()
        if name != "mapping.toml"
    }

    def loaded(changed: Mapping[str, object]) -> Loaded:
        return load_files(tmp_path, files | {"manifest.json": as_json({"files": changed})})

    assert version(loaded(listed))
    wrong = refusal(loaded(listed | {"stores-2.csv.gz": listed["stores-2.csv.gz"] | {"records": 2}}))
    assert (wrong.file, wrong.why) == ("stores-2.csv.gz", "the file has 1 records, manifest.json says 2")
    files["mapping.toml"] = b'[stores]\nfiles = ["shops-*"]'
    assert refusal(loaded(listed)).file == "stores"


@pytest.mark.parametrize("place", ["data/mapping.toml", "mapping.toml"])
def test_the_signature_is_that_of_the_declared_files(tmp_path: Path, place: str) -> None:
    folder, mapping = tmp_path / "data", tmp_path / place
    folder.mkdir()
    mapping.write_bytes(DERIVED)
    options = ReadOptions(mapping="" if mapping.parent == folder else str(mapping))
    seen = []
    for name, content in (("stores-1.csv", b"1"), ("stores-1.csv", b"11"), ("stores-2.json", b"2"), ("x.csv", b"3")):
        (folder / name).write_bytes(content)
        seen.append(data_signature(folder, options).fingerprint)
    assert len(set(seen)) == 3
    assert seen[-1] == seen[-2]
    for broken in (b"", b"[stores", b"stores = 1", b"[stores]\nfiles = [1]", b"[stores]\nfiles = 1"):
        mapping.write_bytes(broken)
        assert data_signature(folder, options).fingerprint not in seen


NAMES = st.text(st.sampled_from("ab-.*?["), min_size=1, max_size=6)


@given(st.sets(NAMES, min_size=2, max_size=5), st.sets(NAMES, max_size=5))
def test_proposed_patterns_match_just_their_files(names: set[str], others: set[str]) -> None:
    patterns = patterns_of(sorted(names), names | others)
    assert set(matching(patterns, names | others)) == names
    assert len(patterns) in (1, len(names))


FILES = {"companies.csv": COMPANIES_FILE, "stores.csv.gz": packed(as_csv([store(), store()]), ".gz")}
RECORDS = {"companies.csv": 1, "stores.csv.gz": 2}

Listing = dict[str, object]


def listings() -> dict[str, Listing]:
    digests = {name: hashlib.sha256(content).hexdigest() for name, content in FILES.items()}
    return {name: {"sha256": digest, "records": RECORDS[name]} for name, digest in digests.items()}


def load_with(folder: Path, manifest: object, **more: bytes) -> Loaded:
    return load_files(folder, FILES | more | {"manifest.json": json.dumps(manifest).encode()})


def test_the_time_of_the_data_comes_from_the_manifest_if_it_has_one(tmp_path: Path) -> None:
    loaded = load_with(tmp_path, {"generated_at": "2024-05-31T10:00:00Z", "files": listings(), "unknown": 1})
    assert dataset(loaded).generated_at == datetime(2024, 5, 31, 10, tzinfo=UTC)
    assert loaded.report.errors == []
    for loaded in (load_files(tmp_path, FILES), load_with(tmp_path, {"files": listings()})):
        assert dataset(loaded).generated_at is None


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize(
    ("listing", "why"),
    [({"sha256": "0" * 64}, "SHA-256"), ({"records": 3}, "3"), ({"records": None}, "no record count")],
)
def test_a_file_unlike_its_listing_refuses_the_dataset(tmp_path: Path, name: str, listing: Listing, why: str) -> None:
    files = listings()
    files[name] |= listing
    error = refusal(load_with(tmp_path, {"files": files}))
    assert error.file == name
    assert why in error.why


def test_the_record_count_includes_invalid_records(tmp_path: Path) -> None:
    text = as_csv([store("s1"), store("s1"), store("s2", city="")]) + b"\nx\n"
    files = listings() | {"stores.csv": {"sha256": hashlib.sha256(text).hexdigest(), "records": 4}}
    del files["stores.csv.gz"]
    content = {"companies.csv": COMPANIES_FILE, "stores.csv": text}
    loaded = load_files(tmp_path, content | {"manifest.json": json.dumps({"files": files}).encode()})
    assert dataset(loaded).totals == Totals(stores=1, companies=1, skipped=2, repeated=1)


def test_a_missing_listed_file_and_an_unlisted_data_file_refuse_the_dataset(tmp_path: Path) -> None:
    for name in ("gone.txt", "stores.json", "x" * 300):
        files = listings() | {name: {"sha256": "0" * 64, "records": 1}}
        assert refusal(load_with(tmp_path, {"files": files})).file == name
    for name in FILES:
        files = listings()
        del files[name]
        error = refusal(load_with(tmp_path, {"files": files}))
        assert (error.file, error.why) == (name, "manifest.json does not list the file")


def test_other_files_are_checked_by_digest_only(tmp_path: Path) -> None:
    licence = {"sha256": hashlib.sha256(b"MIT").hexdigest().upper()}
    manifest = {"files": listings() | {"LICENSE": licence}}
    assert load_with(tmp_path, manifest, LICENSE=b"MIT", README=b"").dataset is not None
    assert refusal(load_with(tmp_path, manifest, LICENSE=b"BSD")).file == "LICENSE"


@pytest.mark.parametrize(
    "text",
    [
        *(b"", b"{", b"[]", b"null", b"{}", b'{"files": []}', b'{"files": {"stores.csv": "00"}}'),
        *(b'{"files": {"stores.csv": {}}}', b'{"files": {"stores.csv": {"sha256": 1}}}'),
        b'{"files": {"stores.csv": {"sha256": "0", "records": true}}}',
        *(b'{"files": {"stores.csv": {"sha256": "0", "records": 1.5}}}', b'{"files": {}, "generated_at": "today"}'),
        *(b'{"files": {}, "generated_at": 1717149600}', b'{"files": {}} {}', b'{"files": {}, "unknown": "\xff"}'),
        b'{"unknown": ' + b"[" * 100_000,
        b'{"files": {}, "unknown": ' + b"[" * 500 + b"]" * 500 + b"}",
        *(b'{"files": {"%b": {"sha256": "0"}}}' % name for name in (b"", b"..", b".", b"a/b", b"a\\\\b", b"\\u0000")),
    ],
)
def test_a_malformed_manifest_refuses_the_dataset(tmp_path: Path, text: bytes) -> None:
    assert refusal(load_files(tmp_path, FILES | {"manifest.json": text})).file == "manifest.json"
