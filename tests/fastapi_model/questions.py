"""The query parameters in pydantic, with the additions of the interface: blanks, repeats, its own integers."""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from decimal import Decimal
from enum import StrEnum
from functools import cache
from typing import Annotated, Any, Final

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, create_model, model_validator
from pydantic_core import PydanticCustomError

from tests.declared_attributes import PREFIX, Attribute, hours_of
from tests.engine import oracle
from tests.engine.search_oracle import tokens
from tests.interface_fields import STORE_FIELDS, Fields, members, names

# Of `\s` Unicode's White_Space lacks four control characters.
_INTEGER: Final = re.compile(r"[^\S\x1c-\x1f]*([+-]?)0*([0-9]+(?:_[0-9]+)*)(?:\.0+)?[^\S\x1c-\x1f]*")
_NO_INTEGER: Final = "no integer"
_DECIMAL: Final = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,3})?")
_NOT_FINITE: Final = re.compile(r"[+-]?(nan|inf|infinity)", re.ASCII | re.IGNORECASE)
_NUMBER: Final = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")
_NO_DECIMAL: Final = "no decimal"
_MISSING: Final = "(missing)"


class SortOrder(StrEnum):
    """The sort orders."""

    ASC = "asc"
    DESC = "desc"


def wanted(values: list[str]) -> list[str]:
    """Return the effective values of a filter."""
    return [value for value in values if value.strip() and value != "null"]


def listed(values: list[str]) -> list[str]:
    """Return the distinct names of a list, separated by commas or repeated."""
    parts = [part.strip() for value in values for part in value.split(",")]
    return list(dict.fromkeys(filter(None, parts)))


def once(values: list[str]) -> list[str]:
    """Return the value of a parameter that is ambiguous when it is repeated."""
    if len(values) > 1:
        raise PydanticCustomError("multiple_values", "Input should be given once")
    return values


def present(values: list[str]) -> list[str]:
    """Return the values of a required parameter."""
    if not values:
        raise PydanticCustomError("missing", "Field required")
    return values


def decimal(text: object) -> object:
    """Return a number, finite or not, without ignored characters; else a plain non-decimal."""
    stripped = str(text).strip()
    return stripped if _NUMBER.fullmatch(stripped) or _NOT_FINITE.fullmatch(stripped) else _NO_DECIMAL


def degrees(text: str, largest: list[int]) -> list[Decimal] | None:
    """Return numbers that are separated by commas, None if they are not those of angles up to the largest ones."""
    parts = [part.strip() for part in text.split(",")]
    if len(parts) != len(largest) or not all(map(_DECIMAL.fullmatch, parts)):
        return None
    numbers = [Decimal(part) for part in parts]
    return numbers if all(-most <= number <= most for number, most in zip(numbers, largest, strict=True)) else None


def point(text: str) -> str:
    """Return a valid point."""
    if text == _MISSING:
        raise PydanticCustomError("missing", "Field required")
    if degrees(text, [90, 180]) is None:
        raise ValueError("expected latitude,longitude in decimal degrees, such as 43.65,-79.38")
    return text


def box(text: str) -> str:
    """Return a valid box."""
    edges = degrees(text, [10**1000, 90, 10**1000, 90])
    if edges is None:
        raise ValueError("expected west,south,east,north in decimal degrees, such as -79.6,43.5,-79.1,43.9")
    if any(edge > 180 or edge < -180 for edge in edges[::2]):
        raise ValueError("longitudes must be between -180 and 180; west greater than east crosses the antimeridian")
    if edges[1] > edges[3]:
        raise ValueError("south must not be greater than north")
    return text


def in_form(form: oracle.Form) -> Any:
    """Return the type of values of a filter of which some are intervals."""

    def valid(text: str) -> str:
        if oracle.takes_interval(form, PREFIX, text):
            oracle.interval(form, text)
        return text

    return Annotated[list[Annotated[str, AfterValidator(valid)]], BeforeValidator(wanted)]


def open_at(text: str) -> str:
    """Return a valid time at which stores are open."""
    oracle.open_at(text)
    return text


