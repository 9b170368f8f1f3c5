"""Build a table of rows, and of the normalized keys of their fields.

All of them wait in spools, and one field at a time becomes a column. The next one is ranked ahead by a thread: NumPy
sorts without the GIL, while the words of the column before are indexed.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import Final, TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

from service.engine.columns.column import Column, StringArray, build_column
from service.engine.columns.ranking import Codes, ListTexts, build_list_texts, keep_arrays, keep_strings, rank, spooled
from service.engine.geography.locations import Locations, build_locations
from service.engine.table import ROW_END, Table
from service.engine.text_index import TextIndexBuilder
from service.spool import Spool, Spools

_Ranked: TypeAlias = tuple[Codes, StringArray]
_END: Final = b"\n"
_CODE_BITS: Final = 32
_LENGTH: Final = np.dtype(np.int64)


class Duplicate(msgspec.Struct, frozen=True):
    """A record whose identifier an earlier one has.

    is_valid  whether it was served otherwise
    is_same   whether the earlier one is the same
    """

    index: int
    identifier: str
    is_valid: bool
    is_same: bool


class TableBuilder:
    """Collects records and the normalized keys of their fields, and builds the table.

    searched  the columns of texts that are searched in place of keys, and the distinct texts, once it is built
    """

    def __init__(  # noqa: PLR0913 - what a table is made by
        self,
        fields: Mapping[str, bool],
        *,
        order_by: str,
        key: str,
        searched: Sequence[str] = (),
        coordinates: tuple[str, str] | None = None,
        spools: Spools | None = None,
        lists: Collection[str] = (),
    ) -> None:
        """Start a table of `fields` (name -> whether it is a filter); rows are ordered by `order_by`, ties by `key`.

        The index of words has the texts of the `searched` fields. `coordinates` are the filters latitude and longitude,
        if the rows have a location. The keys of the fields in `lists` are those of `list_key`.
        """
        self._lists = lists
        self._fields, self._order_by, self._key = fields, order_by, key
        self._searched, self._coordinates = searched, coordinates
        self._spools = spools or Spools()
        self._rows, self._lengths = self._spools.new(), self._spools.new()
        self._keys = {name: self._spools.new() for name in fields}
        self._texts: dict[str, Spool] = {}
        self._ranked: dict[str, _Ranked] = {}
        self.searched: dict[str, tuple[Column, StringArray]] = {}

    @property
    def size(self) -> int:
        """The number of bytes in spools."""
        return sum(map(len, (self._rows, self._lengths, *self._keys.values(), *self._texts.values())))

    def add(self, rows: bytes, keys: Mapping[str, bytes], texts: Mapping[str, bytes] | None = None) -> None:
        """Append records: a line of JSON for each, empty if it is not served, and their keys, as of `join_keys`.

        `texts` are those of searched fields, in the same format, where their keys have other words; always those of
        lists, and of names that are no fields.
        """
        ends = np.flatnonzero(np.frombuffer(rows, np.uint8) == _END[0])
        self._lengths.append(np.diff(ends, prepend=-1).data)
        self._rows.append(rows.replace(_END, ROW_END))
        for name, some in (texts or {}).items():
            if name not in self._texts:  # until now, its texts were its keys
                self._texts[name] = self._spools.new()
                self._texts[name].append(self._keys[name].view() if name in self._keys else b"")
            self._texts[name].append(some)
        for name in self._texts.keys() - (texts or {}).keys():
            self._texts[name].append(keys[name])
        for name, spool in self._keys.items():
            spool.append(keys[name])

    def drop_duplicates(self) -> Iterator[Duplicate]:
        """Keep the first record of each identifier that is served; yield the later ones, in order.

        Nothing can be added afterwards.
        """
        lengths = spooled(self._lengths, _LENGTH)
        ends = lengths.cumsum()
        self._kept = lengths > len(ROW_END)
        codes, identifiers = self._ranked[self._key] = self._rank(self._key)
        if len(identifiers) == np.count_nonzero(codes < len(identifiers)):
            return
        first = np.full(len(identifiers) + 1, len(codes))
        np.minimum.at(first, codes[self._kept], self._kept.nonzero()[0])
        first[-1] = len(codes)  # no identifier
        later = (np.arange(len(codes)) > first[codes]).nonzero()[0]
        self._kept[later] = False
        rows = self._rows.view()
        for index in later.tolist():
            mine, its = (rows[ends[each] - lengths[each] : ends[each]] for each in (index, first[codes[index]]))
            is_valid = len(mine) > len(ROW_END)
            yield Duplicate(index, identifiers[codes[index]].decode(), is_valid, mine == its)

    def build(
        self,
        referenced: Mapping[str, Mapping[bytes, bytes]] | None = None,
        progress: Callable[[int, int], None] = lambda _done, _total: None,
    ) -> Table:
        """Return the table, its rows in the default order; the builder cannot be used afterwards.

        `referenced` are more texts to search: field -> key -> the text of the rows with that key. `progress` gets the
        number of steps that are done and of all, after each but the last.
        """
        if not self._ranked:
            list(self.drop_duplicates())
        numbering = self._number()
        rows = self._number_rows(numbering)
        columns, lists, text = dict[str, Column](), dict[str, ListTexts](), TextIndexBuilder(self._spools)
        with ThreadPoolExecutor(1) as thread:
            for name, ranked in self._ranked_ahead(thread):
                progress(1 + len(columns), 2 + len(self._fields))
                filters = self._fields[name] and name not in self._lists
                columns[name], distinct = self._column(ranked, numbering, filters=filters)
                if name in self._lists:
                    lists[name] = build_list_texts(distinct, self._spools)
                if name in self._searched and name not in self._texts:
                    text.add(columns[name], distinct)
                if referenced and name in referenced:
                    text.add(columns[name], StringArray.of([referenced[name].get(key, b"") for key in distinct]))
        for name, spool in self._texts.items():
            self.searched[name] = self._column(rank(spool, self._spools), numbering, filters=False)
            text.add(*self.searched[name])
        index, locations = text.build(len(rows)), self._locate(columns)
        return Table(
            rows, columns, order_by=self._order_by, key=self._key, text=index, locations=locations, lists=lists
        )

    def _number(self) -> NDArray[np.int64]:
        """Return the records that are kept, in the default order."""
        kept = self._kept.nonzero()[0]
        self._ranked[self._order_by] = self._ranked.get(self._order_by) or self._rank(self._order_by)
        order, ties = (self._ranked[name][0][kept].astype(np.int64) for name in (self._order_by, self._key))
        numbering: NDArray[np.int64] = kept[(order << _CODE_BITS | ties).argsort()]
        return numbering

    def _number_rows(self, numbering: NDArray[np.int64]) -> StringArray:
        """Return the rows in the default order, and forget them."""
        lengths = spooled(self._lengths, _LENGTH)
        starts = lengths.cumsum() - lengths
        rows = keep_strings(self._rows.view(), starts[numbering], lengths[numbering], self._spools)
        del self._rows
        return rows

    def _rank(self, name: str) -> _Ranked:
        return rank(self._keys.pop(name), self._spools)

    def _ranked_ahead(self, thread: ThreadPoolExecutor) -> Iterator[tuple[str, _Ranked]]:
        """Yield each field with the codes of all records and the distinct keys; the next is ranked meanwhile."""
        names = iter([name for name in self._fields if name not in self._ranked])
        ahead = [thread.submit(self._rank, name) for name in islice(names, 1)]
        for name in self._fields:
            if name in self._ranked:
                yield name, self._ranked.pop(name)
            else:
                ranked = ahead.pop().result()
                ahead += [thread.submit(self._rank, each) for each in islice(names, 1)]
                yield name, ranked

    def _column(self, ranked: _Ranked, numbering: NDArray[np.int64], *, filters: bool) -> tuple[Column, StringArray]:
        """Return a column of the records that are kept, and its distinct keys."""
        codes, distinct = ranked[0][numbering], ranked[1]
        if len(codes) < len(ranked[0]):  # some keys may be of the others only
            used = np.bincount(codes, minlength=len(distinct) + 1)[:-1].nonzero()[0]
            codes = used.searchsorted(codes).astype(np.int32)
            starts = distinct.offsets[used]
            distinct = keep_strings(distinct.data, starts, distinct.offsets[used + 1] - starts, self._spools)
        return keep_arrays(build_column(codes, distinct, filters=filters), self._spools), distinct

    def _locate(self, columns: Mapping[str, Column]) -> Locations | None:
        if self._coordinates is None:
            return None
        return keep_arrays(build_locations(*map(columns.__getitem__, self._coordinates)), self._spools)
