"""A file with correct checksums but wrong arrays or metadata is one clear error."""

from pathlib import Path

import numpy as np
import pytest

from service import __version__
from service.baking.layout import FORMAT
from tests.baking.forging import Forge
from tests.baking.random_datasets import small_file
from tests.thoroughness import some_of

pytestmark = pytest.mark.slow

READ = f"store-directory {__version__} reads {FORMAT!r}; bake it with this version, or run the version that baked it"
DTYPES = [np.dtype(name) for name in ("u2", "u4", "i4", "f8")]


@pytest.fixture
def forge(tmp_path: Path) -> Forge:
    return Forge(small_file(tmp_path))


def test_a_missing_array_is_refused(forge: Forge) -> None:
    for name in forge.arrays:
        assert forge.refusal({name: None}) == f"the array {name} is missing; bake it again"


def test_an_unknown_array_is_refused(forge: Forge) -> None:
    for name in ("stores/rows", "stores/name/values/data", "companies/city/codes", "x"):
        array = np.zeros(3, np.uint8)
        assert forge.refusal({name: array}) == f"unknown array {name}; bake it again"


@pytest.mark.ci
def test_an_array_of_a_wrong_length_is_refused(forge: Forge) -> None:
    for name, array in some_of(list(forge.arrays.items()), 3):
        if name.startswith("characters/") or not len(array):
            continue  # nothing else says how many they are, or so few rows have no dense words
        # Of a field that is only sorted by, nothing else says how many values it has.
        wrong = [array[:0]] if name in only_starts(forge) else [array[:0], array[:-1], np.append(array, array[-1:])]
        for other in wrong:
            assert part(name) in forge.refusal({name: other.copy()}), name


def only_starts(forge: Forge) -> set[str]:
    """Return the names of the `starts` of columns without values."""
    fields = {name.removesuffix("/starts") for name in forge.arrays if name.endswith("/starts")}
    return {f"{field}/starts" for field in fields if f"{field}/values/data" not in forge.arrays}


def part(name: str) -> str:
    """Return what an error of an array names at least: its resource, and its field if it has one."""
    resource, field, *_ = name.split("/")
    return resource if field == "rows" else f"{resource}/{field}"


@pytest.mark.ci
def test_an_array_of_a_wrong_type_is_refused(forge: Forge) -> None:
    for name, array in some_of(list(forge.arrays.items()), 3):
        # Codes and offsets are as wide as their number needs, so any width is theirs.
        alike = "u" if name.endswith(("/codes", "/offsets")) else array.dtype.str[1:]
        for dtype in DTYPES:
            if not dtype.str[1:].startswith(alike):
                assert part(name) in forge.refusal({name: array.astype(dtype)}), (name, dtype)


@pytest.mark.parametrize(
    ("texts", "why"),
    [
        ({"format": None}, f"the file has no format, {READ}"),
        ({"format": "store-directory 3"}, f"the file has the format 'store-directory 3', {READ}"),
        ({"format": "x" * 1000}, f"the file has the format '{'x' * 199}…, {READ}"),
        ({"unicode": "14.0.0"}, "the metadata is invalid: "),
        ({"version": None}, "the metadata is invalid: "),
        ({"more": "x"}, "the metadata is invalid: "),
        ({"crc32:none": "00000000"}, "the metadata is invalid: "),
        ({"totals": None}, "the metadata is invalid: "),
        ({"totals": ""}, "the metadata is invalid: "),
        ({"totals": "{}"}, "the metadata is invalid: "),
        ({"generated_at": "yesterday"}, "the metadata is invalid: "),
        ({"as_of": "yesterday"}, "the metadata is invalid: "),
        ({"attributes": "[]"}, "the metadata is invalid: "),
        ({"numbered": "[]"}, "the metadata is invalid: "),
        ({"numbered": '{"stores/city/codes":-1}'}, "the metadata is invalid: "),
        ({"numbered": "{}"}, "the array numbers is missing"),
        ({"attributes": '{"stores":[{"name":"x y","kind":"text"}]}'}, "the metadata is invalid: "),
        ({"attributes": '{"stores":[{"name":"x\\n","kind":"text"}]}'}, "the metadata is invalid: "),
        ({"attributes": '{"stores":[{"name":"x","kind":"object"}]}'}, "the metadata is invalid: "),
        ({"attributes": '{"stores":[{"name":"x","kind":"text"},{"name":"x","kind":"text"}]}'}, "the "),
    ],
)
def test_invalid_metadata_is_refused(forge: Forge, texts: dict[str, str | None], why: str) -> None:
    assert forge.refusal(None, **texts).startswith(why)


def test_a_part_of_a_column_that_is_not_in_the_numbers_is_refused(forge: Forge) -> None:
    name = "stores/store_id/starts"
    numbers = forge.arrays[name].copy()
    refusals = [
        forge.refusal({name: array, "numbers": found}, numbered=f'{{"{name}":{length}}}')
        for array, found, length in (
            (numbers, numbers, len(numbers)),  # it is stored, too
            (None, numbers, len(numbers) + 1),
            (None, numbers, len(numbers) - 1),
            (None, numbers[::-1].copy(), len(numbers)),
        )
    ]
    assert refusals == [
        *["the metadata is invalid: stores/store_id/starts is not the beginning of the numbers; bake it again"] * 2,
        "the array stores/store_id/values/offsets does not have the length of the others; bake it again",
        "the array stores/store_id/starts is not ascending; bake it again",
    ]


@pytest.mark.parametrize(("stores", "companies"), [(0, 1), (2, 1), (1, 0), (1, 2), (-1, 1)])
def test_totals_that_do_not_match_the_tables_are_refused(forge: Forge, *, stores: int, companies: int) -> None:
    totals = f'{{"stores":{stores},"companies":{companies},"skipped":0,"repeated":0}}'
    assert forge.refusal(totals=totals) == "the lengths of the tables do not match the metadata; bake it again"
