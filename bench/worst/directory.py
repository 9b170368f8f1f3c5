"""The service in this process, from the query string of a request for stores to the body."""

import gc
from pathlib import Path
from time import thread_time
from typing import Any

import msgspec

from bench.caches import caches
from service.baking.baked_file import load_baked
from service.engine.page import page
from service.loading.acceptance import InvalidRecords, accept
from service.loading.dataset import load
from service.model.envelope import opening, wrap
from service.model.errors import UnprocessableContent
from service.model.query import Query, QueryParser
from service.model.records import STORES
from service.web.request_target import query_pairs


class Directory:
    """A loaded data set of stores; times are CPU times in seconds."""

    def __init__(self, data: Path) -> None:
        """Load a data set: a folder or a baked file. Raises `Refused`, or ValueError if it finds no cache to clear."""
        dataset, _ = accept(load_baked(data) if data.is_file() else load(data), InvalidRecords.REFUSE)
        self._stores = dataset.stores
        self._parser = QueryParser(STORES)
        self._caches = caches()
        if not self._caches:
            raise ValueError("this bench finds no cache of the service to clear")
        gc.freeze()

    def __len__(self) -> int:
        return len(self._stores)

    def answer(self, query: str) -> int:
        """Compose a response as for a request; return the number of matching stores."""
        try:
            parsed = self._parser.parse(query_pairs(query), strict=False)
        except UnprocessableContent as error:
            msgspec.json.encode(error.body)
            return 0
        found = page(self._stores, parsed)
        wrap(opening(parsed, found.total_count), found.rows, found.facets)
        return found.total_count

    def records(self, *, limit: int, page_num: int) -> list[dict[str, Any]]:
        """Return the records of a page in the default order."""
        found = page(self._stores, Query(limit=limit, page_num=page_num))
        records: list[dict[str, Any]] = msgspec.json.decode(b"".join((b"[", *found.rows, b"]")))
        return records

    def cold_seconds(self, query: str) -> float:
        """Return the time of a response with cold caches."""
        for clear in self._caches:
            clear()
        return self.warm_seconds(query)

    def warm_seconds(self, query: str) -> float:
        """Return the time of a response with the caches as they are."""
        started = thread_time()
        self.answer(query)
        return thread_time() - started
