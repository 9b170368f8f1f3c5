"""The query parameters in pydantic, with the additions of the interface: blanks, repeats, its own integers."""

import re
from enum import StrEnum
from typing import Annotated, Final

from pydantic import BaseModel, BeforeValidator, Field
from pydantic_core import PydanticCustomError

# Of `\s` Unicode's White_Space lacks four control characters.
_INTEGER: Final = re.compile(r"[^\S\x1c-\x1f]*([+-]?)0*([0-9]+(?:_[0-9]+)*)(?:\.0+)?[^\S\x1c-\x1f]*")
_NO_INTEGER: Final = "no integer"


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


def spelled(text: object) -> object:
    """Return an integer without ignored characters; a plain non-integer for what the interface rejects."""
    if not isinstance(text, str):
        return text
    match = _INTEGER.fullmatch(text)
    return _NO_INTEGER if match is None else match[1] + (match[2].replace("_", "").lstrip("0") or "0")


Integer = Annotated[int, BeforeValidator(spelled)]
Texts = Annotated[list[str], BeforeValidator(wanted)]
Flags = Annotated[list[bool], BeforeValidator(wanted)]
Limit = Annotated[list[Annotated[Integer, Field(ge=1, le=1000)]], BeforeValidator(once)]
PageNum = Annotated[list[Annotated[Integer, Field(ge=1)]], BeforeValidator(once)]
Order = Annotated[list[SortOrder], BeforeValidator(once)]
StoreFields = Annotated[list[StoreField], BeforeValidator(once)]
CompanyFields = Annotated[list[CompanyField], BeforeValidator(once)]
StoreMembers = Annotated[list[StoreField], BeforeValidator(listed)]
CompanyMembers = Annotated[list[CompanyMember], BeforeValidator(listed)]
StoreFacets = Annotated[list[StoreFacet], Field(max_length=5), BeforeValidator(listed)]
CompanyFacets = Annotated[list[CompanyFacet], Field(max_length=5), BeforeValidator(listed)]


class StoresQuestion(BaseModel):
    """The parameters of /stores; each is a list of its values."""

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
    limit: Limit = [1000]
    page_num: PageNum = [1]
    sort_order: Order = [SortOrder.ASC]
    sort_by: StoreFields = [StoreField.CREATED_AT]
    fields_: StoreMembers = Field([], alias="fields")
    facets: StoreFacets = []


class CompaniesQuestion(BaseModel):
    """The parameters of /companies."""

    company_id: Texts = []
    name: Texts = []
    domain: Texts = []
    parent_company_id: Texts = []
    limit: Limit = [1000]
    page_num: PageNum = [1]
    sort_order: Order = [SortOrder.ASC]
    sort_by: CompanyFields = [CompanyField.CREATED_AT]
    fields_: CompanyMembers = Field([], alias="fields")
    facets: CompanyFacets = []


class StrictStoresQuestion(StoresQuestion, extra="forbid"):
    """The same, rejecting unknown parameters."""


class StrictCompaniesQuestion(CompaniesQuestion, extra="forbid"):
    """The same, rejecting unknown parameters."""


class NoQuestion(BaseModel, extra="forbid"):
    """The parameters of one record, rejecting unknown ones: none."""
