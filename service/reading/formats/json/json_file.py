"""JSON and JSON Lines as a file of records by path."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final

import msgspec
from msgspec import DecodeError, Raw, ValidationError

from service.files.mapped_bytes import FileBytes, open_bytes
from service.reading.batches.batch import BATCH_SIZE, Batch
from service.reading.batches.diagnostics import FileError
from service.reading.batches.record_file import RecordFile
from service.reading.fields.field_names import MAX_UNUSED
from service.reading.formats.json.json_batches import BatchDecoder, Columns, check_json
from service.reading.formats.json.json_errors import describe_json_error
from service.reading.formats.json.member_paths import PathMembers, Paths
from service.reading.formats.json.typed_reader import (
    BLANK,
    LineFinder,
    array_batches,
    elements,
    file_error,
    line_batches,
)

SAMPLE: Final = BATCH_SIZE  # the first records, from which the paths are known
_EXPECTED: Final = "expected an array of records, or an object with one array"


class JsonFile(RecordFile):
    """The records of a JSON array, or of the only array that is a member of an object."""

    is_table = False

    def __init__(self, text: FileBytes) -> None:
        """Open a text. Raises FileError."""
        self._text, self._elements = text, elements(text, _array_name(text))
        self._paths = Paths()
        for index, value in enumerate(self._elements[:SAMPLE]):
            self._paths.add(index, value)
        self.names, self.assumed = list(self._paths.members), ()

    def batches(self, columns: Sequence[str], also: Sequence[str] = ()) -> Iterator[Batch]:
        """Yield all records, with the cells at some paths. Raises FileError."""
        unused = first_lines(self._paths, columns, LineFinder(self._text).lines(self._elements[:SAMPLE]))
        return array_batches(self._text, self._elements, PathDecoder([*columns, *also], unused))


class JsonLinesFile(RecordFile):
    """The records of JSON Lines."""

    is_table = False

    def __init__(self, text: FileBytes) -> None:
        """Open a text. Raises FileError if one of its first lines is not JSON."""
        self._text, self._paths, self._lines = text, Paths(), []
        for line, value in sample_texts(numbered_lines(text)):
            self._paths.add(len(self._lines), value)
            self._lines.append(line)
        self.names, self.assumed = list(self._paths.members), ()

    _lines: list[int]

    def batches(self, columns: Sequence[str], also: Sequence[str] = ()) -> Iterator[Batch]:
        """Yield all records, with the cells at some paths. Raises FileError."""
        unused = first_lines(self._paths, columns, self._lines)
        return line_batches(self._text, PathDecoder([*columns, *also], unused))


class PathDecoder(BatchDecoder):
    """Decodes records into columns by path."""

    def __init__(self, paths: Sequence[str], unused: Mapping[str, int]) -> None:
        """Take the paths, and the unused members with the line of the first."""
        self._members = PathMembers(paths, unused)

    def _decode_one(self, value: Raw | bytes) -> Any:
        try:
            return self._members.decode(value)
        except ValidationError:
            check_json(value)
            return None

    def _columns(self, records: Sequence[Any]) -> Columns:
        return Columns(self._members.columns(records), self._members.unused(records))


def numbered_lines(text: FileBytes) -> Iterator[tuple[int, bytes]]:
    """Yield the lines of a text that are not empty, with their numbers."""
    return ((line, value) for line, value in enumerate(open_bytes(text), 1) if value.strip(BLANK))


def sample_texts(values: Iterable[tuple[int, bytes]]) -> Iterator[tuple[int, bytes]]:
    """Yield the first texts with the lines on which they begin. Raises FileError if one is not JSON."""
    for line, value in islice(values, SAMPLE):
        try:
            check_json(value)
        except (DecodeError, RecursionError) as error:
            raise FileError(describe_json_error(error, value), line) from None
        yield line, value


def first_lines(paths: Paths, used: Sequence[str], lines: Sequence[int]) -> dict[str, int]:
    """Return the first unused members, and the line of the first record with each."""
    return {name: lines[index] for name, index in islice(paths.unused(used).items(), MAX_UNUSED)}


def _array_name(text: FileBytes) -> str:
    """Return the name of the only array in an object, "" if the text is no object."""
    try:
        members = msgspec.json.decode(text, type=dict[str, Raw])
    except ValidationError:
        return ""
    except (DecodeError, RecursionError) as error:
        raise file_error(text, error) from None
    arrays = [name for name, value in members.items() if bytes(memoryview(value)[:1]) == b"["]
    if len(arrays) != 1:
        found = f"; found {len(arrays)}: {', '.join(map(repr, arrays[:MAX_UNUSED]))}" if arrays else ""
        raise FileError(_EXPECTED + found)
    return arrays[0]
