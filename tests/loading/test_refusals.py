"""A file that cannot be used: a clear error with its line, and never a partial data set."""

from pathlib import Path

import msgspec
import pytest

from tests.loading.data_files import as_csv, as_json, load_companies, load_files, load_stores, refusal, rows, store

HEADER = b"store_id,company_id,address_1,city,country\n"
ROW = b"s1,c1,1 Elm St,Ada,CA\n"
RECORD = as_json(store())
FEATURE = b'{"type": "Feature", "geometry": {"type": "Point", "coordinates": [1, 2]}, "properties": ' + RECORD + b"}"


CSV = [
    *((text, None, "header") for text in (b"", b"\n\r\n\n", b"\xef\xbb\xbf")),
    (b"store_id,company_id,city\n", 1, "address_1, country"),
    (b"\n\nSTORE_NO,company_id,address_1,city,country\n", 3, "store_id"),
    (b".store_id,company_id,address_1,city,country\n", 1, "store_id"),
    (b"store_id,company_id,address_1,city,country,city\n", 1, "'city'"),
    (b"store_id,company_id,address_1,city,country,x,x\n", 1, "'x'"),
    *((HEADER + ROW + rest, 3, "truncated") for rest in (b's2,c1,"1 Elm', b's2,c1,"1 Elm\n', b"s2,c1,1 Elm")),
    (HEADER + ROW + b's2,c1,"1 Elm\nSt,Ada,CA\n', 3, "truncated"),
    (HEADER + b's2,c1,"1\nElm"', 2, "truncated"),
    (HEADER + b"s2", 2, "truncated"),
    (HEADER + ROW + b"s2,c1,\xe9,Ada,CA\n", 3, "0xe9"),
    (HEADER + ROW + b"s2,c1,1 Elm,Ada,\xf0\x9f", 3, "UTF-8"),
    (HEADER.decode().encode("utf-16-le"), 1, "UTF-8"),
    (b'"store_id,company_id', 1, "unexpected end"),
]
# JSON by the line of its error.
JSON: dict[int | None, list[bytes]] = {
    None: [
        *(b"", b" \n", b"[", b"[" + RECORD, RECORD, b"{}", b'{"companies": []}'),
        *(b'{"stores": {}}', b'{"stores": null}'),
        *(b"5", b"null", b'"stores"', b'[{"unknown": "\\ud800"}]', b"[" * 100_000),
    ],
    1: [
        *(b"[" + RECORD + b"] []", b'{"stores": []} x', b"[-Infinity]", b'[{"unknown": 01}]', b"[{'name': 1}]"),
        *(b'[{"name": "\\ud800\\ud800"}]', b'["a\nb"]', b"// none\n[]", b"\xef\xbb\xbf\xef\xbb\xbf[]"),
    ],
    2: [b"[\n" + RECORD + b",]", b"[" + RECORD + b"]\n]", b'[\n{"name": NaN}]', b'[{"unknown":\r\n"\xff"}]'],
}
BAD_LINES = [
    *(b"{", b"x", b"[1, 2", b"{} {}", b'{"name": NaN}', b'"\\ud800"', b'5 "', b"[" * 100_000),
    *(b'{"name": 1, }', b"\x0b"),
]
REFUSED: list[tuple[str, bytes, int | None, str]] = [
    *(("stores.csv", text, line, why) for text, line, why in CSV),
    *(("stores.json", text, line, "") for line, texts in JSON.items() for text in texts),
    *(("stores.jsonl", RECORD + b"\n\r\n" + bad + b"\n" + RECORD + b"\n", 3, "") for bad in BAD_LINES),
]


@pytest.mark.parametrize(("name", "text", "line", "why"), REFUSED, ids=range(len(REFUSED)))
def test_a_file_is_refused_with_its_line(tmp_path: Path, name: str, text: bytes, line: int | None, why: str) -> None:
    error = refusal(load_stores(tmp_path, text, name))
    assert (error.file, error.line, why in error.why) == (name, line, True)


def test_a_lone_surrogate_refuses_the_file_even_next_to_a_wrong_type(tmp_path: Path) -> None:
    text = b'[{"store_id": 1, "unknown": "\\udc00"}]'
    assert "surrogate" in refusal(load_stores(tmp_path, text, "stores.json")).why
    assert "surrogate" in refusal(load_stores(tmp_path, text[1:-1], "stores.jsonl")).why


def test_empty_json_lines_a_csv_header_and_an_empty_array_are_empty_datasets(tmp_path: Path) -> None:
    loaded = load_companies(tmp_path, b"", "companies.ndjson")
    assert (rows(loaded), rows(loaded, "companies")) == ([], [])
    loaded = load_files(tmp_path, {"stores.csv": HEADER, "companies.json": b'{"x": [{}], "companies": []}'})
    assert (rows(loaded), loaded.report.errors) == ([], [])


def test_a_refused_file_is_one_error_and_the_other_file_is_still_checked(tmp_path: Path) -> None:
    stores = as_csv([store(city=""), store("s2", company_id="c2", parent_company_id="c9")])
    loaded = load_files(tmp_path, {"companies.json": b'[{"company_id": ""}', "stores.csv": stores})
    assert loaded.dataset is None
    assert [(error.file, error.code) for error in loaded.report.errors] == [
        ("companies.json", "file"),
        ("stores.csv", "missing"),  # and nothing of companies, of which none are known
    ]
    assert msgspec.to_builtins(loaded.report.totals) == {"stores": 0, "companies": 0, "skipped": 1, "repeated": 0}
    loaded = load_stores(tmp_path, as_csv([store(city="")]) + b'"')
    assert [error.code for error in loaded.report.errors] == ["file"]


def test_two_refused_files_are_two_errors(tmp_path: Path) -> None:
    errors = load_files(tmp_path, {"companies.csv": b"x", "stores.json": b"x"}).report.errors
    assert [(error.code, error.file) for error in errors] == [("file", "companies.csv"), ("file", "stores.json")]


def test_a_cell_may_have_any_length(tmp_path: Path) -> None:
    loaded = load_stores(tmp_path, as_csv([store(name="x" * 300_000)]))
    assert loaded.report.errors == []


# The name of a file, its text with a value DEEP, and how deep in it that is.
DEEP = {
    "record": ("stores.json", b"[" + RECORD + b"," + RECORD[:-1] + b', "x": DEEP}]', 1),
    "line": ("stores.jsonl", RECORD + b"\n" + RECORD[:-1] + b', "x": DEEP}', 1),
    "member": ("stores.json", b'{"stores": [' + RECORD + b'], "x": DEEP}', 0),
    "feature": ("stores.geojson", b'{"type": "FeatureCollection", "features": [' + FEATURE[:-1] + b', "x": DEEP}]}', 1),
}


@pytest.mark.parametrize("place", DEEP)
def test_json_may_be_nested_as_deep_on_every_python(tmp_path: Path, place: str) -> None:
    name, text, outer = DEEP[place]
    for depth in (500, 501, 900, 5_000):
        deep = b'["]",' * (depth - outer) + b"1" + b"]" * (depth - outer)
        loaded = load_stores(tmp_path, text.replace(b"DEEP", deep), name)
        assert loaded.report.errors == [] if depth == 500 else "nested too deeply" in refusal(loaded).why
