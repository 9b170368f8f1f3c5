"""The interface as a FastAPI application, written from its description alone: plain lists and full scans."""

from collections.abc import Callable, Sequence
from http import HTTPStatus
from typing import Annotated, Any, Generic, TypeVar
from urllib.parse import unquote

import msgspec
from fastapi import FastAPI, HTTPException, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, create_model
from starlette.middleware.base import RequestResponseEndpoint

from service.model.operation import IGNORED_HEADER
from tests.baking.random_data_sets import RandomDataSet
from tests.engine import oracle
from tests.engine.oracle import Collection, Pairs, Record
from tests.fastapi_model.ignored import ignored
from tests.fastapi_model.questions import (
    ClustersQuestion,
    CompaniesQuestion,
    NearStoresQuestion,
    NoQuestion,
    StoresQuestion,
    StrictClustersQuestion,
    StrictCompaniesQuestion,
    StrictNearStoresQuestion,
    StrictStoresQuestion,
    wanted,
)
from tests.fastapi_model.raw_client import STRICT
from tests.interface_fields import COMPANY_FIELDS, STORE_FIELDS, Field, Fields
from tests.loading.oracle import answered_date


def record_of(fields: Fields) -> type[BaseModel]:
    """Return a model of a record in a response."""
    return create_model("Record", **{field.name: _member(field) for field in fields if "unserved" not in field.uses})


def _member(field: Field) -> Any:
    if field.kind == "instant":
        return str, ""
    text = bool if field.kind == "flag" else str
    return text if field.kind == "flag" or "required" in field.uses else text | None


class Store(record_of(STORE_FIELDS), BaseModel):  # type: ignore[misc] # its members are those of a list
    """A store in a response."""


class Company(record_of(COMPANY_FIELDS), BaseModel):  # type: ignore[misc] # its members are those of a list
    """A company in a response."""


# The prefix of the paths of requests with a point, for which other parameters take more values.
NEAR = "/near"
Item = TypeVar("Item", Store, Company)


class Count(BaseModel):
    """A value of a field, and how many records have it."""

    value: str | bool | None
    count: int


class Facet(BaseModel):
    """The values of a field."""

    distinct: int
    values: list[Count]


class Page(BaseModel):
    """A page of records in a response."""

    limit: int
    num_pages: int
    page_num: int
    sort_order: str
    sort_by: str
    total_count: int
    data: list[dict[str, str | bool | float | None]]
    facets: dict[str, Facet] = {}


