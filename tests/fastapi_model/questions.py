"""The query parameters in pydantic, with the additions of the interface: blanks, repeats, its own integers."""

import re
from decimal import Decimal
from enum import StrEnum
from typing import Annotated, Any, Final

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, create_model, model_validator
from pydantic_core import PydanticCustomError

from tests.engine.search_oracle import tokens
from tests.interface_fields import COMPANY_FIELDS, STORE_FIELDS, Fields, members, names

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


class StoreField(StrEnum):
    """The members and sort keys of stores."""

    _ignore_ = "each choices"
    choices = vars()
    for each in names(STORE_FIELDS):
        choices[each.upper()] = each


class NearStoreField(StrEnum):
    """The members and sort keys of stores near a point."""

    _ignore_ = "each choices"
    choices = vars()
    for each in (*names(STORE_FIELDS), "distance"):
        choices[each.upper()] = each


class StoreFacet(StrEnum):
    """The fields of stores whose values are counted."""

    _ignore_ = "each choices"
    choices = vars()
    for each in names(STORE_FIELDS, "facets"):
        choices[each.upper()] = each


class CompanyMember(StrEnum):
    """The members of companies."""

    _ignore_ = "each choices"
    choices = vars()
    for each in members(COMPANY_FIELDS):
        choices[each.upper()] = each


class CompanyFacet(StrEnum):
    """The fields of companies whose values are counted."""

    _ignore_ = "each choices"
    choices = vars()
    for each in names(COMPANY_FIELDS, "facets"):
        choices[each.upper()] = each


class CompanyField(StrEnum):
    """The sort keys of companies."""

    _ignore_ = "each choices"
    choices = vars()
    for each in names(COMPANY_FIELDS):
        choices[each.upper()] = each


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
    edges = degrees(text, [180, 90, 180, 90])
    if edges is None:
        raise ValueError("expected west,south,east,north in decimal degrees, such as -79.6,43.5,-79.1,43.9")
    if edges[1] > edges[3]:
        raise ValueError("south must not be greater than north")
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
Search = Annotated[list[Annotated[str, AfterValidator(search)]], BeforeValidator(once), BeforeValidator(wanted)]
NearStoreFields = Annotated[list[NearStoreField], BeforeValidator(once)]
NearStoreMembers = Annotated[list[NearStoreField], BeforeValidator(listed)]
StoreFields = Annotated[list[StoreField], BeforeValidator(once)]
CompanyFields = Annotated[list[CompanyField], BeforeValidator(once)]
StoreMembers = Annotated[list[StoreField], BeforeValidator(listed)]
CompanyMembers = Annotated[list[CompanyMember], BeforeValidator(listed)]
StoreFacets = Annotated[list[StoreFacet], Field(max_length=5), BeforeValidator(listed)]
CompanyFacets = Annotated[list[CompanyFacet], Field(max_length=5), BeforeValidator(listed)]


def filters_of(fields: Fields) -> type[BaseModel]:
    """Return a model with the filters by fields; each is a list of its values, like all parameters."""
    kinds = {field.name: Flags if field.kind == "flag" else Texts for field in fields if "filters" in field.uses}
    made: dict[str, Any] = {name: (kind, []) for name, kind in kinds.items()}
    return create_model("Filters", **made)


class StoreFilters(filters_of(STORE_FIELDS), BaseModel):  # type: ignore[misc] # its members are those of a list
    """The filters of stores."""


class StoresSearch(StoreFilters):
    """The parameters that select stores."""

    near: Near = []
    radius: Radius = []
    bbox: Box = []
    q: Search = []

    @model_validator(mode="before")
    @classmethod
    def needs_near(cls, given: dict[str, Any]) -> dict[str, Any]:
        """Mark `near` as missing if other parameters need it."""
        by_distance = given.get("sort_by") == ["distance"]
        if wanted(given.get("near", [])) or not (by_distance or wanted(given.get("radius", []))):
            return given
        return {**given, "near": [_MISSING], **({"sort_by": ["created_at"]} if by_distance else {})}


class StoresQuestion(StoresSearch):
    """The parameters of /stores."""

    limit: Limit = [1000]
    page_num: PageNum = [1]
    sort_order: Order = [SortOrder.ASC]
    sort_by: StoreFields = [StoreField("created_at")]
    fields_: StoreMembers = Field([], alias="fields")
    facets: StoreFacets = []


class NearStoresQuestion(StoresQuestion):
    """The parameters of /stores if there is a point."""

    sort_by: NearStoreFields = [NearStoreField("distance")]  # type: ignore[assignment]
    fields_: NearStoreMembers = Field([], alias="fields")  # type: ignore[assignment]


class StoresFileQuestion(StoresSearch):
    """The parameters of a file of stores."""

    sort_order: Order = [SortOrder.ASC]
    sort_by: StoreFields = [StoreField("created_at")]
    fields_: StoreMembers = Field([], alias="fields")


class NearStoresFileQuestion(StoresFileQuestion):
    """The parameters of a file of stores if there is a point."""

    sort_by: NearStoreFields = [NearStoreField("distance")]  # type: ignore[assignment]
    fields_: NearStoreMembers = Field([], alias="fields")  # type: ignore[assignment]


class StoresCsvQuestion(StoresFileQuestion):
    """The parameters of /stores.csv."""

    bom: Flag = []


class NearStoresCsvQuestion(NearStoresFileQuestion):
    """The parameters of /stores.csv if there is a point."""

    bom: Flag = []


class CompaniesSearch(filters_of(COMPANY_FIELDS), BaseModel):  # type: ignore[misc] # its members are those of a list
    """The parameters that select companies."""

    q: Search = []


class CompaniesQuestion(CompaniesSearch):
    """The parameters of /companies."""

    limit: Limit = [1000]
    page_num: PageNum = [1]
    sort_order: Order = [SortOrder.ASC]
    sort_by: CompanyFields = [CompanyField("created_at")]
    fields_: CompanyMembers = Field([], alias="fields")
    facets: CompanyFacets = []


class CompaniesFileQuestion(CompaniesSearch):
    """The parameters of a file of companies."""

    sort_order: Order = [SortOrder.ASC]
    sort_by: CompanyFields = [CompanyField("created_at")]
    fields_: CompanyMembers = Field([], alias="fields")


class CompaniesCsvQuestion(CompaniesFileQuestion):
    """The parameters of /companies.csv."""

    bom: Flag = []


class ClustersQuestion(StoreFilters):
    """The parameters of /clusters."""

    bbox: MapBox = Field([], validate_default=True)
    zoom: Zoom = Field([], validate_default=True)
    q: Search = []


FileQuestion = StoresFileQuestion | CompaniesFileQuestion


def strict(question: type[BaseModel]) -> type[BaseModel]:
    """Return the same parameters, rejecting unknown ones."""

    class Strict(question, extra="forbid"):  # type: ignore[call-arg, misc, valid-type]
        """The same, rejecting unknown parameters."""

    return Strict


class NoQuestion(BaseModel):
    """The parameters of one record: none."""
