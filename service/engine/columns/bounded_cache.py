"""A cache with a maximum size in bytes (FIFO), and the list of all caches of a process.

The key of a cache is a complete value of everything that the cached value depends on, never a digest or a part of it. A
cache may leave out only what its owner holds and never changes. Errors are not cached: one may be a hundred times as
large as its request. At most, in MiB, where and what, by which key:

  74  web/pipeline/answers.py
      cached responses, by the request line, of a document the path of its route; of the header fields whether
      unknown parameters are errors, whether GeoJSON is preferred, the accepted codings and the expected
      versions (--response-cache, by default 64, and 8 of documents; 2 of hashes of keys that were requested once)
  96  engine/table.py
      selections in another order, of a field, by distance or for clusters, by criteria, order
  64  engine/table.py
      nearest rows, by criteria, point
  32  engine/table.py
      matching rows in the default order, by criteria
   1  engine/geography/locations.py
      unit vectors of points, by point
   8  engine/table.py
      facets, by criteria, field
  64  engine/table.py
      bitmaps, by field, code, order
  32  engine/text_index.py
      bitmaps of terms, by term
   8  engine/row_json.py
      decoders of members, by names of members
   4  model/attributes.py model/envelope.py model/openapi.py web/endpoints/documents.py
      fields, types, OpenAPI document, attributes of the element, by what is declared of attributes
   1  web/endpoints/resources.py
      header lines of a data set, by version, generated_at, loaded_at
   4  web/http/cors.py
      header lines of CORS and Vary, by reasons of Vary, Origin
  44  access/token_bucket.py
      buckets of the clients of public keys, by name of the key, address, rate
   1  web/pipeline/auth.py web/http/response.py
      header lines of a rate, of an error, by rate and what is left of it; the fields
  30  web/http/content_coding.py web/http/header_fields.py web/http/response.py
      Accept-Encoding, Accept, by the fields of the request
   1  web/http/response.py web/pipeline/access_log.py
      Date, time of a log line, by second

Together at most 464 MiB. Selections, rows and bitmaps may take 16 bytes a row instead, if that is more. Beside these a
connection has the meaning of its last header fields, by their bytes without single values, and a user the signatures of
verified baked files, by format and version of the program.
"""

from collections.abc import Hashable, Iterator
from itertools import islice
from threading import Lock
from typing import Final, Generic, TypeVar

# Memory of an entry beside its value: the key without what it refers to, and where both are listed.
ENTRY_BYTES: Final = 256
# A dictionary passes what was removed from it to find its first key: to find so many more takes hardly longer.
_FOUND_AT_ONCE: Final = 64

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class BoundedCache(Generic[Key, Value]):
    """Values by key, up to a total size in bytes; the oldest are evicted first.

    A key contains everything that the cached value depends on, except the immutable owner of the cache.
    Eviction is first in, first out, not least recently used, so that a hit is a single dictionary lookup. Threads may
    share it. Until Python 3.14, the garbage collector does not traverse it if it traverses neither keys nor values.
    """

    def __init__(self, max_bytes: int) -> None:
        self._values: dict[Key, Value] = {}
        self._sizes: dict[Key, int] = {}
        self._oldest = list[Key]()  # the last is the oldest
        self._bytes, self.max_bytes = 0, max_bytes
        self._changing = Lock()
        self.get = self._values.get

    def __iter__(self) -> Iterator[Value]:
        return iter(self._values.values())

    def __contains__(self, key: Key) -> bool:
        return key in self._values

    def put(self, key: Key, value: Value, size: int) -> None:
        """Set the value of a key, of `size` bytes with the key's parts, unless the entry alone exceeds the maximum."""
        size += ENTRY_BYTES
        if size > self.max_bytes:
            return
        with self._changing:
            if key in self._sizes:
                self._remove(key)
            self._bytes += size
            self._values[key], self._sizes[key] = value, size
            while self._bytes > self.max_bytes:
                self._evict()

    def _remove(self, key: Key) -> None:
        del self._values[key]
        self._bytes -= self._sizes.pop(key)
        self._oldest.clear()  # it may be among them

    def _evict(self) -> None:
        if not self._oldest:
            self._oldest = list(islice(self._sizes, _FOUND_AT_ONCE))[::-1]
        oldest = self._oldest.pop()
        del self._values[oldest]
        self._bytes -= self._sizes.pop(oldest)

    def clear(self) -> tuple[dict[Key, Value], dict[Key, int]]:
        """Remove every value; return what held them, which takes milliseconds to free if they are many."""
        with self._changing:
            removed = self._values, self._sizes
            self._values, self._sizes, self._oldest, self._bytes = {}, {}, [], 0
            self.get = self._values.get
        return removed
