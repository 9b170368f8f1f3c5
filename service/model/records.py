"""The records: the fields of stores and companies.

This is the only definition of the fields. The filters and sort fields, the columns of CSV files, the checks of records,
the columns of tables and the schemas of the OpenAPI document are derived from it.
"""

from typing import Annotated, Final

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
    latitude: Annotated[
        str | None, _field(NUMBER, "Latitude in degrees north, with the digits of the data.", filters=True)
    ] = None
    longitude: Annotated[
        str | None, _field(NUMBER, "Longitude in degrees east, with the digits of the data.", filters=True)
    ] = None
    created_at: Annotated[
        str | UnsetType, _field(INSTANT, "When the record was created; omitted if unknown.", format="date-time")
    ] = UNSET
    updated_at: Annotated[
        str | UnsetType, _field(INSTANT, "When the record was last updated; omitted if unknown.", format="date-time")
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
    """A field of a record: its name, kind and description; whether it is required, filtered by, and served."""

    name: str
    kind: Kind
    description: str
    required: bool = False
    filters: bool = False
    served: bool = True


class Resource(msgspec.Struct, frozen=True):
    """A collection of records.

    name         as in paths and names of files
    record       the type of its records
    identifier   the field that identifies a record
    fields       all fields, in order
    coordinates  the fields of latitude and longitude, if records have a location
    """

    name: str
    record: type[Store | Company]
    identifier: str
    fields: tuple[Field, ...]
    coordinates: tuple[str, str] | None = None

    @property
    def filters(self) -> tuple[Field, ...]:
        """The fields that can be filtered by, in order."""
        return tuple(field for field in self.fields if field.filters)

    @property
    def sort_keys(self) -> tuple[str, ...]:
        """The names that `sort_by` accepts: all fields, in order."""
        return tuple(field.name for field in self.fields)


def _fields(record: type[Store | Company]) -> tuple[Field, ...]:
    declared = [(field, field.type.__metadata__[0]) for field in msgspec.structs.fields(record)]
    return tuple(
        Field(field.name, description=meta.description, required=field.required, **meta.extra)
        for field, meta in declared
    )


# The field of the default order. Company records may have it in their file, but it is not served.
CREATED_AT: Final = "created_at"

STORES: Final = Resource("stores", Store, "store_id", _fields(Store), coordinates=("latitude", "longitude"))
COMPANIES: Final = Resource(
    "companies",
    Company,
    "company_id",
    (*_fields(Company), Field(CREATED_AT, INSTANT, "When the record was created.", served=False)),
)
