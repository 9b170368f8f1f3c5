"""Files that are not what their names say, and tables that are written unusually: they are read, or it is said why."""

from pathlib import Path
from typing import Any

import pytest

from service.loading.dataset import Loaded, load
from service.reading.diagnostics import FileError
from service.reading.files.records import open_file
from service.reading.formats.csv_file import open_csv
from service.reading.formats.file_format import CSV, JSON, JSON_LINES
from service.reading.formats.json_file import open_json
from service.reading.formats.table_file import TableOptions
from service.reading.proposal.proposal import propose_mapping
from service.reading.proposal.table_options import find_table_options, recognizes
from tests.reading.mapping.record_files import Compiled, compiled

RECORD = '{"store_id": "7", "company_id": "b", "address_1": "x", "city": "y", "country": "z"}'
HEADER = "store_id,company_id,name,address_1,city,country"


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("<!doctype html>\n<p>Log in", "a web page"),
        ("\n <HTML>", "a web page"),
        ("<?xml version='1.0'?><stores/>", "XML"),
        ("// made by hand\n[]", "a comment"),
        ("/* made by hand */ []", "a comment"),
        (")]}'\n[]", "characters that keep scripts"),
        ("shops.load([])", "a function call, as in JSONP"),
        ("var shops = [];", "a script"),
        ("shops.all=[]", "a script"),
        ("export default []", "a script"),
        ("window['shops'] = []", "a script"),
        ("(function(){return []})()", "a script"),
        ("while(1);[]", "characters that keep scripts"),
        ("store_id,city\n7,y", "a table"),
        ("Not found", "something else"),
    ],
)
def test_what_a_file_begins_with_that_is_not_json_is_said(text: str, what: str) -> None:
    for form in (JSON, JSON_LINES):
        with pytest.raises(FileError, match="^not valid JSON: .* is the beginning of " + what) as error:
            open_file(text.strip().encode(), form)
        assert error.value.line == 1


@pytest.mark.parametrize("text", ["[tru]", "nul", "-", '["a" "b"]', "[falsely]"])
def test_broken_json_is_not_taken_for_another_format(text: str) -> None:
    with pytest.raises(FileError, match=r"^not valid JSON: (?!.* is the beginning)"):
        open_json(text.encode())


@pytest.mark.parametrize(
    ("text", "what"), [("<!DOCTYPE html>\n", "a web page"), ('[{"a": 1}]', "JSON"), ('{"a": 1}\n{"a": 2}', "JSON")]
)
def test_what_a_table_is_that_is_none_is_said(text: str, what: str) -> None:
    with pytest.raises(FileError, match=f"^not CSV: {what}"):
        open_csv(text.encode())


@pytest.mark.parametrize(
    "text",
    [
        f'{{"count": 1, "items": [{RECORD}]}}',
        f'{{"items": [{RECORD}], "errors": [], "links": ["a"]}}',
        f'{{"page": {{"links": ["a"]}}, "data": {{"items": [{RECORD}]}}}}',
        f'{{"a": {{"b": {{"c": {{"d": {{"e": [{RECORD}]}}}}}}}}}}',
        f'{{"docs": [{RECORD}], "facets": [{{"name": "a"}}]}}',
    ],
)
def test_the_only_array_of_objects_has_the_records_by_a_mapping(tmp_path: Path, text: str) -> None:
    file = open_json(text.encode())
    assert [each["store_id"] for each in compiled(propose_mapping(file, "x.json"), file).stores] == ["7"]
    assert "`store-directory mapping` proposes" in failure(tmp_path, text)


def test_arrays_of_objects_of_which_none_is_the_only_one_are_listed() -> None:
    with pytest.raises(FileError, match=r"one array; found 2: 'a\.x', 'b\.x'$"):
        open_json(b'{"a": {"x": [{}]}, "b": {"x": [{}]}}')