def search(text: str) -> str:
    """Return a valid search."""
    if len(text) > 256 or len(tokens(text)) > 16:
        raise ValueError("expected at most 16 words and 256 characters")
    return text


def spelled(text: object) -> object:
    """Return an integer without ignored characters; a plain non-integer for what the interface rejects."""
    if not isinstance(text, str):
        return text
    match = _INTEGER.fullmatch(text)
    return _NO_INTEGER if match is None else match[1] + (match[2].replace("_", "").lstrip("0") or "0")


Integer = Annotated[int, BeforeValidator(spelled)]
Texts = Annotated[list[str], BeforeValidator(wanted)]
Flags = Annotated[list[bool], BeforeValidator(wanted)]
Flag = Annotated[list[bool], BeforeValidator(once), BeforeValidator(wanted)]
Limit = Annotated[list[Annotated[Integer, Field(ge=1, le=1000)]], BeforeValidator(once)]
PageNum = Annotated[list[Annotated[Integer, Field(ge=1)]], BeforeValidator(once)]
Order = Annotated[list[SortOrder], BeforeValidator(once)]
Near = Annotated[list[Annotated[str, AfterValidator(point)]], BeforeValidator(once), BeforeValidator(wanted)]
Metres = Annotated[float, Field(gt=0, allow_inf_nan=False), BeforeValidator(decimal)]
Radius = Annotated[list[Metres], BeforeValidator(once), BeforeValidator(wanted)]
Box = Annotated[list[Annotated[str, AfterValidator(box)]], BeforeValidator(once), BeforeValidator(wanted)]
MapBox = Annotated[
    list[Annotated[str, AfterValidator(box)]], BeforeValidator(once), BeforeValidator(present), BeforeValidator(wanted)
]
Zoom = Annotated[
    list[Annotated[Integer, Field(ge=0, le=22)]],
    BeforeValidator(once),
    BeforeValidator(present),
    BeforeValidator(wanted),
]
OpenAt = Annotated[list[Annotated[str, AfterValidator(open_at)]], BeforeValidator(once), BeforeValidator(wanted)]
Search = Annotated[list[Annotated[str, AfterValidator(search)]], BeforeValidator(once), BeforeValidator(wanted)]


class Question(BaseModel):
    """The parameters of a request, each as the list of its values."""

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """The names and values."""
        given = zip(self.names(), self, strict=True)
        return [(name, str(value)) for name, (_, values) in given for value in values]

    @classmethod
    def names(cls) -> list[str]:
        """Return the names of all parameters."""
        return [field.alias or name for name, field in cls.model_fields.items()]


class PlaceQuestion(Question):
    """The parameters of a request that may have a point."""

    @model_validator(mode="before")
    @classmethod
    def needs_near(cls, given: dict[str, Any]) -> dict[str, Any]:
        """Mark `near` as missing if other parameters need it."""
        by_distance = given.get("sort_by") == ["distance"]
        if wanted(given.get("near", [])) or not (by_distance or wanted(given.get("radius", []))):
            return given
        return {**given, "near": [_MISSING], **({"sort_by": ["created_at"]} if by_distance else {})}


_FILTERS: Final[dict[str, Any]] = {"flag": Flags, "instant": in_form(oracle.instant)}
_OF_ATTRIBUTES: Final[dict[str, Any]] = {"flag": Flags, "number": in_form(oracle.number), "date": in_form(str.strip)}
_PLACE: Final[dict[str, Any]] = {"near": (Near, []), "radius": (Radius, []), "bbox": (Box, [])}
_SEARCH: Final[dict[str, Any]] = {"q": (Search, [])}
_PAGE: Final[dict[str, Any]] = {"limit": (Limit, [1000]), "page_num": (PageNum, [1])}
_ORDER: Final[dict[str, Any]] = {"sort_order": (Order, [SortOrder.ASC])}
_MAP: Final[dict[str, Any]] = {
    "bbox": (MapBox, Field([], validate_default=True)),
    "zoom": (Zoom, Field([], validate_default=True)),
}
_Typed = Annotated[
    list[Annotated[str, AfterValidator(search)]],
    BeforeValidator(once),
    BeforeValidator(present),
    BeforeValidator(wanted),
]
FewPlaces = Annotated[list[Annotated[Integer, Field(ge=1, le=50)]], BeforeValidator(once)]
PLACES: Final = create_model(
    "PlacesQuestion",
    __base__=Question,
    country=(Texts, []),
    near=(Near, []),
    q=(_Typed, Field([], validate_default=True)),
    limit=(FewPlaces, [8]),
)
NO_QUESTION: Final = create_model("NoQuestion", __base__=Question)


