"""Placeholders and formulas are served with a warning; real values have none."""

import itertools
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from service.engine.columns.column import join_keys
from service.loading.checks import PLACEHOLDERS, REAL_VALUES, check_text, check_texts
from service.model.kinds import IDENTIFIER, POSTAL, WORDS
from service.model.records import COMPANIES, STORES, Field
from service.reading.diagnostics import Diagnostic
from tests.loading.data_files import (
    COMPANY_FIELDS,
    STORE_FIELDS,
    Record,
    as_csv,
    as_lines,
    company,
    load_companies,
    load_files,
    load_stores,
    rows,
    store,
)

pytestmark = pytest.mark.slow

TEXT_FIELDS = [field for field in (*STORES.fields, *COMPANIES.fields) if field.kind in (IDENTIFIER, WORDS, POSTAL)]
SPELLINGS = [spelled(text) for text in sorted(PLACEHOLDERS) for spelled in (str, str.upper, str.title, " {} ".format)]
ERRORS = ["#REF!", "#NAME?", "#VALUE!", "#DIV/0!", "#NULL!", "#BEZUG!", "#NV", "#¡REF!", "#VALEUR!"]
TEXTS = st.sampled_from(
    [
        *SPELLINGS,
        *ERRORS,
        "#ref!",
        "#5",
        "4.2E+11",
        "4,2e+11",
        "E+",
        '="08001"',
        '="',
        '="a"b"',
        "n",
        "na na",
        "-a",
        "nagoya",
        "a",
        "",
        None,
    ]
)


def warned(warnings: Sequence[Diagnostic]) -> list[tuple[str, str | None, str | None]]:
    return [(each.code, each.field, each.value) for each in warnings]


@pytest.mark.parametrize(
    "text", ["NULL", "null", "N/A", "n/a", "-", "--", "#N/A", "(null)", r"\N", "undefined", "() -"]
)
@pytest.mark.parametrize("field", ["name", "address_2", "city", "province", "postal_code", "phone_number", "latitude"])
@pytest.mark.parametrize("name", ["stores.csv", "stores.jsonl"])
def test_a_placeholder_has_a_warning_and_is_served(tmp_path: Path, name: str, field: str, text: str) -> None:
    records = [store("s1", **{field: text}), store("s2")]
    content = as_csv(records, STORE_FIELDS) if name.endswith("csv") else as_lines(records)
    loaded = load_stores(tmp_path, content, name)

    assert warned(loaded.report.warnings) == [("placeholder", field, text)]
    assert len(rows(loaded)) == 2
    assert loaded.report.warnings[0].record == 1


@pytest.mark.parametrize(
    "fields",
    [
        {"country": "NA"},  # Namibia
        {"province": "NA", "city": "Napoli"},
        {"city": "None", "country": "IT"},
        {"city": "Nan", "province": "Nan", "country": "TH"},
        {"name": "None"},
        {"name": "NA"},
        {"store_id": "-"},
        {"name": "N/A Streetwear", "address_2": "no 5", "phone_number": "-1", "postal_code": "NA1"},
    ],
)
def test_a_real_value_of_a_field_has_no_warning(tmp_path: Path, fields: Record) -> None:
    assert load_stores(tmp_path, as_csv([store() | fields], STORE_FIELDS)).report.warnings == []


@pytest.mark.parametrize("field", ["address_1", "address_2", "postal_code", "phone_number", "latitude", "longitude"])
@pytest.mark.parametrize("text", ["NA", "None", "NaN"])
def test_a_possible_name_is_a_placeholder_in_other_fields(tmp_path: Path, field: str, text: str) -> None:
    loaded = load_stores(tmp_path, as_csv([store() | {field: text}], STORE_FIELDS))
    assert warned(loaded.report.warnings) == [("placeholder", field, text)]