@pytest.mark.parametrize("text", ['{"7": {"city": "y"}, "8": {"city": "z"}}', '{"stores": {"7": {"city": "y"}}}'])
def test_objects_by_identifier_are_to_be_an_array(tmp_path: Path, text: str) -> None:
    with pytest.raises(FileError, match="write them as an array, each with its identifier as a member"):
        open_json(text.encode())
    assert "write them as an array" in failure(tmp_path, text)


def test_a_proposal_for_records_that_are_arrays_is_refused() -> None:
    with pytest.raises(FileError, match=r'^expected an object, found \["id"\]$') as error:
        propose_mapping(open_json(b'[\n["id"],\n["7"]]'), "x.json")
    assert error.value.line == 2


def failure(folder: Path, text: str) -> str:
    """Return the first error of a data set of one file."""
    file = folder / "shops.json"
    file.write_text(text)
    return str(load(file).report.errors[0])


def proposed(text: str) -> tuple[dict[str, Any], Compiled]:
    """Return the options that are proposed for a CSV text, and what is loaded with the proposal."""

    def opened(options: TableOptions) -> object:
        return open_csv(text.encode(), options=options, finds=recognizes)

    options = find_table_options(opened, CSV)  # type: ignore[arg-type]
    declared = options.declared
    file = open_csv(text.encode(), options=options, finds=recognizes)
    return declared, compiled(propose_mapping(file, "x.csv", options=declared), file)


def load_text(folder: Path, text: str) -> Loaded:
    (folder / "stores.csv").write_text(text)
    return load(folder / "stores.csv")


@pytest.mark.parametrize(
    ("row", "name"),
    [
        ('7, b, "Beet, Ltd", "x, y", Ulm, DE', "Beet, Ltd"),
        ('7, b, "Beet", x, Ulm, DE', "Beet"),
        ('"7" , b, "Beet, ""A"" , ""B"" "  , "x" ,Ulm, "DE" ', 'Beet, "A" , "B"'),
        ('7, b, "Beet\n"" , Ltd" , x, Ulm, DE', 'Beet\n" , Ltd'),
    ],
)
def test_spaces_around_quotes_are_trimmed(row: str, name: str) -> None:
    declared, loaded = proposed(f"{HEADER.replace(',', ', ')}\n{row}\n")
    assert declared == {"trim": True}
    assert [each["name"] for each in loaded.stores] == [name]


def test_a_row_with_spaces_before_quotes_names_what_reads_them(tmp_path: Path) -> None:
    (error,) = load_text(tmp_path, f'{HEADER}\n7,b, "Beet, Ltd",x,Ulm,DE\n').report.errors
    assert (error.line, error.code) == (2, "cells")
    assert "trim = true" in error.why


def test_lines_in_quotes_are_named_and_no_quotes_are_served(tmp_path: Path) -> None:
    text = f'{HEADER}\n"7,b,""Beet"",x,Ulm,DE"\n'
    (error,) = load_text(tmp_path, text).report.errors
    assert (error.line, error.code) == (2, "cells")
    assert "the line is in quotes as a whole" in error.why
    assert proposed(text)[1].stores == []
    text = f'"{HEADER}"\n"7,b,""Beet"",x,Ulm,DE"\n'
    (error,) = load_text(tmp_path, text).report.errors
    assert (error.line, error.code, error.why.partition(":")[0]) == (1, "file", "each line is in quotes as a whole")
    with pytest.raises(FileError, match=r"^each line is in quotes as a whole"):
        proposed(text)


def test_columns_of_one_name_are_declared_with_numbers() -> None:
    declared, loaded = proposed("title\nid,brand,street,street,town,land,phone,phone\n7,b,x,Suite 4,Ulm,DE,1,2\n")
    assert declared["skip_lines"] == 2
    assert declared["columns"][2:] == ("street", "street_2", "town", "land", "phone", "phone_2")
    (store,) = loaded.stores
    assert (store["store_id"], store["address_1"], store["city"], store["phone_number"]) == ("7", "x", "Ulm", "1")
