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
    as_csv,
    as_lines,
    company,
    load_companies,
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


@pytest.mark.parametrize("name", ["stores.csv", "stores.jsonl"])
def test_suspicious_texts_have_a_warning_and_are_served(tmp_path: Path, name: str) -> None:
    changed = {
        "name": "N/A",
        "postal_code": '="08001"',
        "phone_number": "4.2E+11",
        "latitude": "#REF!",
        "longitude": "-",
    }
    records = [store("s0"), *(store(field, **{field: text}) for field, text in changed.items())]
    loaded = load_stores(tmp_path, as_csv(records, STORE_FIELDS) if name.endswith("csv") else as_lines(records), name)
    found = {(each.record, each.code, each.field, each.value) for each in loaded.report.warnings}
    codes = ("placeholder", "formula", "exponent", "spreadsheet", "placeholder")
    assert found == {
        (record, code, *cell) for record, (code, cell) in enumerate(zip(codes, changed.items(), strict=True), 2)
    }
    assert len(rows(loaded)) == len(records)


def code(field: str, text: str) -> str | None:
    """Return the code of the issue of a text in a field of stores, if it has one."""
    issue = check_text(STORES.field(field), text)
    return None if issue is None else issue.code


@pytest.mark.parametrize("field", ["name", "address_2", "city", "province", "postal_code", "phone_number"])
def test_a_placeholder_has_a_warning(field: str) -> None:
    texts = ["NULL", "null", "N/A", "n/a", "-", "--", "#N/A", "(null)", r"\N", "undefined", "() -"]
    assert {code(field, text) for text in texts} == {"placeholder"}


@pytest.mark.parametrize(
    ("field", "texts"),
    {
        "country": ["NA"],  # Namibia
        "province": ["NA", "Nan"],
        "city": ["None", "Nan", "Napoli"],
        "name": ["None", "NA", "N/A Streetwear", "4.2E+11", "#REF"],
        "store_id": ["-", "1E5", "A1E+05", "#5"],
        "address_2": ["no 5", "#200"],
        "phone_number": ["-1", "+4.2"],
        "postal_code": ["NA1"],
    }.items(),
)
def test_a_real_value_of_a_field_has_no_warning(field: str, texts: Sequence[str]) -> None:
    assert {code(field, text) for text in texts} == {None}


@pytest.mark.parametrize("field", ["address_1", "address_2", "postal_code", "phone_number"])
def test_a_possible_name_is_a_placeholder_in_other_fields(field: str) -> None:
    assert {code(field, text) for text in ("NA", "None", "NaN")} == {"placeholder"}


@pytest.mark.parametrize("field", ["store_id", "name", "postal_code", "phone_number"])
def test_a_spreadsheet_formula_has_a_warning(field: str) -> None:
    assert code(field, '="08001"') == "formula"


@pytest.mark.parametrize("field", TEXT_FIELDS, ids=lambda field: field.name)
def test_an_error_value_of_a_spreadsheet_has_a_warning_in_every_text_field(field: Field) -> None:
    issues = [check_text(field, text) for text in ERRORS]
    assert {issue and issue.code for issue in issues} == {"spreadsheet"}


@pytest.mark.parametrize("field", ["store_id", "company_id", "postal_code", "phone_number", "parent_company_id"])
def test_a_number_that_a_spreadsheet_rounded_has_a_warning(field: str) -> None:
    texts = ["4.2E+11", "4,20056E+11", "4.2e+11", "1E+05", " 1.00E+100"]
    assert {code(field, text) for text in texts} == {"exponent"}


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
