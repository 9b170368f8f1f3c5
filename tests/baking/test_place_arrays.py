"""Places in a file with correct checksums but inconsistent arrays are refused, or answer any search."""

from pathlib import Path

import msgspec
import numpy as np
import pytest

from service.baking.baked_file import write_baked
from service.dataset import ReadOptions, Rejected
from service.engine.place_search import search
from service.loading.dataset import load
from service.model.query import PlaceQueryParser
from tests.baking.forging import Forge
from tests.directory import store, write_directory
from tests.program import run_here

pytestmark = pytest.mark.slow

SEARCHES = ["a", "ulm", "ulm 8", "!!", "89079", "ulmm", "a b", "bon x"]


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a file with places of every kind: of stores, of a list, with a province of another store."""
    folder = tmp_path_factory.mktemp("valid")
    cities = [("Ulm", None), ("Ulm", "BW"), ("Bonn", "NW"), ("Aach", None), ("Å B", "x")]
    stores = [
        store(f"s{number}", city=city, province=province, country="DE", postal_code=f"8907{number}", latitude="48.4")
        | {"longitude": f"{number}.98"}
        for number, (city, province) in enumerate(cities)
    ]
    listed = folder / "list.csv"
    listed.write_text("name,kind,country,latitude,longitude,city\nA.1,postal_code,FR,1,1,Ab\nOulu,city,FI,65,25,\n")
    loaded = load(write_directory(folder / "data", stores), options=ReadOptions(places=str(listed)))
    assert loaded.dataset is not None
    write_baked(loaded.dataset, baked := folder / "valid.baked")
    return baked


@pytest.fixture(scope="module")
def forge(file: Path) -> Forge:
    return Forge(file)


WRONG = [
    ("firsts", 0, 5, "the stores of places are out of range"),
    ("firsts", 0, -5, "the stores of places are out of range"),
    ("are_cities", 0, 2, "the array places/are_cities is out of range"),
    ("stores", 0, -1, "the array places/stores is out of range"),
    ("ranks", 0, 1, "the ranks of places are not those of an order"),
    ("ranks", 0, 99, "the array places/ranks is out of range"),
    ("vectors", 0, 2.0, "the vectors of places do not have the length 1"),
    ("vectors", 0, np.nan, "the vectors of places do not have the length 1"),
    ("countries", 0, 4, "the countries of places are out of range"),
    ("spoken/numbers", 0, 99, "the array places/spoken/numbers is out of range"),
    ("codes/starts", 1, 0, "the array places/codes/starts is not ascending"),
    ("names/postings", 0, 99, "the array places/names/postings is out of range"),
    ("backwards/data", 0, 0x7A, "the strings of places/backwards are not sorted"),
    ("addresses/data", 0, 0x7A, "the addresses of places are not addresses"),
]


@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: f"{wrong[0]} {wrong[2]}")
def test_a_wrong_item_is_refused(forge: Forge, wrong: tuple[str, int, float, str]) -> None:
    name, item, value, why = wrong
    assert forge.refusal_of(f"places/{name}", item, value) == why


@pytest.mark.ci
def test_a_file_with_any_item_of_its_places_changed_is_refused_or_answers(forge: Forge) -> None:
    for name, array in forge.arrays.items():
        for item in range(0, len(array) if name.startswith("places/") else 0, 5):
            other = array[item] + 1 if array.dtype.kind == "f" else array[item] ^ 1
            try:
                dataset = forge.dataset({name: forge.with_item(name, item, other)})
            except Rejected:
                continue
            for text in SEARCHES:
                query = PlaceQueryParser().parse([("q", text)], strict=True)
                assert msgspec.json.encode(search(dataset.places, dataset.stores, query))


def test_a_file_with_a_list_is_verified(file: Path) -> None:
    ended = run_here("verify", file)
    assert (ended.returncode, ended.stderr) == (0, "")
