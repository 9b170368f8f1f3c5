"""The query parameters in pydantic, with the additions of the interface: blanks, repeats, its own integers."""

import re
from decimal import Decimal
from enum import StrEnum
from typing import Annotated, Any, Final

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from tests.engine.search_oracle import tokens

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
    """The sort keys of stores."""

    STORE_ID = "store_id"
    COMPANY_ID = "company_id"
    PARENT_COMPANY_ID = "parent_company_id"
    NAME = "name"
    ADDRESS_1 = "address_1"
    ADDRESS_2 = "address_2"
    CITY = "city"
    PROVINCE = "province"
    COUNTRY = "country"
    POSTAL_CODE = "postal_code"
    PHONE_NUMBER = "phone_number"
    IS_OPEN = "is_open"
    LATITUDE = "latitude"
    LONGITUDE = "longitude"
    CREATED_AT = "created_at"
    UPDATED_AT = "updated_at"


class NearStoreField(StrEnum):
    """The sort keys and members of stores near a point."""

    STORE_ID = "store_id"
    COMPANY_ID = "company_id"
    PARENT_COMPANY_ID = "parent_company_id"
    NAME = "name"
    ADDRESS_1 = "address_1"
    ADDRESS_2 = "address_2"
    CITY = "city"
    PROVINCE = "province"
    COUNTRY = "country"
    POSTAL_CODE = "postal_code"
    PHONE_NUMBER = "phone_number"
    IS_OPEN = "is_open"
    LATITUDE = "latitude"
    LONGITUDE = "longitude"
    CREATED_AT = "created_at"
    UPDATED_AT = "updated_at"
    DISTANCE = "distance"


class StoreFacet(StrEnum):
    """The fields of stores whose values are counted."""

    COMPANY_ID = "company_id"
    PARENT_COMPANY_ID = "parent_company_id"
    CITY = "city"
    PROVINCE = "province"
    COUNTRY = "country"
    POSTAL_CODE = "postal_code"
    IS_OPEN = "is_open"


class CompanyMember(StrEnum):
    """The members of companies."""

    COMPANY_ID = "company_id"
    NAME = "name"
    DOMAIN = "domain"
    PARENT_COMPANY_ID = "parent_company_id"


class CompanyFacet(StrEnum):
    """The fields of companies whose values are counted."""

    DOMAIN = "domain"
    PARENT_COMPANY_ID = "parent_company_id"


class CompanyField(StrEnum):
    """The sort keys of companies."""

    COMPANY_ID = "company_id"
    NAME = "name"
    DOMAIN = "domain"
    PARENT_COMPANY_ID = "parent_company_id"
    CREATED_AT = "created_at"


def wanted(values: list[str]) -> list[str]:
    """Return the effective values of a filter."""
    return [value for value in values if value.strip() and value != "null"]


def listed(values: list[str]) -> list[str]:
    """Return the distinct names of a list, separated by commas or repeated."""
    names = [part.strip() for value in values for part in value.split(",")]
    return list(dict.fromkeys(filter(None, names)))


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


class StoreFilters(BaseModel):
    """The filters of stores; each is a list of its values, like all parameters."""

    store_id: Texts = []
    company_id: Texts = []
    parent_company_id: Texts = []
    city: Texts = []
    province: Texts = []
    country: Texts = []
    postal_code: Texts = []
    is_open: Flags = []
    latitude: Texts = []
    longitude: Texts = []


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
    sort_by: StoreFields = [StoreField.CREATED_AT]
    fields_: StoreMembers = Field([], alias="fields")
    facets: StoreFacets = []


class NearStoresQuestion(StoresQuestion):
    """The parameters of /stores if there is a point."""

    sort_by: NearStoreFields = [NearStoreField.DISTANCE]  # type: ignore[assignment]
    fields_: NearStoreMembers = Field([], alias="fields")  # type: ignore[assignment]


class StoresFileQuestion(StoresSearch):
    """The parameters of a file of stores."""

    sort_order: Order = [SortOrder.ASC]
    sort_by: StoreFields = [StoreField.CREATED_AT]
    fields_: StoreMembers = Field([], alias="fields")


class NearStoresFileQuestion(StoresFileQuestion):
    """The parameters of a file of stores if there is a point."""

    sort_by: NearStoreFields = [NearStoreField.DISTANCE]  # type: ignore[assignment]
    fields_: NearStoreMembers = Field([], alias="fields")  # type: ignore[assignment]


class StoresCsvQuestion(StoresFileQuestion):
    """The parameters of /stores.csv."""

    bom: Flag = []


class NearStoresCsvQuestion(NearStoresFileQuestion):
    """The parameters of /stores.csv if there is a point."""

    bom: Flag = []


class CompaniesSearch(BaseModel):
    """The parameters that select companies."""

    company_id: Texts = []
    name: Texts = []
    domain: Texts = []
    parent_company_id: Texts = []
    q: Search = []


class CompaniesQuestion(CompaniesSearch):
    """The parameters of /companies."""

    limit: Limit = [1000]
    page_num: PageNum = [1]
    sort_order: Order = [SortOrder.ASC]
    sort_by: CompanyFields = [CompanyField.CREATED_AT]
    fields_: CompanyMembers = Field([], alias="fields")
    facets: CompanyFacets = []


class CompaniesFileQuestion(CompaniesSearch):
    """The parameters of a file of companies."""

    sort_order: Order = [SortOrder.ASC]
    sort_by: CompanyFields = [CompanyField.CREATED_AT]
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
