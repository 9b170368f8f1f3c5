"""Attributes: columns that the owner of a data set declares, and the schema of records that have them."""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from hashlib import sha256
from typing import Annotated, Any, Final, Literal, TypeAlias

import msgspec
from msgspec import UNSET, Meta, UnsetType

from service.model.hours import OpeningHours
from service.model.kinds import DATE, FLAG, HOURS, NUMBER, WORDS, Kind
from service.model.records import (
    ATTRIBUTES,
    COMPANIES,
    DISTANCE,
    PREFIX,
    STORES,
    Field,
    Resource,
    define,
    partial,
    with_distance,
)

AttributeKind: TypeAlias = Literal["text", "number", "flag", "list", "url", "email", "phone", "image", "date", "hours"]
Show: TypeAlias = Literal["card", "list", "never"]
NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,62}")
MOST: Final = 32  # of each kind of record
SEPARATOR: Final = ";"
# Names that would be taken for other members of a record.
RESERVED: Final = frozenset({ATTRIBUTES, DISTANCE, "created_at"})
MOST_TEXT: Final = 200  # characters of a label

_URI: Final = Annotated[str, Meta(extra_json_schema={"format": "uri"})]
_EMAIL: Final = Annotated[str, Meta(extra_json_schema={"format": "email"})]
_DATE: Final = Annotated[str, Meta(extra_json_schema={"format": "date"})]
_Text: TypeAlias = Annotated[str, Meta(min_length=1, max_length=MOST_TEXT)]
# How values are compared, what they are, and their type.
_KINDS: Final[Mapping[AttributeKind, tuple[Kind, str, Any]]] = {
    "text": (WORDS, "a text", str),
    "number": (NUMBER, "a number", float),
    "flag": (FLAG, "true or false", bool),
    "list": (WORDS, "a list of texts, one of which has to match", list[str]),
    "url": (WORDS, "a URL", _URI),
    "email": (WORDS, "an email address", _EMAIL),
    "phone": (WORDS, "a telephone number", str),
    "image": (WORDS, "the URL of an image", _URI),
    "date": (DATE, "a date", _DATE),
    "hours": (HOURS, "opening hours", OpeningHours),
}
_NOT_SEEN_IN_TYPES: Final = ("phone", "image")


class Attribute(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a client can notice of an attribute.

    separator  between the texts of a list in CSV
    search     whether its texts are searched
    filter     whether records can be filtered, counted and sorted by it
    label      what pages call it; unset if they make a label of its name
    group      the heading under which pages show it
    show       where pages show it: with a store, which is the default, also as a column of the list, or nowhere
    """

    name: Annotated[str, Meta(pattern=rf"^{NAME.pattern}\Z")]  # held where a baked file is decoded
    kind: AttributeKind
    separator: str = SEPARATOR
    search: bool = False
    filter: bool = True
    label: _Text | UnsetType = UNSET  # these are not in the digest if they are unset
    group: _Text | UnsetType = UNSET
    show: Show | UnsetType = UNSET


class Declaration(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The attributes of stores and of companies, in the order in which they are served."""

    stores: tuple[Attribute, ...] = ()
    companies: tuple[Attribute, ...] = ()

    def __post_init__(self) -> None:
        """Raise `ValueError` if it has opening hours that are not one attribute of stores."""
        of_stores, of_companies = ([each.kind for each in listed] for listed in (self.stores, self.companies))
        if of_stores.count("hours") > 1 or "hours" in of_companies:
            raise ValueError("opening hours are at most one attribute, of stores")

    @property
    def digest(self) -> bytes:
        """A digest of what a client can notice; empty if nothing is declared."""
        return sha256(msgspec.json.encode(self)).digest()[:16] if self.stores or self.companies else b""


class Schema(msgspec.Struct, frozen=True, eq=False):
    """The resources of a data set: those of the interface with the attributes of a declaration."""

    stores: Resource
    companies: Resource
    declaration: Declaration

    def of(self, resource: Resource) -> Resource:
        """Return a resource of the interface with its attributes."""
        return self.stores if resource.name == STORES.name else self.companies


@lru_cache(4)  # the data set that is served, and those that requests still read
def schema_of(declaration: Declaration) -> Schema:
    """Return the schema of a declaration: the same one, as long as it is used, for the same declaration."""
    stores, companies = _with_attributes(STORES, declaration.stores), _with_attributes(COMPANIES, declaration.companies)
    return Schema(stores, companies, declaration)


def _with_attributes(resource: Resource, attributes: Sequence[Attribute]) -> Resource:
    if not attributes:
        return resource
    name, types = resource.record.__name__, [(each.name, _type_of(each)) for each in attributes]
    whole = define(f"{name}Attributes", f"The attributes of a {resource.noun}.", types)
    some = define(
        f"Partial{name}Attributes",
        f"Some attributes of a {resource.noun}, those that `fields` names.",
        [(name, of_kind | UnsetType, UNSET) for name, of_kind in types],
    )
    record = define(name, resource.record.__doc__, [(ATTRIBUTES, whole)], resource.record)
    shown = with_distance(record) if resource.coordinates else record
    items = (shown, partial(record, shown, {ATTRIBUTES: some}))
    fields = (*resource.fields, *map(field_of, attributes))
    return msgspec.structs.replace(resource, record=record, fields=fields, items=items)


def _type_of(attribute: Attribute) -> Any:
    """Return the type of a member, with what pages need to know of it in OpenAPI."""
    kind = attribute.kind if attribute.kind in _NOT_SEEN_IN_TYPES else UNSET
    hints = {"x-kind": kind, "x-label": attribute.label, "x-group": attribute.group, "x-show": attribute.show}
    known = {name: hint for name, hint in hints.items() if hint is not UNSET}
    of_kind = _KINDS[attribute.kind][2] | None
    return Annotated[of_kind, Meta(extra_json_schema=known)] if known else of_kind


def field_of(attribute: Attribute) -> Field:
    """Return the field that an attribute is."""
    kind, noun, _ = _KINDS[attribute.kind]
    filters = attribute.filter and kind is not HOURS
    return Field(
        PREFIX + attribute.name,
        kind,
        f"An attribute of this data set: {noun}.",
        filters=filters,
        facets=filters,
        sorts=filters and attribute.kind != "list",
        searched=attribute.search,
        attribute=attribute.kind,
        separator=attribute.separator if attribute.kind == "list" else "",
    )


NOTHING_DECLARED: Final = Declaration()
NO_ATTRIBUTES: Final = schema_of(NOTHING_DECLARED)
