"""Requests for clusters: random maps, and those with the most stores, cells or words that are allowed."""

from collections.abc import Iterator
from itertools import product
from random import Random
from typing import Final
from urllib.parse import urlencode

from bench.wire.locator import CLUSTERS_PATH
from bench.wire.shapes import STORES_PATH
from bench.worst.adversarial_locations import BOXES, dense_filters, texts
from bench.worst.directory import Directory
from bench.worst.random_locations import random_box, random_words
from bench.worst.random_requests import random_filters
from bench.worst.values import Params, Values
from service.engine.clusters import MAX_CELLS
from service.model.coordinates import MAX_ZOOM

_WITH_WORDS: Final = 0.2
# Nearly the world: its edges cut cells.
_NEARLY: Final = ("-179.9,-84.9,179.9,84.9", "-180,-60,179.99,75", "0.1,-90,0,90")
_SCATTERED: Final = ("city", "company_id", "postal_code")
_TRIED: Final = 50
_WORD_ZOOMS: Final = (0, 4, 6, MAX_ZOOM)


def random_cluster_requests(values: Values, random: Random) -> Iterator[str]:
    """Yield targets endlessly."""
    while True:
        params = random_filters(values, random)
        if random.random() < _WITH_WORDS:
            params.append(("q", random_words(values, random)))
        yield _target(random_box(values, random), random.randint(0, MAX_ZOOM), params)


def adversarial_cluster_requests(directory: Directory, values: Values, random: Random) -> Iterator[str]:
    """Yield targets: large boxes at every zoom, with filters of many stores or of many cells; and with words."""
    boxes = (*BOXES, *_NEARLY)
    for box, filters, zoom in product(boxes, dense_filters(values), range(MAX_ZOOM + 1)):
        yield _target(box, zoom, filters)
    for filters, zoom in product(_many_cells(directory, values), range(MAX_ZOOM + 1)):
        yield _target(BOXES[0], zoom, filters)
    worded = list(texts(values, random))
    for box, text, filters, zoom in product((BOXES[0], _NEARLY[0]), worded, dense_filters(values), _WORD_ZOOMS):
        yield _target(box, zoom, [*filters, ("q", text)])


def _many_cells(directory: Directory, values: Values) -> Iterator[Params]:
    """Yield filters by values of one field that together match nearly as many stores as there may be cells."""
    for name in _SCATTERED:
        filters: Params = []
        for value in values.ranked[name][:_TRIED]:
            more = [*filters, (name, value)]
            if directory.count(f"{STORES_PATH}?{urlencode([*more, ('limit', '1')])}") <= MAX_CELLS:
                filters = more
        yield filters


def _target(box: str, zoom: int, params: Params) -> str:
    return f"{CLUSTERS_PATH}?{urlencode([('bbox', box), ('zoom', str(zoom)), *params])}"
