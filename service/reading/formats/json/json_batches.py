"""Decode JSON values into batches; what is decoded of a value is up to the decoder."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from itertools import compress
from typing import Any, ClassVar, Final

import msgspec
from msgspec import DecodeError, Raw

from service.reading.batches.batch import Batch, Cell, UnreadableRecord, UnusedName
from service.reading.batches.diagnostics import FileError, Issue
from service.reading.formats.json.json_errors import describe_json_error

_VALUES: Final = msgspec.json.Decoder(Raw)


class Columns(msgspec.Struct, frozen=True, eq=False):
    """The columns of some records, as in a batch."""

    cells: Mapping[str, Sequence[Cell]]
    unused: Sequence[UnusedName]
    watched: Mapping[str, Sequence[Cell]] = {}


class BatchDecoder(ABC):
    """Decodes the values of a file, batch by batch.

    expected  the issue of a value that is no record
    """

    expected: ClassVar = Issue("type", "expected an object")

    @abstractmethod
    def _decode_one(self, value: Raw | bytes) -> Any:
        """Return a record, or None if the value is none. Raises DecodeError or RecursionError."""

    @abstractmethod
    def _columns(self, records: Sequence[Any]) -> Columns:
        """Return the columns of records."""

    def batch(
        self, values: Sequence[Raw | bytes], lines: Callable[[], Sequence[int]], *, first: int, done: int, total: int
    ) -> Batch:
        """Return values as a batch whose first record has number `first`; `lines` returns the line of each value.

        Raises FileError if a value is not JSON.
        """
        records = self.decoded(values, lines)
        numbers: Sequence[int] = range(first, first + len(records))
        unreadable: list[UnreadableRecord] = []
        if None in records:
            readable = [record is not None for record in records]
            unreadable = [
                UnreadableRecord(number, line, self.expected, bytes(value).decode().strip())
                for number, line, value, is_readable in zip(numbers, lines(), values, readable, strict=True)
                if not is_readable
            ]
            records, numbers = list(compress(records, readable)), list(compress(numbers, readable))
            lines = _selected_lines(lines, readable)
        try:
            found = self._columns(records)
        except RecursionError as error:  # the stack is deeper here than where the value was read
            raise FileError(describe_json_error(error, b""), lines()[0]) from None
        return Batch(numbers, found.cells, lines, unreadable, found.unused, done, total, found.watched)

    def decoded(self, values: Sequence[Raw | bytes], lines: Callable[[], Sequence[int]]) -> list[Any]:
        """Return each value as a record, or None if it is not an object. Raises FileError if it is not JSON."""
        return [self._decode_or_raise(value, index, lines) for index, value in enumerate(values)]

    def _decode_or_raise(self, value: Raw | bytes, index: int, lines: Callable[[], Sequence[int]]) -> Any:
        try:
            return self._decode_one(value)
        except (DecodeError, RecursionError) as error:
            raise FileError(describe_json_error(error, bytes(value)), lines()[index]) from None


def check_json(value: Raw | bytes) -> None:
    """Raise DecodeError if a value is not JSON: decoders check types before they parse the rest."""
    _VALUES.decode(value)


def _selected_lines(lines: Callable[[], Sequence[int]], mask: Sequence[bool]) -> Callable[[], Sequence[int]]:
    return lambda: list(compress(lines(), mask))
