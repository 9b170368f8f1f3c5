"""A file with correct checksums but inconsistent arrays is refused: checksums do not authenticate."""

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given, strategies as st

from service.baking.arrays import is_sorted
from service.baking.baked_file import write_baked
from service.baking.layout import Array, DamagedFile
from service.baking.records import check_identifiers
from service.baking.tables import COLUMN, check_projection
from service.dataset import Dataset
from service.engine.columns.column import Column, StringArray
from service.engine.geography.z_order import zooms_of
from service.engine.results import map_clusters, page
from service.model.envelope import ClusterCollection, Facet
from service.model.parameters import map_parameters_of
from service.model.query import QueryParser, query_pairs
from service.model.records import COMPANIES, STORES
from tests.baking.forging import Forge
from tests.baking.random_datasets import baked_file, loaded, random_dataset
from tests.directory import store, write_directory
from tests.thoroughness import some_of

pytestmark = pytest.mark.slow

SIZES = (40, 12, 5, 4)  # of which some stores have a location, several at one point, and some have none
TEXTS = st.lists(st.binary(max_size=20) | st.text("\0ab", max_size=20).map(str.encode), max_size=6)


@pytest.fixture(scope="module")
def forge(tmp_path_factory: pytest.TempPathFactory) -> Forge:
    """Return a forge whose arrays have several items each."""
    folder = tmp_path_factory.mktemp("valid")
    return Forge(baked_file(random_dataset(SIZES).write(folder / "files"), folder / "valid.baked"))


