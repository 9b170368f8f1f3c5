"""The search for places equals a naive scan, in small worlds where names, countries and points collide."""

import csv
from collections.abc import Sequence
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import msgspec
from hypothesis import given, strategies as st

from service.baking.baked_file import load_baked, write_baked
from service.dataset import Dataset, ReadOptions
from service.engine.place_search import search
from service.loading.dataset import load
from service.model.query import PlaceQueryParser
from tests.directory import company, store, write_directory
from tests.engine import places_oracle
from tests.engine.oracle import Pairs, Record
from tests.engine.places_oracle import Listed

_NAMES = """ab|a b|ba|abba|abab|baab|aab b|ab ba|AB BA|ab-ba|Abba|abbab|babba|aabb|bbaa|aba b|a|b|ábba|東京都|東京
京都府|都|Saint-Ab|saint ab|b a a b|Ł|!|a1b2""".replace("\n", "|").split("|")
_PROVINCES = [None, None, "A", "a", "B", "ab", "東京"]
_COUNTRIES = ["A", "a", "B", "b ", "AB"]
_CODES = [None, None, "1a 1b", "1A1B", "1a-1b", "11 12", "1112", "11a", "1a", "11 1", "111-2", "Ab 1", "B1", "a b"]
# Points whose means and distances are far from any tie of rounding, or exactly equal.
_LOCATED = [(0.0, 0.0), (0.0, 180.0), (10.25, 20.5), (10.25, 20.5), (10.75, 20.5), (-33.5, -70.25), (0.0, -90.0)]
_POINTS = [None, *_LOCATED]
_SEARCHES = """a|b|ab|ab |abb|abab|abba|a b|b a|ba a|ab ba|aabb|aabbb|bab|babb|abbaa|baba|abbb|bbab|saint |saint bb
sant ab|東|東京|東京都|京|都 |東京都 a
1a|1a1b|1a1|1a1c|1A 1c|11|111|1112|1113|111-3|11129|1a2b|11 1|9|a1|ab1|ab11|b1b1b1|!!|a1b2
a1b3|a1 b2|b aab|aba bb|ab ab|ba abb|a ba|b b aa|l|Ł""".replace("\n", "|").split("|")


def records(random: Random, count: int) -> list[Record]:
    """Return stores in the default order."""
    made: list[Record] = []
    for number in range(count):
        point = random.choice(_POINTS)
        made.append(
            {
                "city": random.choice(_NAMES),
                "province": random.choice(_PROVINCES),
                "country": random.choice(_COUNTRIES),
                "postal_code": random.choice(_CODES),
                "latitude": None if point is None else str(point[0]),
                "longitude": None if point is None else str(point[1]),
                "store_id": f"{number:03}",
            }
        )
    return made


def rows_of_list(random: Random, count: int) -> list[Listed]:
    """Return rows of a list of places, some of them those of stores."""
    points = [*_LOCATED, (10.5, 20.5), (10.7, 20.5)]
    return [
        Listed("city", random.choice(_NAMES), random.choice(_COUNTRIES), *random.choice(points), None, province)
        if random.random() < 0.6
        else Listed(
            "postal_code",
            random.choice([code for code in _CODES if code]),
            random.choice(_COUNTRIES),
            *random.choice(points),
            random.choice([None, *_NAMES]),
            province,
        )
        for province in random.choices(_PROVINCES, k=count)
    ]


def load_places(folder: Path, stores: Sequence[Record], listed: Sequence[Listed]) -> Dataset:
    """Return the places of stores, and of a list written as CSV."""
    write_directory(folder, [{**store(str(each["store_id"])), **each} for each in stores], [company()])
    file = folder / "list.csv"
    with file.open("w", newline="") as opened:
        writer = csv.writer(opened)
        writer.writerow(Listed._fields)
        writer.writerows(listed)
    loaded = load(folder, options=ReadOptions(places=str(file)) if listed else ReadOptions())
    assert loaded.dataset is not None, loaded.report.errors
    assert not loaded.report.errors
    write_baked(loaded.dataset, baked := folder / "baked")
    return load_baked(baked)


def ask(dataset: Dataset, pairs: Pairs) -> object:
    """Return what the engine answers."""
    return msgspec.to_builtins(search(dataset.places, dataset.stores, PlaceQueryParser().parse(pairs, strict=True)))


def questions(random: Random, count: int) -> list[Pairs]:
    """Return random questions without errors."""
    made: list[Pairs] = []
    for _ in range(count):
        pairs: list[tuple[str, str]] = [("q", random.choice(_SEARCHES))]
        pairs += [("country", random.choice(["a", "B", "ab", "none"])) for _ in range(random.choice([0, 0, 1, 2]))]
        pairs += [("near", random.choice(["10.1,20.3", "-1.5,100.25"]))] * random.choice([0, 1])
        pairs += [("limit", str(random.choice([1, 2, 3, 50])))] * random.choice([0, 1])
        made.append(pairs)
    return made


@given(st.integers(0, 40), st.sampled_from([0, 0, 3, 12]), st.integers(0, 2**32))
def test_places_are_those_of_a_naive_scan(count: int, listed: int, seed: int) -> None:
    random = Random(seed)
    stores, rows = records(random, count), rows_of_list(random, listed)
    expected = places_oracle.derive(stores, rows)
    with TemporaryDirectory() as folder:
        dataset = load_places(Path(folder), stores, rows)
    for pairs in [[("q", "!!"), ("limit", "50")], *questions(random, 40)]:
        assert ask(dataset, pairs) == places_oracle.page(expected, pairs), pairs
