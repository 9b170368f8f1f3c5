"""The vocabulary of records: what a store and a company are, field by field.

A field is named here and nowhere else. What may be filtered and sorted by, the columns of a CSV file, the checks of a
record, the engine's columns and the schemas of the OpenAPI document follow from these definitions.
"""

from typing import Annotated, Any, Final, get_type_hints

import msgspec
from msgspec import UNSET, Meta, UnsetType

from service.model.kinds import FLAG, IDENTIFIER, INSTANT, NUMBER, POSTAL, WORDS, Kind


def _field(kind: Kind, description: str, *, filters: bool = False, **schema: object) -> Meta:
    return Meta(description=description, extra={"kind": kind, "filters": filters}, extra_json_schema=schema or None)


class Store(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A retail store."""

    store_id: Annotated[str, _field(IDENTIFIER, "Identifier of the store.")]
    company_id: Annotated[str, _field(IDENTIFIER, "Identifier of the company that owns the store.", filters=True)]
    parent_company_id: Annotated[
        str | None, _field(IDENTIFIER, "Identifier of the company that owns that company.", filters=True)
    ] = None
    name: Annotated[str | None, _field(WORDS, "Name of the store.")] = None
    address_1: Annotated[str, _field(WORDS, "First line of the address.")]
    address_2: Annotated[str | None, _field(WORDS, "Second line of the address.")] = None
    city: Annotated[str, _field(WORDS, "City.", filters=True)]
    province: Annotated[str | None, _field(WORDS, "Province, state or region.", filters=True)] = None
    country: Annotated[str, _field(WORDS, "Country.", filters=True)]
    postal_code: Annotated[str | None, _field(POSTAL, "Postal code.", filters=True)] = None
    phone_number: Annotated[str | None, _field(WORDS, "Telephone number.")] = None
    is_open: Annotated[bool, _field(FLAG, "Whether the store is open.", filters=True)] = True
    latitude: Annotated[str | None, _field(NUMBER, "Degrees north, digits as in the data.", filters=True)] = None
    longitude: Annotated[str | None, _field(NUMBER, "Degrees east, digits as in the data.", filters=True)] = None
    created_at: Annotated[
        str | UnsetType, _field(INSTANT, "When the record was made; left out where unknown.", format="date-time")
    ] = UNSET
    updated_at: Annotated[
        str | UnsetType, _field(INSTANT, "When the record last changed; left out where unknown.", format="date-time")
    ] = UNSET


class Company(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A company that owns stores."""

    company_id: Annotated[str, _field(IDENTIFIER, "Identifier of the company.", filters=True)]
    name: Annotated[str, _field(WORDS, "Name of the company.", filters=True)]
    domain: Annotated[str | None, _field(WORDS, "Internet domain of the company.", filters=True)] = None
    parent_company_id: Annotated[
        str | None, _field(IDENTIFIER, "Identifier of the company that owns this one.", filters=True)
    ] = None


class Field(msgspec.Struct, frozen=True):
    """A field of a record: its name and kind, whether a value is required, whether it is answered and filtered by."""

    name: str
    kind: Kind
    description: str
    required: bool = False
    filters: bool = False
    answered: bool = True


class Resource(msgspec.Struct, frozen=True):
    """A collection of records of one type: its name, its record, its identifying field and all its fields in order."""

    name: str
    record: type[Store | Company]
    identifier: str
    fields: tuple[Field, ...]

    @property
    def filters(self) -> tuple[Field, ...]:
        """The fields that may be filtered by, in order."""
        return tuple(field for field in self.fields if field.filters)

    @property
    def sort_keys(self) -> tuple[str, ...]:
        """The names that `sort_by` takes: every field's, in order."""
        return tuple(field.name for field in self.fields)


def _fields(record: type[Store | Company]) -> tuple[Field, ...]:
    hints = get_type_hints(record, include_extras=True)
    required = {field.name for field in msgspec.structs.fields(record) if field.required}
    return tuple(_described(name, hints[name], required=name in required) for name in record.__struct_fields__)


def _described(name: str, hint: Any, *, required: bool) -> Field:
    meta: Meta = hint.__metadata__[0]
    extra = meta.extra or {}
    return Field(name, extra["kind"], meta.description or "", required=required, filters=extra["filters"])


# The field that the default order is by. A company may carry one in its file; it is not answered.
CREATED_AT: Final = "created_at"

STORES: Final = Resource("stores", Store, "store_id", _fields(Store))
COMPANIES: Final = Resource(
    "companies",
    Company,
    "company_id",
    (*_fields(Company), Field(CREATED_AT, INSTANT, "When the record was made.", answered=False)),
)
