"""The records: the fields of stores and companies.

This is the only definition of the fields. The filters and sort fields, the columns of CSV files, the checks of records,
the columns of tables and the schemas of the OpenAPI document are derived from it.
"""

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Final

import msgspec
from msgspec import UNSET, Meta, UnsetType

from service.model.kinds import FLAG, HOURS, IDENTIFIER, INSTANT, NUMBER, POSTAL, WORDS, Kind


def _field(kind: Kind, description: str, **uses: bool) -> Meta:
    schema = {"format": "date-time"} if kind is INSTANT else None
    return Meta(description=description, extra={"kind": kind, **uses}, extra_json_schema=schema)


class Store(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A retail store."""

    store_id: Annotated[str, _field(IDENTIFIER, "Identifier of the store.", filters=True, searched=True)]
    company_id: Annotated[
        str, _field(IDENTIFIER, "Identifier of the company that owns the store.", filters=True, facets=True)
    ]
    parent_company_id: Annotated[
        str | None, _field(IDENTIFIER, "Identifier of the company that owns that company.", filters=True, facets=True)
    ] = None
    name: Annotated[str | None, _field(WORDS, "Name of the store.", searched=True)] = None
    address_1: Annotated[str, _field(WORDS, "First line of the address.", searched=True)]
    address_2: Annotated[str | None, _field(WORDS, "Second line of the address.", searched=True)] = None
    city: Annotated[str, _field(WORDS, "City.", filters=True, facets=True, searched=True)]
    province: Annotated[
        str | None, _field(WORDS, "Province, state or region.", filters=True, facets=True, searched=True)
    ] = None
    country: Annotated[str, _field(WORDS, "Country.", filters=True, facets=True)]
    postal_code: Annotated[str | None, _field(POSTAL, "Postal code.", filters=True, facets=True, searched=True)] = None
    phone_number: Annotated[str | None, _field(WORDS, "Telephone number.")] = None
    is_open: Annotated[bool, _field(FLAG, "Whether the store is open.", filters=True, facets=True)] = True
    latitude: Annotated[
        str | None, _field(NUMBER, "Latitude in degrees north, with the digits of the data.", filters=True)
    ] = None
    longitude: Annotated[
        str | None, _field(NUMBER, "Longitude in degrees east, with the digits of the data.", filters=True)
    ] = None
    created_at: Annotated[
        str | UnsetType, _field(INSTANT, "When the record was created; omitted if unknown.", filters=True)
    ] = UNSET
    updated_at: Annotated[
        str | UnsetType, _field(INSTANT, "When the record was last updated; omitted if unknown.", filters=True)
    ] = UNSET


class Company(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A company that owns stores."""

    company_id: Annotated[str, _field(IDENTIFIER, "Identifier of the company.", filters=True, searched=True)]
    name: Annotated[str, _field(WORDS, "Name of the company.", filters=True, searched=True)]
    domain: Annotated[
        str | None, _field(WORDS, "Internet domain of the company.", filters=True, facets=True, searched=True)
    ] = None
    parent_company_id: Annotated[
        str | None, _field(IDENTIFIER, "Identifier of the company that owns this one.", filters=True, facets=True)
    ] = None


class Field(msgspec.Struct, frozen=True):
    """A field of a record: its name, kind, description, and its uses: whether it is required, and so on.

    default    what a record without a value has
    attribute  the kind of the attribute that it is, in a record's object of attributes; "" for a field of the interface
    separator  between the texts of a list; "" if it is none
    """

    name: str
    kind: Kind
    description: str
    required: bool = False
    default: str | bool | UnsetType | None = None
    filters: bool = False
    facets: bool = False
    sorts: bool = True
    searched: bool = False
    served: bool = True
    attribute: str = ""
    separator: str = ""

    @property
    def is_list(self) -> bool:
        """Whether a value is several texts."""
        return bool(self.separator)

    @property
    def is_column(self) -> bool:
        """Whether rows are found or sorted by it."""
        return self.filters or self.sorts or self.kind is HOURS

    @property
    def has_values(self) -> bool:
        """Whether its column has the values: those of lists are apart, those of the default order in the rows."""
        return self.filters and not self.is_list and self.name != CREATED_AT

    @property
    def member(self) -> str:
        """Its name in the object that it is in: the record, or the attributes of the record."""
        return self.name.removeprefix(PREFIX) if self.attribute else self.name


class Resource(msgspec.Struct, frozen=True):
    """A collection of records.

    name         as in paths and names of files
    record       the type of its records
    identifier   the field that identifies a record
    fields       all fields, in order
    coordinates  the fields of latitude and longitude, if records have a location
    items        the types of the records of a list, in the OpenAPI document: whole, or some members only. Generated
                 clients use the first that fits. All have `distance` if records have a location, so that code can read
                 it without a test of the type
    """

    name: str
    record: type[Store | Company]
    identifier: str
    fields: tuple[Field, ...]
    coordinates: tuple[str, str] | None = None
    items: tuple[type[msgspec.Struct], ...] = ()

    def field(self, name: str) -> Field:
        """Return a field by its name."""
        return next(field for field in self.fields if field.name == name)

    @property
    def noun(self) -> str:
        """The name of one record."""
        return self.record.__name__.lower()

    @property
    def filters(self) -> tuple[Field, ...]:
        """The fields that can be filtered by, in order."""
        return tuple(field for field in self.fields if field.filters)

    @property
    def facets(self) -> tuple[str, ...]:
        """The names of the fields whose values can be counted, in order."""
        return tuple(field.name for field in self.fields if field.facets)

    @property
    def attributes(self) -> tuple[Field, ...]:
        """The fields that the owner of the data declared, in order."""
        return tuple(field for field in self.fields if field.attribute)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of all that a record has in responses, each attribute by itself, in order."""
        return tuple(field.name for field in self.fields if field.served)

    @property
    def members(self) -> tuple[str, ...]:
        """The names that `fields` accepts, in order: members of a record, and of its attributes."""
        own = tuple(field.name for field in self.fields if field.served and not field.attribute)
        attributes = tuple(field.name for field in self.attributes)
        return (*own, ATTRIBUTES, *attributes) if attributes else own

    @property
    def hours(self) -> Field | None:
        """The attribute that is the opening hours, if there is one."""
        return next((field for field in self.fields if field.kind is HOURS), None)

    @property
    def searched(self) -> tuple[Field, ...]:
        """The fields whose words are searched, in order."""
        return tuple(field for field in self.fields if field.searched)

    @property
    def sort_keys(self) -> tuple[str, ...]:
        """The names that `sort_by` accepts, in order."""
        return tuple(field.name for field in self.fields if field.sorts)


def _fields(record: type[Store | Company]) -> tuple[Field, ...]:
    return tuple(map(_declared, msgspec.structs.fields(record)))


def _declared(field: msgspec.structs.FieldInfo) -> Field:
    meta, default = field.type.__metadata__[0], None if field.required else field.default
    return Field(field.name, description=meta.description, required=field.required, default=default, **meta.extra)


# The field of the default order. Company records may have it in their file, but it is not served.
CREATED_AT: Final = "created_at"
# What records have, and can be sorted by, where a request says from where.
DISTANCE: Final = "distance"
# The last member of a record whose data set declares attributes, an object of them; and what precedes their names.
ATTRIBUTES: Final = "attributes"
PREFIX: Final = f"{ATTRIBUTES}."


def define(
    name: str, doc: str | None, members: Iterable[Any], base: type[msgspec.Struct] = msgspec.Struct
) -> type[Any]:
    """Return a type of records, or of what has or is in them, with more members than its base, or others."""
    namespace = {"__doc__": doc}
    return msgspec.defstruct(name, members, bases=(base,), namespace=namespace, frozen=True, kw_only=True, gc=False)


def with_distance(record: type[Store | Company]) -> type[msgspec.Struct]:
    """Return the type of records with their distance from a point, if a request gives one."""
    doc = f"A {record.__name__.lower()}, and its distance from `near`, if given."
    return define(f"{record.__name__}WithDistance", doc, [(DISTANCE, _Distance | UnsetType, UNSET)], record)


def partial(
    record: type[Store | Company], whole: type[msgspec.Struct], types: Mapping[str, Any] = {}
) -> type[msgspec.Struct]:
    """Return the type of records with some members only of the type of whole ones; some have other `types` then."""
    members = [
        (field.name, types.get(field.name, field.type) | UnsetType, UNSET) for field in msgspec.structs.fields(whole)
    ]
    doc = f"Some members of a {record.__name__.lower()}, those that `fields` names."
    return define(f"Partial{record.__name__}", doc, members)


_Distance = Annotated[
    float | None,
    Meta(description="Distance from `near` in metres, to one decimal; null if the record has no location."),
]
_STORE: Final = with_distance(Store)
STORES: Final = Resource(
    "stores",
    Store,
    "store_id",
    _fields(Store),
    coordinates=("latitude", "longitude"),
    items=(_STORE, partial(Store, _STORE)),
)
COMPANIES: Final = Resource(
    "companies",
    Company,
    "company_id",
    (*_fields(Company), Field(CREATED_AT, INSTANT, "When the record was created.", default=UNSET, served=False)),
    items=(Company, partial(Company, Company)),
)
