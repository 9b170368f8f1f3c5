"""The records and pages of the FastAPI peer."""

from dataclasses import dataclass
from typing import Literal

Order = Literal["asc", "desc"]
SortKey = Literal[
    "store_id",
    "company_id",
    "parent_company_id",
    "name",
    "address_1",
    "address_2",
    "city",
    "province",
    "country",
    "postal_code",
    "phone_number",
    "is_open",
    "latitude",
    "longitude",
    "created_at",
    "updated_at",
]


@dataclass(slots=True)
class Store:
    """A store as it is answered."""

    store_id: str
    company_id: str
    parent_company_id: str | None
    name: str | None
    address_1: str
    address_2: str | None
    city: str
    province: str | None
    country: str
    postal_code: str | None
    phone_number: str | None
    is_open: bool
    latitude: str | None
    longitude: str | None
    created_at: str | None
    updated_at: str | None


@dataclass(slots=True)
class Company:
    """A company as it is answered."""

    company_id: str
    name: str
    domain: str | None
    parent_company_id: str | None


@dataclass(slots=True)
class Page:
    """A page of stores."""

    limit: int
    num_pages: int
    page_num: int
    sort_order: Order
    sort_by: SortKey
    total_count: int
    data: list[Store]


@dataclass(slots=True)
class FoundStore(Store):
    """A store with its distance in metres from the point that was asked for, if one was."""

    distance: float | None


@dataclass(slots=True)
class FoundPage:
    """A page of stores at a place, or with some words."""

    limit: int
    num_pages: int
    page_num: int
    total_count: int
    data: list[FoundStore]