@cache
def question_of(fields: Fields, attributes: Sequence[Attribute], kind: str, *, near: bool = False) -> type[Question]:
    """Return the parameters of a list, a map or a file: `kind` is `list`, `map`, `csv` or another ending.

    `near` is whether there is a point, with which others take more values.
    """
    parameters: dict[str, Any] = {
        field.name: (_FILTERS.get(field.kind, Texts), []) for field in fields if "filters" in field.uses
    }
    parameters |= {
        f"attribute_{place}": (_OF_ATTRIBUTES.get(each.kind, Texts), Field([], alias=each.name))
        for place, each in enumerate(attributes)
        if each.filters
    }
    if hours_of(attributes):
        parameters["open_at"] = (OpenAt, [])
    is_located = fields is STORE_FIELDS
    if kind == "map":
        parameters |= _MAP | _SEARCH
    else:
        parameters |= (_PLACE if is_located else {}) | _SEARCH | (_PAGE if kind == "list" else {}) | _ORDER
        parameters |= _named(fields, attributes, ["distance"] if near else [])
    if kind != "list":
        parameters.pop("facets", None)
    if kind == "csv":
        parameters["bom"] = (Flag, [])
    base = PlaceQuestion if is_located and kind != "map" else Question
    return create_model("ListQuestion", __base__=base, **parameters)


def _named(fields: Fields, attributes: Sequence[Attribute], distance: list[str]) -> dict[str, Any]:
    """Return the parameters whose values are names."""
    filtered = [each.name for each in attributes if each.filters]
    shown = [*members(fields), *(["attributes"] if attributes else []), *(each.name for each in attributes), *distance]
    keys = [*names(fields), *(each.name for each in attributes if each.filters and each.kind != "list"), *distance]
    return {
        "sort_by": (_choices(keys, once), distance or ["created_at"]),
        "fields_": (_choices(shown, listed), Field([], alias="fields")),
        "facets": (_choices([*names(fields, "facets"), *filtered], listed, 5), []),
    }


def _choices(choices: Sequence[str], before: Callable[[list[str]], list[str]], most: int | None = None) -> Any:
    """Return the type of a list of some choices."""
    choice: Any = StrEnum("Choice", [(each.upper(), each) for each in choices])  # type: ignore[misc] # computed
    return Annotated[list[choice], Field(max_length=most), BeforeValidator(before)]


OpeningHours: Final = create_model("OpeningHours")
_TYPES: Final[Mapping[str, Any]] = {
    "text": str,
    "number": float,
    "flag": bool,
    "list": list[str],
    **dict.fromkeys(("url", "image"), Annotated[str, Field(json_schema_extra={"format": "uri"})]),
    "email": Annotated[str, Field(json_schema_extra={"format": "email"})],
    "phone": str,
    "date": date,
    "hours": OpeningHours,
}


def _member(attribute: Attribute) -> Any:
    """Return the type of an attribute, with the kind that a page cannot tell from it, and its label."""
    kind = {"x-kind": attribute.kind} if attribute.kind in ("phone", "image") else {}
    label = {"x-label": attribute.label} if attribute.label else {}
    return Annotated[_TYPES[attribute.kind] | None, Field(json_schema_extra={**kind, **label})]


def typed(name: str, attributes: Sequence[Attribute]) -> type[BaseModel]:
    """Return the type of the attributes of a record."""
    members: dict[str, Any] = {each.name.removeprefix(PREFIX): _member(each) for each in attributes}
    return create_model(name, **members)


@cache
def strict(question: type[Question]) -> type[Question]:
    """Return the same parameters, rejecting unknown ones."""

    class Strict(question, extra="forbid"):  # type: ignore[call-arg, misc, valid-type]
        """The same, rejecting unknown parameters."""

    return Strict
