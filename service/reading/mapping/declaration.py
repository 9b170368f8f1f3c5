"""The tables and keys of mapping.toml, and what they mean once they are checked."""

from collections.abc import Iterator, Mapping
from datetime import date, tzinfo
from typing import Annotated, Any, Final, TypeAlias, get_args

import msgspec
from msgspec import Meta

from service.model.attributes import SEPARATOR, Attribute, AttributeKind, Declaration, Schema, Show, schema_of
from service.model.records import STORES, Resource
from service.reading.formats.table_file import NO_OPTIONS, TableOptions

MAX_TEXT: Final = 200  # characters of a text that may be in each record
_Text: TypeAlias = Annotated[str, Meta(max_length=MAX_TEXT)]
Constant: TypeAlias = _Text | bool
KINDS: Final[tuple[AttributeKind, ...]] = get_args(AttributeKind)
SHOWN: Final[tuple[Show, ...]] = get_args(Show)
MOST_BYTES: Final = 16_384


class FileTable(msgspec.Struct, frozen=True):
    """The keys of the file."""

    preset: str | None = None
    stores: dict[str, Any] = {}
    companies: dict[str, Any] = {}


class StoresTable(msgspec.Struct, frozen=True):
    """The keys of `[stores]`."""

    files: list[str] | None = None
    encoding: str | None = None
    repair: str | list[str] = []
    delimiter: str | None = None
    quote: str = '"'
    skip_lines: Annotated[int, Meta(ge=0, le=10**9)] = 0
    columns: list[str] | None = None
    sheet: str | None = None
    sheets: list[str] | None = None
    trim: bool = False
    decimal: str = "."
    date: str | list[str] = []
    time_zone: str | None = None
    no_value: list[str] = []
    fields: dict[str, Any] = {}
    attributes: dict[str, Any] = {}


class CompaniesTable(StoresTable, frozen=True, rename={"source": "from"}):
    """The keys of `[companies]`."""

    source: str | None = None


class JoinedColumns(msgspec.Struct, frozen=True, rename={"columns": "join"}):
    """Columns whose values are joined, as the keys of a join declare; most are a single one."""

    columns: Annotated[tuple[str, ...], Meta(min_length=1)]
    separator: _Text = " "


class FieldTable(msgspec.Struct, frozen=True, kw_only=True, rename={"column": "from"}):
    """The keys of an entry of `fields`."""

    column: str | None = None
    join: Annotated[tuple[str, ...], Meta(min_length=1)] | None = None
    separator: _Text | None = None
    first: Annotated[list[Any], Meta(min_length=1)] | None = None  # columns, and tables of joins
    split: Annotated[str, Meta(min_length=1, max_length=MAX_TEXT)] | None = None
    part: Annotated[int, Meta(ge=1, le=2)] | None = None
    pad: Annotated[int, Meta(ge=2, le=20)] | None = None
    constant: Constant | None = None
    default: Constant | None = None
    values: dict[str, Constant] = {}
    other: Constant | None = None
    date: str | tuple[str, ...] | None = None
    closing_date: Annotated[str, Meta(min_length=1)] | None = None
    point: str | None = None
    optional: bool = False


class AttributeTable(FieldTable, frozen=True, kw_only=True, rename={"column": "from"}):
    """The keys of an entry of `attributes`: those of fields, of which `separator` is that of a list, and its own.

    holidays  the dates on which rules for holidays apply; None if they are left out
    """

    kind: str = "text"
    decimal: str | None = None
    invalid: str | None = None
    max_length: Annotated[int, Meta(ge=1, le=MOST_BYTES)] = 1024
    search: bool = False
    filter: bool = True
    label: str | None = None
    group: str | None = None
    show: str | None = None
    days: dict[str, str] | None = None
    exceptions: str | None = None
    timezone: str | dict[str, Any] | None = None
    holidays: list[date] | None = None


class FieldMapping(AttributeTable, frozen=True, kw_only=True, rename={"column": "from"}):
    """The mapping of a field or an attribute: the keys of its entry, checked, and which columns they mean.

    kind     that of an attribute; "" for a field
    default  the value if no column has one, a constant, too
    values   a text in lower case -> the value that it means
    date     the formats of its dates; None for those of its file
    sources  the first that has a value gives it
    parts    of opening hours: a day of the week, `exceptions` or `timezone` -> how it is made
    """

    kind: str = ""
    separator: str = SEPARATOR
    decimal: str = "."
    date: tuple[str, ...] | None = None
    sources: tuple[JoinedColumns, ...] = ()
    parts: Mapping[str, "FieldMapping"] = {}

    @classmethod
    def of_column(cls, name: str, *, optional: bool = False) -> "FieldMapping":
        """Return the mapping of a field that is a column."""
        return cls(column=name, sources=(JoinedColumns((name,)),), optional=optional)

    @property
    def columns(self) -> Iterator[str]:
        """The columns that it is made of."""
        yield from (column for source in self.sources for column in source.columns)
        if self.closing_date:
            yield self.closing_date
        for part in self.parts.values():
            yield from part.columns


class ResourceMapping(msgspec.Struct, frozen=True, kw_only=True):
    """The mapping of the records of a file to those of a resource: the keys of its table, checked.

    fields      the fields that are not taken by their names, and the attributes
    attributes  what is declared of these, in order
    no_value    the texts that mean "no value", in lower case
    """

    fields: Mapping[str, FieldMapping] = {}
    attributes: tuple[Attribute, ...] = ()
    encoding: str | None = None
    table: TableOptions = NO_OPTIONS
    decimal: str = "."
    dates: tuple[str, ...] = ()
    time_zone: tzinfo | None = None
    no_value: frozenset[str] = frozenset()

    @property
    def maps_fields(self) -> bool:
        """Whether a field has an entry: attributes are columns beside those that are taken by their names."""
        return not all(entry.kind for entry in self.fields.values())


# All fields are taken by their names.
NO_MAPPING: Final = ResourceMapping()


class DataMapping(msgspec.Struct, frozen=True, kw_only=True):
    """The mapping of a data set.

    files              by resource: patterns of the names of its files, if it need not have just one
    derives_companies  whether the companies are derived from the records of stores
    """

    files: Mapping[str, tuple[str, ...]] = {}
    stores: ResourceMapping = ResourceMapping()
    companies: ResourceMapping = ResourceMapping()
    derives_companies: bool = False

    def of(self, resource: Resource) -> ResourceMapping:
        """Return the mapping of a resource."""
        return self.stores if resource.name == STORES.name else self.companies

    @property
    def schema(self) -> Schema:
        """The schema of the records."""
        return schema_of(Declaration(self.stores.attributes, self.companies.attributes))