def test_any_changed_item_in_an_array_that_orders_rows_is_refused(forge: Forge) -> None:
    """Each array has one other value at its start, middle and end; the values change from array to array."""
    ends = ("/codes", "/order", "/starts", "/rows/offsets")
    ordering = [name for name in sorted(forge.arrays) if name.endswith(ends)]
    for number, name in some_of(list(enumerate(ordering)), 2):
        array = forge.arrays[name]
        for place in {0, len(array) // 2, len(array) - 1}:
            values = {0, 1, len(array) - 1, len(array), int(np.iinfo(array.dtype).max)} - {int(array[place])}
            forge.refusal_of(name, place, sorted(values)[number // 3 % len(values)])


def accepts(codes: Sequence[int], order: Sequence[int], starts: Sequence[int]) -> bool:
    """Return whether a column of these arrays is valid."""
    made = Column(np.array(codes, np.uint8), np.array(order, np.int32), np.array(starts, np.int32), None)
    lengths: dict[str, int] = {}
    try:
        column = COLUMN.take("made", dict(COLUMN.arrays("made", made)), lengths, values=None)
        COLUMN.check("made", column, lengths)
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
    """All small columns that are built, and of the others all or some."""
    all_starts = [starts for count in range(1, length + 2) for starts in product(range(length + 1), repeat=count)]
    columns = list(product(product(range(codes), repeat=length), product(rows, repeat=length), all_starts))
    built = [column for column in columns if is_built(*column)]
    others = [column for column in columns if not is_built(*column)]
    assert built
    assert all(accepts(*column) for column in built)
    assert [column for column in some_of(others, 11 if length > 2 else 1) if accepts(*column)] == []


def test_starts_whose_differences_overflow_are_refused_without_allocating_memory(forge: Forge) -> None:
    largest = np.iinfo(np.int32).max
    for starts in ([0, largest, -2, 40], [0, largest, -2, largest, -2, 40]):  # in 32 bits each difference is positive
        changed = {"stores/name/starts": np.array(starts, np.int32)}
        assert forge.refusal(changed) == "the array stores/name/starts is not ascending; bake it again"


def test_codes_too_narrow_for_the_number_of_values_are_refused(tmp_path: Path) -> None:
    stores = [store(f"s{number}", name=f"name {number}") for number in range(300)]
    forge = Forge(baked_file(write_directory(tmp_path / "files", stores), tmp_path / "valid.baked"))
    codes = forge.arrays["stores/name/codes"]
    assert codes.max() > np.iinfo(np.uint8).max
    narrow = {"stores/name/codes": codes.astype(np.uint8)}  # in order still, but wrapped around
    assert forge.refusal(narrow) == "the starts of stores/name do not partition its rows; bake it again"


def test_a_large_code_is_rejected_before_memory_is_allocated(forge: Forge) -> None:
    codes = forge.arrays["stores/name/codes"].astype(np.uint32)
    codes[0] = np.iinfo(np.uint32).max  # counting up to it takes 32 GB
    changed = {"stores/name/codes": codes}
    assert forge.refusal(changed) == "the starts of stores/name do not partition its rows; bake it again"


@pytest.mark.parametrize("name", ["\x1b[2J", "a\nb", "\u202e"])
def test_a_name_in_a_forged_file_cannot_control_a_terminal(forge: Forge, name: str) -> None:
    why = forge.refusal({name: np.zeros(1, np.uint8)})
    assert why == f"unknown array {repr(name)[1:-1]}; bake it again"
    assert forge.refusal(None, **{name: "text"}).isprintable()


@pytest.mark.parametrize("field", ["stores/city", "companies/name"])
def test_unsorted_values_are_refused(forge: Forge, field: str) -> None:
    data, offsets = forge.arrays[f"{field}/values/data"], forge.arrays[f"{field}/values/offsets"]
    late, falling = data.copy(), offsets.copy()
    late[0], falling[1] = 0xFF, offsets[2] + 1
    for changed in ({f"{field}/values/data": late}, {f"{field}/values/offsets": falling}):
        assert field in forge.refusal(changed)


def test_damaged_text_indexes_are_refused(forge: Forge) -> None:
    offsets, starts, postings = (
        forge.arrays[f"stores/text/{part}"] for part in ("words/offsets", "starts", "postings")
    )
    repeated = next(place for place in range(len(starts) - 1) if starts[place + 1] - starts[place] > 1)
    first, second = int(starts[repeated]), int(starts[repeated]) + 1
    changes: list[tuple[str, int, int, str]] = [
        ("words/data", 0, 0xFF, "the strings of stores/text/words are not sorted"),
        ("words/offsets", 1, int(offsets[2]) + 1, "the array stores/text/words/offsets is not ascending"),
        ("starts", 1, 0, "the starts of stores/text are not ascending"),
        ("starts", 1, int(starts[2]), "the starts of stores/text are not ascending"),
        ("starts", 0, 1, "the array stores/text/starts does not cover all postings"),
        ("starts", -1, len(postings) + 1, "the array stores/text/starts does not cover all postings"),
        ("postings", 0, -1, "the array stores/text/postings is out of range"),
        ("postings", -1, 40, "the array stores/text/postings is out of range"),
        ("postings", first, int(postings[second]), "the postings of stores/text are not ascending"),
        ("postings", second, int(postings[first]), "the postings of stores/text are not ascending"),
    ]
    for name, place, value, why in changes:
        assert forge.refusal_of(f"stores/text/{name}", place, value) == why, (name, place, value)


def test_damaged_bitmaps_of_words_are_refused(tmp_path: Path) -> None:
    forge = Forge(baked_file(random_dataset((100, 12, 5, 4)).write(tmp_path / "files"), tmp_path / "valid.baked"))
    parts = ("dense/numbers", "dense/counts", "dense/bitmaps", "starts")
    numbers, counts, bitmaps, starts = (forge.arrays[f"stores/text/{part}"] for part in parts)
    counted = "the bitmaps of stores/text do not have as many rows as their counts"
    rows_that_do_not_exist = bitmaps | np.uint64(1 << 63)
    changes: list[tuple[str, Array, str]] = [
        ("dense/numbers", numbers[::-1].copy(), "the array stores/text/dense/numbers is not ascending"),
        ("dense/numbers", numbers + np.int32(len(starts)), "the array stores/text/dense/numbers is out of range"),
        ("dense/counts", counts + np.int32(1), counted),
        ("dense/bitmaps", bitmaps & np.uint64(0), counted),
        ("dense/bitmaps", rows_that_do_not_exist, counted),
        ("starts", np.sort(starts)[::-1].copy(), "the array stores/text/starts does not cover all postings"),
    ]
    for part, array, why in changes:
        assert forge.refusal({f"stores/text/{part}": array}) == f"{why}; bake it again", part


@pytest.mark.parametrize(
    "change",
    [lambda rows: [rows[0].replace(b"wifi", b"wafi"), *rows[1:]], lambda rows: rows[::-1]],
    ids=["another text", "rows exchanged"],
)
def test_texts_of_lists_that_their_first_record_does_not_have_are_refused(
    tmp_path: Path, change: Callable[[list[bytes]], list[bytes]]
) -> None:
    valid, forge = with_lists(tmp_path)
    rows = StringArray.of(change(list(valid.stores.rows)))
    changed = {"stores/rows/data": np.frombuffer(rows.data, np.uint8), "stores/rows/offsets": rows.offsets}
    why = "the stores/attributes.services/texts are not those of its records; bake it again"
    assert forge.refusal(changed) == why


def test_texts_that_no_list_has_are_refused(tmp_path: Path) -> None:
    valid, forge = with_lists(tmp_path)
    name, texts = "stores/attributes.services/texts", valid.stores.lists["attributes.services"]
    keys = StringArray.of([*texts.keys, b"zzz"])
    changed = {
        f"{name}/keys/data": np.frombuffer(keys.data, np.uint8),
        f"{name}/keys/offsets": keys.offsets,
        f"{name}/starts": np.append(texts.starts, texts.starts[-1:]),
    }
    assert forge.refusal(changed) == f"the array {name}/starts is not ascending; bake it again"


def with_lists(folder: Path) -> tuple[Dataset, Forge]:
    """Return a data set of stores with lists and without, and a forge of it."""
    stores = [store(f"s{number}", services=services) for number, services in enumerate(("wifi;atm", "", "WIFI;pool"))]
    write_directory(folder / "files", stores)
    (folder / "files" / "mapping.toml").write_text(
        '[stores.attributes]\nservices = { from = "services", kind = "list" }\n'
    )
    dataset = loaded(folder / "files")
    write_baked(dataset, folder / "valid.baked")
    return dataset, Forge(folder / "valid.baked")


@pytest.mark.parametrize(
    ("part", "item", "why"),
    [
        ("locations/order", (0, -1), "the array stores/locations/order is out of range"),
        ("locations/order", (-1, 40), "the array stores/locations/order is out of range"),
        ("locations/positions", (3, 40), "the positions of stores/locations are not those of its order"),
        ("locations/positions", (0, -1), "the positions of stores/locations are not those of its order"),
        ("locations/latitudes", (0, 90.00000000000001), "the array stores/locations/latitudes is out of range"),
        ("locations/latitudes", (-1, np.nan), "the array stores/locations/latitudes is out of range"),
        ("locations/longitudes", (0, -np.inf), "the array stores/locations/longitudes is out of range"),
        ("locations/longitudes", (0, 180.00000000000003), "the array stores/locations/longitudes is out of range"),
        ("locations/longitudes", (0, 179.0), "the cells of stores/locations are not those of its coordinates"),
        ("locations/cells", (1, 2**32 - 1), "the cells of stores/locations are not those of its coordinates"),
        ("locations/vectors", (0, np.nan), "the vectors of stores/locations do not have the length 1"),
        ("locations/vectors", (4, np.inf), "the vectors of stores/locations do not have the length 1"),
        ("locations/vectors", (-1, 2.0), "the vectors of stores/locations do not have the length 1"),
        ("z_order/order", (0, -1), "the array stores/z_order/order is out of range"),
        ("z_order/order", (-1, 40), "the array stores/z_order/order is out of range"),
        ("z_order/positions", (3, 40), "the positions of stores/z_order are not those of its order"),
        ("z_order/positions", (0, -1), "the positions of stores/z_order are not those of its order"),
        ("z_order/codes", (0, 2**47), "the array stores/z_order/codes is not ascending"),
        ("z_order/codes", (-1, 2**48), "the array stores/z_order/codes is out of range"),
        ("z_order/codes", (-1, 2**64 - 1), "the array stores/z_order/codes is out of range"),
        ("z_order/zooms", (0, 1), "the zooms of stores/z_order are not those of its codes"),
        ("z_order/latitudes", (0, 900_000_001), "the array stores/z_order/latitudes is out of range"),
        ("z_order/longitudes", (-1, -(2**31)), "the array stores/z_order/longitudes is out of range"),
    ],
)
def test_a_wrong_item_of_locations_or_the_z_order_is_refused(
    forge: Forge, part: str, item: tuple[int, float], why: str
) -> None:
    assert forge.refusal_of(f"stores/{part}", *item) == why


@pytest.mark.parametrize("change", [-1, 1])
def test_a_wrong_zoom_of_the_z_order_is_refused(forge: Forge, change: int) -> None:
    zooms = forge.arrays["stores/z_order/zooms"]
    for place in range(1, len(zooms)):
        why = forge.refusal_of("stores/z_order/zooms", place, (int(zooms[place]) + change) % 256)
        assert why == "the zooms of stores/z_order are not those of its codes"


def test_a_z_order_with_a_row_without_location_among_the_located_ones_is_refused(forge: Forge) -> None:
    order, count = forge.arrays["stores/z_order/order"].copy(), len(forge.arrays["stores/z_order/codes"])
    order[[0, count]] = order[[count, 0]]
    changed = {"stores/z_order/order": order, "stores/z_order/positions": np.argsort(order).astype(np.int32)}
    why = "the order of stores/z_order does not have the located rows first; bake it again"
    assert forge.refusal(changed) == why


@pytest.mark.parametrize("seed", range(20))
def test_a_z_order_that_is_not_that_of_the_locations_may_count_wrongly_but_never_fails(forge: Forge, seed: int) -> None:
    """Other codes with zooms that fit, other coordinates in range, rows anywhere along the curve."""
    random, name = np.random.default_rng(seed), "stores/z_order"
    count, length = len(forge.arrays[f"{name}/codes"]), len(forge.arrays[f"{name}/order"])
    codes = np.sort(random.integers(0, 2**48, count, dtype=np.uint64) >> np.uint64(random.choice((0, 0, 20, 47))))
    order = forge.arrays[f"{name}/order"].copy()
    random.shuffle(order[:count])
    random.shuffle(order[count:])
    changed: dict[str, Array] = {
        "codes": codes,
        "zooms": zooms_of(codes),
        "order": order,
        "positions": np.argsort(order).astype(np.int32),
        "latitudes": random.choice(np.array([-900_000_000, 0, 900_000_000], np.int32), count),
        "longitudes": random.integers(-1_800_000_000, 1_800_000_001, count, np.int32),
    }
    dataset = forge.dataset({f"{name}/{part}": array for part, array in changed.items()})
    parser, total = QueryParser(STORES, map_parameters_of(STORES)), []
    for box, more in product(("-180,-90,180,90", "10,-90,-10,90", "0,0,45,45"), ("", "is_open=true", "q=a")):
        for zoom in (0, 7, 22):
            query = parser.parse(query_pairs(f"bbox={box}&zoom={zoom}&{more}"), strict=False)
            features = msgspec.json.decode(
                b"".join(map_clusters(dataset.stores, query)), type=ClusterCollection
            ).features
            total.append(sum(each.properties.count for each in features))
            for each in features:
                longitude, latitude = each.geometry.coordinates
                assert abs(latitude) <= 90
                assert abs(longitude) <= 180
    assert max(total) <= length


@pytest.mark.parametrize("located", [True, False])
def test_locations_out_of_order_are_refused(forge: Forge, *, located: bool) -> None:
    """Two rows at one point, or two without one, have each other's place."""
    count, name = len(forge.arrays["stores/locations/cells"]), "stores/locations/order"
    cells, order = forge.arrays["stores/locations/cells"], forge.arrays[name].copy()
    assert 1 < count < len(order) - 1
    first = int((cells[1:] == cells[:-1]).argmax()) if located else count
    order[[first, first + 1]] = order[[first + 1, first]]
    changed = {name: order, "stores/locations/positions": np.argsort(order).astype(np.int32)}
    assert forge.refusal(changed) == "the order of stores/locations is not sorted by cell; bake it again"


def with_rows(forge: Forge, *rows: bytes) -> dict[str, Array]:
    """Return the arrays of stores with the last rows replaced."""
    before = StringArray(forge.arrays["stores/rows/data"].data, forge.arrays["stores/rows/offsets"])
    changed = StringArray.of([*list(before)[: -len(rows)], *rows])
    return {"stores/rows/data": np.frombuffer(changed.data, np.uint8), "stores/rows/offsets": changed.offsets}


FLAT = b'"company_id":"acme","address_1":"","city":"","country":""}'
ROW = b'{"store_id":"s",' + FLAT
DEEP = b"[" * 2_000 + b"]" * 2_000


@pytest.mark.parametrize(
    "rows",
    [
        *([b"x" + ROW + b","], [ROW + b",x"], [ROW + b" "], [ROW], [b"{}"], [b"{},"], [b","], [b""]),
        *([ROW[:-1] + b',"city":x},'], [ROW[:-1] + b',"city":5},'], [ROW[:-1] + b',"\\u001b[2J":1},']),
        *([ROW[:-1] + b',"name":"\xff"},'], [ROW[:-1] + b',"name":' + DEEP + b"},"]),
        *([ROW + ROW + b",", ROW[:-1] + b","], [ROW[:-1] + b',"name":"},', b'{",' + FLAT + b","], [b" " + ROW + b","]),
    ],
    ids=lambda rows: repr(rows[0][:24] + rows[0][-16:]),
)
def test_a_row_that_is_not_one_record_is_refused(forge: Forge, rows: list[bytes]) -> None:
    number = len(forge.arrays["stores/created_at/codes"]) - len(rows)
    assert forge.refusal(with_rows(forge, *rows)).startswith(f"row {number} of stores is not a record: ")


def test_a_facet_of_a_record_without_the_value_of_its_column_is_null(forge: Forge) -> None:
    dataset = forge.dataset(with_rows(forge, *[ROW + b","] * len(forge.arrays["stores/created_at/codes"])))
    query = QueryParser(STORES).parse(query_pairs("facets=province&fields=province"), strict=True)
    found = page(dataset.stores, query)
    assert isinstance(found.facets, dict)
    facet = msgspec.json.decode(found.facets["province"], type=Facet)
    assert {each.value for each in facet.values} == {None}
    assert b"".join(found.rows) == b",".join([b"{}"] * len(dataset.stores))


@pytest.mark.parametrize("version", ["", "x" * 16, "0" * 15, "0" * 17, "\x1b[2J" + "0" * 12, "ABCDEF0123456789"])
def test_an_invalid_version_is_refused(forge: Forge, version: str) -> None:
    assert "version" in forge.refusal(version=version)


def test_verify_finds_a_row_whose_record_has_another_identifier(forge: Forge) -> None:
    dataset = forge.dataset(with_rows(forge, ROW + b","))
    with pytest.raises(DamagedFile, match=f"^row {len(dataset.stores) - 1} of stores has another identifier"):
        check_identifiers(STORES, dataset.stores)


def other_z_orders(forge: Forge) -> Iterator[tuple[str, dict[str, Array]]]:
    """Yield Z-orders that `serve` accepts, and the part that is not that of the locations: rows, or a single number."""
    parts = ("order", "codes", "latitudes", "longitudes")
    order, codes, *units = (forge.arrays[f"stores/z_order/{part}"] for part in parts)
    for place in range(1, len(codes)):
        swapped = order.copy()
        swapped[[place - 1, place]] = swapped[[place, place - 1]]
        yield "order", {"order": swapped, "positions": np.argsort(swapped).astype(np.int32)}
    for place in range(len(codes)):
        shifted = np.append(codes[:place], codes[place:] + np.uint64(1))
        yield "codes", {"codes": shifted, "zooms": zooms_of(shifted)}
        for part, numbers in zip(("latitudes", "longitudes"), units, strict=True):
            other = numbers.copy()
            other[place] += -1 if other[place] > 0 else 1
            yield part, {part: other}


@pytest.mark.ci
def test_verify_finds_a_z_order_that_is_not_that_of_the_locations(forge: Forge) -> None:
    for part, changed in other_z_orders(forge):
        dataset = forge.dataset({f"stores/z_order/{name}": array for name, array in changed.items()})
        with pytest.raises(DamagedFile, match=rf"^stores/z_order/{part} is not that of the locations$"):
            check_projection(STORES, dataset.stores)


def test_verify_accepts_the_z_order_of_the_locations(forge: Forge) -> None:
    dataset = forge.dataset({})
    check_projection(STORES, dataset.stores)
    check_projection(COMPANIES, dataset.companies)


@given(TEXTS)
def test_strings_are_sorted_if_their_bytes_are(texts: list[bytes]) -> None:
    for each in (texts, sorted(texts), sorted(set(texts))):
        assert is_sorted(StringArray.of(each)) is all(one < other for one, other in pairwise(each))


def test_long_strings_with_a_common_prefix_are_compared_completely() -> None:
    texts: list[Any] = [b"store-" * 10 + b"%07d" % number for number in range(3000)]
    assert is_sorted(StringArray.of(texts))
    texts[1500], texts[1501] = texts[1501], texts[1500]
    assert not is_sorted(StringArray.of(texts))