class Records(Generic[Item]):
    """All records of a collection, as in the data and as in responses."""

    def __init__(
        self,
        collection: Collection,
        records: Sequence[Record],
        answered: Callable[[Record], Item],
        owners: Sequence[Record] = (),
    ) -> None:
        self._collection, self._records = collection, records
        self._owners = {record["company_id"]: record for record in owners}
        self.answered: dict[str | None, Item] = {record[collection.identifier]: answered(record) for record in records}

    def one(self, identifier: str) -> Item:
        """Return a record."""
        if identifier not in self.answered:
            noun = {"store_id": "Store", "company_id": "Company"}[self._collection.identifier]
            raise HTTPException(404, f"{noun} not found")
        return self.answered[identifier]

    def page(self, question: StoresQuestion | CompaniesQuestion) -> Page:
        """Return a page."""
        (limit,), (page_num,), (order,), (field,) = (
            question.limit,
            question.page_num,
            question.sort_order,
            question.sort_by,
        )
        key, pairs = self._collection.identifier, _pairs(question)
        found = oracle.answer(
            self._collection, self._records, [each for each in pairs if each[0] != "fields"], self._owners
        )
        shown: list[dict[str, Any]] = [
            self.answered[record[key]].model_dump(exclude_unset=True)
            | ({"distance": record["distance"]} if "distance" in record else {})
            for record in found.data
        ]
        known = [*self._collection.members, "distance"]
        members = oracle.names(pairs, "fields", known) or known
        page = Page(
            limit=limit,
            num_pages=-(-found.total_count // limit),
            page_num=page_num,
            sort_order=order,
            sort_by=field,
            total_count=found.total_count,
            data=[{name: record[name] for name in members if name in record} for record in shown],
        )
        if found.facets:
            page.facets = {name: _facet(name, facet) for name, facet in found.facets.items()}
        return page

    def clusters(self, question: ClustersQuestion) -> Response:
        """Return the clusters of a map."""
        features = oracle.clusters(self._records, _pairs(question), self._owners)
        body = msgspec.json.encode({"type": "FeatureCollection", "features": features})
        return Response(body, media_type="application/geo+json")


def _pairs(question: StoresQuestion | CompaniesQuestion | ClustersQuestion) -> Pairs:
    return [(name.rstrip("_"), str(value)) for name, values in question for value in values]


def _facet(name: str, facet: oracle.Facet) -> Facet:
    def answered(value: str | None) -> str | bool | None:
        return oracle.flag(value) if name == "is_open" and value is not None else value

    return Facet(
        distinct=facet.distinct, values=[Count(value=answered(value), count=count) for value, count in facet.values]
    )


def _store(record: Record) -> Store:
    """Return a store as in a response, without missing dates."""
    shown: dict[str, Any] = {name: value for name, value in record.items() if not name.endswith("_at")}
    shown |= {name: answered_date(date) for name in ("created_at", "updated_at") if (date := record[name]) is not None}
    return Store.model_validate(shown | {"is_open": oracle.flag(record["is_open"] or "")})


def _company(record: Record) -> Company:
    return Company.model_validate(record)


def application(made: RandomDataSet) -> FastAPI:
    """Return the model of a service that serves a data set. Strict requests have the path prefix `STRICT`."""
    model = FastAPI()
    model.add_exception_handler(RequestValidationError, _refusal)
    stores = Records(oracle.STORES, made.records["stores"], _store, made.records["companies"])
    _add_stores(model, stores)
    _add_clusters(model, stores)
    _add_companies(model, Records(oracle.COMPANIES, made.records["companies"], _company))
    _add_ignored(model)
    return model


def _add_stores(model: FastAPI, stores: Records[Store]) -> None:
    @model.get("/stores", response_model_exclude_unset=True)
    async def list_stores(question: Annotated[StoresQuestion, Query()]) -> Page:
        return stores.page(question)

    @model.get(f"{STRICT}/stores", response_model_exclude_unset=True)
    async def list_stores_strictly(question: Annotated[StrictStoresQuestion, Query()]) -> Page:
        return stores.page(question)

    @model.get(f"{NEAR}/stores", response_model_exclude_unset=True)
    async def list_stores_near(question: Annotated[NearStoresQuestion, Query()]) -> Page:
        return stores.page(question)

    @model.get(f"{NEAR}{STRICT}/stores", response_model_exclude_unset=True)
    async def list_stores_near_strictly(question: Annotated[StrictNearStoresQuestion, Query()]) -> Page:
        return stores.page(question)

    @model.get("/stores/{store_id}", response_model_exclude_unset=True)
    async def get_store(store_id: str) -> Store:
        return stores.one(unquote(store_id))

    @model.get(f"{STRICT}/stores/{{store_id}}", response_model_exclude_unset=True)
    async def get_store_strictly(store_id: str, _: Annotated[NoQuestion, Query()]) -> Store:
        return stores.one(unquote(store_id))


def _add_clusters(model: FastAPI, stores: Records[Store]) -> None:
    @model.get("/clusters")
    async def cluster_stores(question: Annotated[ClustersQuestion, Query()]) -> Response:
        return stores.clusters(question)

    @model.get(f"{STRICT}/clusters")
    async def cluster_stores_strictly(question: Annotated[StrictClustersQuestion, Query()]) -> Response:
        return stores.clusters(question)


def _add_companies(model: FastAPI, companies: Records[Company]) -> None:
    @model.get("/companies", response_model_exclude_unset=True)
    async def list_companies(question: Annotated[CompaniesQuestion, Query()]) -> Page:
        return companies.page(question)

    @model.get(f"{STRICT}/companies", response_model_exclude_unset=True)
    async def list_companies_strictly(question: Annotated[StrictCompaniesQuestion, Query()]) -> Page:
        return companies.page(question)

    @model.get("/companies/{company_id}")
    async def get_company(company_id: str) -> Company:
        return companies.one(unquote(company_id))

    @model.get(f"{STRICT}/companies/{{company_id}}")
    async def get_company_strictly(company_id: str, _: Annotated[NoQuestion, Query()]) -> Company:
        return companies.one(unquote(company_id))


def _add_ignored(model: FastAPI) -> None:
    questions: dict[str, type[BaseModel]] = {
        "/stores": StoresQuestion,
        "/companies": CompaniesQuestion,
        "/clusters": ClustersQuestion,
    }
    known = {
        path: {each.alias or name for name, each in question.model_fields.items()}
        for path, question in questions.items()
    }

    @model.middleware("http")
    async def choose_questions(request: Request, call_next: RequestResponseEndpoint) -> Response:
        path = request.scope["path"]
        if path.endswith("/stores") and wanted(request.query_params.getlist("near")):
            request.scope["path"] = NEAR + path
        response = await call_next(request)
        names = ignored(request.query_params, known.get(path.removeprefix(STRICT), ()))
        if names and response.status_code == HTTPStatus.OK:
            response.headers[IGNORED_HEADER] = names
        return response


async def _refusal(_: Request, error: Exception) -> JSONResponse:
    """Return FastAPI's errors, one for each parameter."""
    assert isinstance(error, RequestValidationError)
    items: dict[Any, object] = {}
    for each in error.errors():
        loc = each["loc"][:2]
        items.setdefault(loc, {"loc": loc, "msg": each["msg"], "type": each["type"]})
    return JSONResponse({"detail": list(items.values())}, 422)
