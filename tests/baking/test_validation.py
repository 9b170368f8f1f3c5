"""A file with correct checksums but inconsistent arrays is refused: checksums do not authenticate."""

from collections.abc import Callable, Sequence
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from service.baking.baked_file import bake, load_baked
from service.baking.layout import Array, DamagedFile, map_file, write_file
from service.baking.validation import check_column, check_records, is_sorted
from service.engine.column import Column
from service.engine.string_array import StringArray
from service.model.records import STORES
from tests.baking.made_up import loaded, make
from tests.baking.test_damage import refusal
from tests.directory import store, write_directory

SIZES = (40, 12, 5, 4)  # of which some stores have a location, several at one point, and some have none
TEXTS = st.lists(st.binary(max_size=20) | st.text("\0ab", max_size=20).map(str.encode), max_size=6)


@pytest.fixture(scope="module")
def arrays(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Array]:
    """Return the arrays of a valid file, each with several items."""
    folder = tmp_path_factory.mktemp("valid")
    dataset, totals = loaded(make(SIZES).write(folder / "files"))
    bake(dataset, totals, folder / "valid.baked")
    return dict(map_file(folder / "valid.baked").arrays)


@pytest.fixture(scope="module")
def forged(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Return a function that writes a valid file with some arrays and texts replaced, and correct checksums."""
    folder = tmp_path_factory.mktemp("forged")
    dataset, totals = loaded(make(SIZES).write(folder / "files"))
    bake(dataset, totals, folder / "valid.baked")
    content = map_file(folder / "valid.baked")

    def forge(changed: dict[str, Array] | None = None, **texts: str) -> Path:
        file = folder / "forged.baked"
        write_file(file, content.arrays | (changed or {}), content.metadata | texts, durable=False)
        return file

    return forge


def test_any_changed_item_in_an_array_that_orders_rows_is_refused(
    arrays: dict[str, Array], forged: Callable[..., Path]
) -> None:
    """Each array has one other value at its start, middle and end; the values change from array to array."""
    ordering = [name for name in sorted(arrays) if name.endswith(("/codes", "/order", "/starts", "/rows/offsets"))]
    for number, name in enumerate(ordering):
        array = arrays[name]
        for place in {0, len(array) // 2, len(array) - 1}:
            values = {0, 1, len(array) - 1, len(array), int(np.iinfo(array.dtype).max)} - {int(array[place])}
            other = array.copy()
            other[place] = sorted(values)[number // 3 % len(values)]
            assert "bake it again" in refusal(forged({name: other})), (name, place, other[place])


def accepts(codes: Sequence[int], order: Sequence[int], starts: Sequence[int]) -> bool:
    """Return whether a column of these arrays is valid."""
    column = Column(np.array(codes, np.uint8), np.array(order, np.int32), np.array(starts, np.int32), None)
    try:
        check_column("made/up", column)
    except DamagedFile:
        return False
    return True


def is_built(codes: Sequence[int], order: Sequence[int], starts: Sequence[int]) -> bool:
    """Return whether a column is consistent, by the definition of order and starts."""
    null_code = len(starts) - 1
    return (
        set(range(null_code)) <= set(codes) <= set(range(null_code + 1))
        and list(order) == sorted(range(len(codes)), key=lambda row: (codes[row], row))
        and list(starts) == [sum(code < start for code in codes) for start in range(len(starts))]
    )


@pytest.mark.parametrize(("length", "codes", "rows"), [(0, 1, range(1)), (2, 3, range(-1, 3)), (3, 2, range(3))])
def test_only_columns_built_from_their_codes_are_valid(length: int, codes: int, rows: range) -> None:
    """All small columns."""
    all_starts = [starts for count in range(1, length + 2) for starts in product(range(length + 1), repeat=count)]
    all_orders = product(rows, repeat=length)
    columns = list(product(product(range(codes), repeat=length), all_orders, all_starts))
    valid = [column for column in columns if accepts(*column)]
    assert valid == [column for column in columns if is_built(*column)]
    assert valid


def test_starts_whose_differences_overflow_are_refused_without_allocating_memory(forged: Callable[..., Path]) -> None:
    largest = np.iinfo(np.int32).max
    for starts in ([0, largest, -2, 40], [0, largest, -2, largest, -2, 40]):  # in 32 bits each difference is positive
        changed = {"stores/name/starts": np.array(starts, np.int32)}
        assert refusal(forged(changed)) == "the starts of stores/name do not partition its rows; bake it again"


def test_codes_too_narrow_for_the_number_of_values_are_refused(tmp_path: Path) -> None:
    stores = [store(f"s{number}", name=f"name {number}") for number in range(300)]
    write_directory(tmp_path / "files", stores)
    dataset, totals = loaded(tmp_path / "files")
    bake(dataset, totals, tmp_path / "valid.baked")
    content = map_file(tmp_path / "valid.baked")
    codes = content.arrays["stores/name/codes"]
    assert codes.max() > np.iinfo(np.uint8).max
    narrow = {"stores/name/codes": codes.astype(np.uint8)}  # in order still, but wrapped around
    write_file(tmp_path / "forged.baked", content.arrays | narrow, content.metadata)
    assert refusal(tmp_path / "forged.baked") == "the starts of stores/name do not partition its rows; bake it again"


def test_a_large_code_is_rejected_before_memory_is_allocated(
    arrays: dict[str, Array], forged: Callable[..., Path]
) -> None:
    codes = arrays["stores/name/codes"].astype(np.uint32)
    codes[0] = np.iinfo(np.uint32).max  # counting up to it takes 32 GB
    changed = {"stores/name/codes": codes}
    assert refusal(forged(changed)) == "the starts of stores/name do not partition its rows; bake it again"


@pytest.mark.parametrize("name", ["\x1b[2J", "a\nb", "\u202e"])
def test_a_name_in_a_forged_file_cannot_control_a_terminal(forged: Callable[..., Path], name: str) -> None:
    why = refusal(forged({name: np.zeros(1, np.uint8)}))
    assert why == f"unknown array {repr(name)[1:-1]}; bake it again"
    assert refusal(forged(**{name: "text"})).isprintable()


@pytest.mark.parametrize("field", ["stores/city", "companies/name"])
def test_unsorted_values_are_refused(arrays: dict[str, Array], forged: Callable[..., Path], field: str) -> None:
    data, offsets = arrays[f"{field}/values/data"], arrays[f"{field}/values/offsets"]
    late, falling = data.copy(), offsets.copy()
    late[0], falling[1] = 0xFF, offsets[2] + 1
    for changed in ({f"{field}/values/data": late}, {f"{field}/values/offsets": falling}):
        assert field in refusal(forged(changed))


def test_damaged_text_indexes_are_refused(arrays: dict[str, Array], forged: Callable[..., Path]) -> None:
    words, offsets, starts, postings = (
        arrays[f"stores/text/{part}"] for part in ("words/data", "words/offsets", "starts", "postings")
    )
    repeated = next(place for place in range(len(starts) - 1) if starts[place + 1] - starts[place] > 1)
    first, second = int(starts[repeated]), int(starts[repeated]) + 1
    changes: list[tuple[str, Array, int, int, str]] = [
        ("words/data", words, 0, 0xFF, "the strings of stores/text/words are not sorted"),
        ("words/offsets", offsets, 1, int(offsets[2]) + 1, "the offsets of stores/text/words are not ascending"),
        ("starts", starts, 1, 0, "the starts of stores/text are not ascending"),
        ("starts", starts, 1, int(starts[2]), "the starts of stores/text are not ascending"),
        ("starts", starts, 0, 1, "the index stores/text does not have one start for each word"),
        ("starts", starts, -1, len(postings) + 1, "the index stores/text does not have one start for each word"),
        ("postings", postings, 0, -1, "the postings of stores/text have rows that do not exist"),
        ("postings", postings, -1, 40, "the postings of stores/text have rows that do not exist"),
        ("postings", postings, first, int(postings[second]), "the postings of stores/text are not ascending"),
        ("postings", postings, second, int(postings[first]), "the postings of stores/text are not ascending"),
    ]
    for name, array, place, value, why in changes:
        other = array.copy()
        other[place] = value
        assert refusal(forged({f"stores/text/{name}": other})) == f"{why}; bake it again", (name, place, value)


@pytest.mark.parametrize(
    ("part", "item", "why"),
    [
        ("order", (0, -1), "the order of stores/locations has rows that do not exist"),
        ("order", (-1, 40), "the order of stores/locations has rows that do not exist"),
        ("places", (3, 40), "the places of stores/locations are not those of its order"),
        ("places", (0, -1), "the places of stores/locations are not those of its order"),
        ("latitudes", (0, 90.00000000000001), "the coordinates of stores/locations are out of range"),
        ("latitudes", (-1, np.nan), "the coordinates of stores/locations are out of range"),
        ("longitudes", (0, -np.inf), "the coordinates of stores/locations are out of range"),
        ("longitudes", (0, 180.00000000000003), "the coordinates of stores/locations are out of range"),
        ("longitudes", (0, 179.0), "the cells of stores/locations are not those of its coordinates"),
        ("cells", (1, 2**32 - 1), "the cells of stores/locations are not those of its coordinates"),
        ("vectors", (0, np.nan), "the vectors of stores/locations do not have the length 1"),
        ("vectors", (4, np.inf), "the vectors of stores/locations do not have the length 1"),
        ("vectors", (-1, 2.0), "the vectors of stores/locations do not have the length 1"),
    ],
)
def test_a_wrong_item_of_locations_is_refused(
    arrays: dict[str, Array], forged: Callable[..., Path], part: str, item: tuple[int, float], why: str
) -> None:
    array = arrays[f"stores/locations/{part}"].copy()
    array[item[0]] = item[1]
    assert refusal(forged({f"stores/locations/{part}": array})) == f"{why}; bake it again"


@pytest.mark.parametrize("located", [True, False])
def test_locations_out_of_order_are_refused(
    arrays: dict[str, Array], forged: Callable[..., Path], *, located: bool
) -> None:
    """Two rows at one point, or two without one, have each other's place."""
    count, name = len(arrays["stores/locations/cells"]), "stores/locations/order"
    cells, order = arrays["stores/locations/cells"], arrays[name].copy()
    assert 1 < count < len(order) - 1
    first = int((cells[1:] == cells[:-1]).argmax()) if located else count
    order[[first, first + 1]] = order[[first + 1, first]]
    changed = {name: order, "stores/locations/places": np.argsort(order).astype(np.int32)}
    assert refusal(forged(changed)) == "the order of stores/locations is not sorted by cell; bake it again"


def test_a_repeated_row_of_locations_is_refused(arrays: dict[str, Array], forged: Callable[..., Path]) -> None:
    order = arrays["stores/locations/order"].copy()
    order[0] = order[1]
    why = "the places of stores/locations are not those of its order; bake it again"
    assert refusal(forged({"stores/locations/order": order})) == why


def test_rows_that_are_not_objects_are_refused(arrays: dict[str, Array], forged: Callable[..., Path]) -> None:
    for place in (0, -1, -2):
        data = arrays["stores/rows/data"].copy()
        data[place] = ord("x")
        assert refusal(forged({"stores/rows/data": data})) == "a row of stores/rows is not a record; bake it again"


@pytest.mark.parametrize("version", ["", "x" * 16, "0" * 15, "0" * 17, "\x1b[2J" + "0" * 12, "ABCDEF0123456789"])
def test_an_invalid_version_is_refused(forged: Callable[..., Path], version: str) -> None:
    assert "version" in refusal(forged(version=version))


def test_verify_finds_a_row_whose_record_has_another_identifier(
    arrays: dict[str, Array], forged: Callable[..., Path]
) -> None:
    for old, new in ((b'"store_id":"', b'"store_iD":"'), (b'"city":"', b'"city":x'), (b'"is_open":', b'"is_open" ')):
        data = np.frombuffer(arrays["stores/rows/data"].tobytes().replace(old, new, 1), np.uint8)
        dataset = load_baked(forged({"stores/rows/data": data})).dataset
        assert dataset is not None
        with pytest.raises(DamagedFile, match="row 0 of stores is not a record"):
            check_records(STORES, dataset.stores)


@given(TEXTS)
def test_strings_are_sorted_if_their_bytes_are(texts: list[bytes]) -> None:
    for each in (texts, sorted(texts), sorted(set(texts))):
        assert is_sorted(StringArray.of(each)) is all(one < other for one, other in pairwise(each))


def test_long_strings_with_a_common_prefix_are_compared_completely() -> None:
    texts: list[Any] = [b"store-" * 10 + b"%07d" % number for number in range(3000)]
    assert is_sorted(StringArray.of(texts))
    texts[1500], texts[1501] = texts[1501], texts[1500]
    assert not is_sorted(StringArray.of(texts))
