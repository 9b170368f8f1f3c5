"""The service in this process, from the target of a request to the body."""

import gc
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from time import thread_time
from typing import Any, Final

import msgspec

from bench.caches import caches
from bench.wire.locator import CLUSTERS_PATH
from bench.wire.shapes import STORES_PATH
from service.baking.baked_file import load_baked
from service.engine.clusters import TooManyCells
from service.engine.map_clusters import map_clusters
from service.engine.page import page
from service.loading.acceptance import accept
from service.loading.dataset import load
from service.model.attributes import NO_ATTRIBUTES
from service.model.envelope import opening, wrap
from service.model.errors import UnprocessableContent
from service.model.query import Query, QueryParser
from service.model.records import STORES
from service.safeguards import InvalidRecords
from service.web.headers.content_coding import IDENTITY
from service.web.pipeline.identity import entity_tag
from service.web.pipeline.plan import CommonHeaders
from service.web.pipeline.request_parameters import parser

_COMMON: Final = CommonHeaders(headers=(), vary="")


class _Count(msgspec.Struct):
    count: int


class _Cell(msgspec.Struct):
    properties: _Count


class _Counts(msgspec.Struct):
    """The members of a page, or of a collection of clusters, that say how many stores match."""

    total_count: int = 0
    features: list[_Cell] = []

    @property
    def total(self) -> int:
        return self.total_count + sum(cell.properties.count for cell in self.features)


class Directory:
    """A loaded data set of stores; times are CPU times in seconds."""

    def __init__(self, data: Path) -> None:
        """Load a data set: a folder or a baked file. Raises `Rejected`, or ValueError if it finds no cache to clear."""
        dataset = load_baked(data) if data.is_file() else accept(load(data), InvalidRecords.REFUSE)
        self._stores = dataset.stores
        self._version = dataset.version
        self._parse = parser(STORES_PATH, lambda _: QueryParser(STORES))
        self._parse_map = parser(CLUSTERS_PATH, lambda _: QueryParser(STORES, of_map=True))
        self._caches = caches()
        if not self._caches:
            raise ValueError("this bench finds no cache of the service to clear")
        gc.freeze()

    def __len__(self) -> int:
        return len(self._stores)

    def answer(self, target: str) -> Sequence[bytes | memoryview]:
        """Compose the body of a response to a request."""
        *_, body = self._turns(target)
        return body

    def _turns(self, target: str) -> Iterator[Sequence[bytes | memoryview]]:
        """Yield nothing after each part between which the event loop serves others, the body at the end."""
        path, _, query = target.partition("?")
        try:
            if path == CLUSTERS_PATH:
                yield map_clusters(self._stores, self._parse_map(NO_ATTRIBUTES, "", query, False).query)
                return
            parsed = self._parse(NO_ATTRIBUTES, "", query, False)
            entity_tag(parsed.representation(self._version, _COMMON).identity, IDENTITY)
        except UnprocessableContent as error:
            yield [msgspec.json.encode(error.body)]
        except TooManyCells as error:
            yield [msgspec.json.encode({"detail": str(error)})]
        else:
            found = page(self._stores, parsed.query)
            yield wrap(opening(parsed.query, found.total_count), found.rows, found.facets)

    def count(self, target: str) -> int:
        """Return the number of stores that match a request, 0 for an error."""
        return msgspec.json.decode(b"".join(self.answer(target)), type=_Counts).total

    def records(self, *, limit: int, page_num: int) -> list[dict[str, Any]]:
        """Return the records of a page in the default order."""
        found = page(self._stores, Query(limit=limit, page_num=page_num))
        records: list[dict[str, Any]] = msgspec.json.decode(b"".join((b"[", *found.rows, b"]")))
        return records

    def cold_seconds(self, target: str) -> float:
        """Return for how long a response holds the event loop at a time, at most, with cold caches."""
        self.clear()
        return self.warm_seconds(target)

    def clear(self) -> None:
        """Empty the caches."""
        for clear in self._caches:
            clear()

    def warm_seconds(self, target: str) -> float:
        """Return for how long a response holds the event loop at a time, at most, with the caches as they are."""
        times = [thread_time(), *(thread_time() for _ in self._turns(target))]
        return max(after - before for before, after in pairwise(times))
