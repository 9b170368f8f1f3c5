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
from tests.loading.data_files import COMPANY_FIELDS, as_csv, as_lines, company, load_companies, load_stores, rows, store

pytestmark = pytest.mark.slow

TEXT_FIELDS = [field for field in (*STORES.fields, *COMPANIES.fields) if field.kind in (IDENTIFIER, WORDS, POSTAL)]
SPELLINGS = [spelled(text) for text in sorted(PLACEHOLDERS) for spelled in (str, str.upper, str.title, " {} ".format)]
ERRORS = ["#REF!", "#NAME?", "#VALUE!", "#DIV/0!", "#NULL!", "#BEZUG!", "#NV", "#¡REF!", "#VALEUR!"]
OTHERS = ["#ref!", "#5", "4.2E+11", "4,2e+11", "E+", '="08001"', '="', '="a"b"', "n", "na na", "-a", "nagoya", "a", ""]
TEXTS = st.sampled_from([*SPELLINGS, *ERRORS, *OTHERS, None])


def test_suspicious_texts_have_a_warning_and_are_served(tmp_path: Path) -> None:
    changed = {"name": "N/A", "postal_code": '="08001"', "phone_number": "4.2E+11"}
    changed |= {"latitude": "#REF!", "longitude": "-"}
    codes = ("placeholder", "formula", "exponent", "spreadsheet", "placeholder")
    records = [store("s0"), *(store(field, **{field: text}) for field, text in changed.items())]
    for name, content in (("stores.csv", as_csv(records)), ("stores.jsonl", as_lines(records))):
        loaded = load_stores(tmp_path, content, name)
        found = {(each.record, each.code, each.field, each.value) for each in loaded.report.warnings}
        assert found == {(at, codes[at - 2], *cell) for at, cell in enumerate(changed.items(), 2)}
        assert len(rows(loaded)) == len(records)


def code(field: str, text: str) -> str | None:
    """Return the code of the issue of a text in a field of stores, if it has one."""
    issue = check_text(STORES.field(field), text)
    return None if issue is None else issue.code


WRITTEN = ["NULL", "null", "N/A", "n/a", "-", "--", "#N/A", "(null)", r"\N", "undefined", "() -"]
EXPONENTS = ["4.2E+11", "4,20056E+11", "4.2e+11", "1E+05", " 1.00E+100"]
# Some fields, some texts, and the code that each has in each.
CODES: list[tuple[str, list[str], str | None]] = [
    ("name address_2 city province postal_code phone_number", WRITTEN, "placeholder"),
    ("address_1 address_2 postal_code phone_number", ["NA", "None", "NaN"], "placeholder"),  # names in other fields
    ("store_id name postal_code phone_number", ['="08001"'], "formula"),
    ("store_id company_id postal_code phone_number parent_company_id", EXPONENTS, "exponent"),
    # Real values.
    ("country", ["NA"], None),  # Namibia
    ("province", ["NA", "Nan"], None),
    ("city", ["None", "Nan", "Napoli"], None),
    ("name", ["None", "NA", "N/A Streetwear", "4.2E+11", "#REF"], None),
    ("store_id", ["-", "1E5", "A1E+05", "#5"], None),
    ("address_2", ["no 5", "#200"], None),
    ("phone_number", ["-1", "+4.2"], None),
    ("postal_code", ["NA1"], None),
]


@pytest.mark.parametrize(("fields", "texts", "expected"), CODES)
def test_a_text_has_the_code_that_it_has_in_its_field(fields: str, texts: Sequence[str], expected: str | None) -> None:
    found = {(field, text): code(field, text) for field in fields.split() for text in texts}
    assert found == dict.fromkeys(found, expected)


@pytest.mark.parametrize("field", TEXT_FIELDS, ids=lambda field: field.name)
def test_an_error_value_of_a_spreadsheet_has_a_warning_in_every_text_field(field: Field) -> None:
    issues = [check_text(field, text) for text in ERRORS]
    assert {issue and issue.code for issue in issues} == {"spreadsheet"}


def test_texts_of_companies_are_checked(tmp_path: Path) -> None:
    loaded = load_companies(tmp_path, as_csv([company(domain="n/a"), company("c2", domain="a")], COMPANY_FIELDS))
    assert [(each.code, each.value) for each in loaded.report.warnings] == [("placeholder", "n/a")]


@given(st.sampled_from(TEXT_FIELDS), st.lists(TEXTS, max_size=6))
def test_texts_are_checked_together_like_each_alone(field: Field, cells: list[str | None]) -> None:
    keys = join_keys([field.kind.normalize(cell) if cell else None for cell in cells])
    judged = {cell: check_text(field, cell) for cell in cells if cell}
    assert check_texts(field, cells, keys) == {cell: flaw for cell, flaw in judged.items() if flaw is not None}


def test_placeholders_are_folded_and_real_values_are_placeholders() -> None:
    for field, text in itertools.product(TEXT_FIELDS, SPELLINGS):
        excepted = field.kind is IDENTIFIER or text.strip().lower() in REAL_VALUES.get(field.name, ())
        assert (check_text(field, text) is None) is excepted, (field.name, text)
