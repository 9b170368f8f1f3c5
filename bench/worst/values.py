"""The filter values of stores, from the data set itself."""

from collections import Counter
from collections.abc import Mapping
from random import Random
from typing import Any, Final

import msgspec

from bench.worst.directory import Directory
from service.model.parameters import MAX_LIMIT
from service.model.records import STORES

FILTERS: Final = tuple(field.name for field in STORES.filters)
_SEARCHED: Final = tuple(field.name for field in STORES.searched)
_PAGES: Final = 50

Params = list[tuple[str, str]]


class Values(msgspec.Struct, frozen=True):
    """The filter values of some stores as written in a query, and all values of each filter, the commonest first.

    `texts` are the searched texts of each store, `words` all their words, the commonest first. `points` are latitudes
    and longitudes.
    """

    stores: list[dict[str, str]]
    ranked: dict[str, list[str]]
    texts: list[str]
    words: list[str]
    points: list[tuple[float, float]]


def draw_values(directory: Directory, random: Random) -> Values:
    """Return the values of some thousand random stores."""
    pages = max(len(directory) // MAX_LIMIT, 1)
    chosen = random.sample(range(1, pages + 1), min(_PAGES, pages))
    records = [record for number in chosen for record in directory.records(limit=MAX_LIMIT, page_num=number)]
    stores = [_written(record) for record in records]
    counts: Mapping[str, Counter[str]] = {name: Counter() for name in FILTERS}
    for store in stores:
        for name, value in store.items():
            counts[name][value] += 1
    texts = [" ".join(record[name] or "" for name in _SEARCHED) for record in records]
    return Values(
        stores,
        {name: [value for value, _ in counts[name].most_common()] for name in FILTERS},
        texts,
        [word for word, _ in Counter(word for text in texts for word in text.split()).most_common()],
        [(float(each["latitude"]), float(each["longitude"])) for each in records if each["latitude"] is not None],
    )


def _written(record: Mapping[str, Any]) -> dict[str, str]:
    values = {name: record[name] for name in FILTERS if record[name] is not None}
    return {name: value if isinstance(value, str) else str(value).lower() for name, value in values.items()}