@pytest.mark.parametrize("field", ["store_id", "name", "postal_code", "phone_number", "latitude"])
def test_a_spreadsheet_formula_has_a_warning_and_is_served(tmp_path: Path, field: str) -> None:
    loaded = load_stores(tmp_path, as_csv([store("s0"), store() | {field: '="08001"'}], STORE_FIELDS))
    assert warned(loaded.report.warnings) == [("formula", field, '="08001"')]
    assert len(rows(loaded)) == 2


@pytest.mark.parametrize("field", [field.name for field in STORES.fields if field.kind in (IDENTIFIER, WORDS, POSTAL)])
@pytest.mark.parametrize("text", ERRORS)
def test_an_error_value_of_a_spreadsheet_has_a_warning_in_every_text_field(
    tmp_path: Path, field: str, text: str
) -> None:
    records = as_csv([store() | {field: text}], STORE_FIELDS)
    loaded = load_files(
        tmp_path, {"companies.csv": as_csv([company(), company(text)], COMPANY_FIELDS), "stores.csv": records}
    )
    assert [each for each in warned(loaded.report.warnings) if each[0] != "parent"] == [
        ("spreadsheet", "company_id", text), ("spreadsheet", field, text)
    ]  # fmt: skip


def test_an_error_value_among_numbers_is_one_of_a_spreadsheet(tmp_path: Path) -> None:
    loaded = load_stores(tmp_path, as_csv([store(latitude="#REF!", longitude="#N/A")], STORE_FIELDS))
    assert warned(loaded.report.warnings) == [
        ("spreadsheet", "latitude", "#REF!"),
        ("placeholder", "longitude", "#N/A"),
    ]


@pytest.mark.parametrize("field", ["store_id", "postal_code", "phone_number", "parent_company_id"])
@pytest.mark.parametrize("text", ["4.2E+11", "4,20056E+11", "4.2e+11", "1E+05", " 1.00E+100"])
def test_a_number_that_a_spreadsheet_rounded_has_a_warning(tmp_path: Path, field: str, text: str) -> None:
    files = {"companies.csv": as_csv([company(), company(text)], COMPANY_FIELDS)}
    loaded = load_files(tmp_path, files | {"stores.csv": as_csv([store("s0"), store() | {field: text}], STORE_FIELDS)})
    assert warned(loaded.report.warnings) == [("exponent", "company_id", text), ("exponent", field, text)]
    assert len(rows(loaded)) == 2


@pytest.mark.parametrize(
    "fields",
    [
        {"name": "4.2E+11"},
        {"country": "FR", "latitude": "4.2E+01", "longitude": "9"},
        {"store_id": "1E5"},
        {"store_id": "A1E+05"},
        {"store_id": "#5"},
        {"address_2": "#200", "name": "#REF", "phone_number": "+4.2"},
    ],
)
def test_texts_that_no_spreadsheet_changed_have_no_warning(tmp_path: Path, fields: Record) -> None:
    assert load_stores(tmp_path, as_csv([store() | fields], STORE_FIELDS)).report.warnings == []


def test_texts_of_companies_are_checked(tmp_path: Path) -> None:
    loaded = load_companies(tmp_path, as_csv([company(domain="n/a"), company("c2", domain="a")], COMPANY_FIELDS))
    assert warned(loaded.report.warnings) == [("placeholder", "domain", "n/a")]


@given(st.sampled_from(TEXT_FIELDS), st.lists(TEXTS, max_size=6))
def test_texts_are_checked_together_like_each_alone(field: Field, cells: list[str | None]) -> None:
    keys = join_keys([field.kind.normalize(cell) if cell else None for cell in cells])
    judged = {cell: check_text(field, cell) for cell in cells if cell}
    assert check_texts(field, cells, keys) == {cell: flaw for cell, flaw in judged.items() if flaw is not None}


def test_placeholders_are_folded_and_real_values_are_placeholders() -> None:
    for field, text in itertools.product(TEXT_FIELDS, SPELLINGS):
        excepted = field.kind is IDENTIFIER or text.strip().lower() in REAL_VALUES.get(field.name, ())
        assert (check_text(field, text) is None) is excepted, (field.name, text)
