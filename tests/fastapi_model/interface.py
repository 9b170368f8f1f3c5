"""The interface as a FastAPI application, written from its description alone: plain lists and full scans."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from http import HTTPStatus
from typing import Annotated, Any, Generic, TypeVar
from urllib.parse import quote, unquote, unquote_plus

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
    CompaniesCsvQuestion,
    CompaniesFileQuestion,
    CompaniesQuestion,
    FileQuestion,
    NearStoresCsvQuestion,
    NearStoresFileQuestion,
    NearStoresQuestion,
    NoQuestion,
    StoresCsvQuestion,
    StoresFileQuestion,
    StoresQuestion,
    strict,
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
_LEFT_OUT = ("page_num", "key")
# The characters that need no escape in the query of a URI, and those of existing escapes.
_OF_URIS = "!$&'()*+,;=:@/?%"
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
        found, shown = self._found(_pairs(question))
        page = Page(
            limit=limit,
            num_pages=-(-found.total_count // limit),
            page_num=page_num,
            sort_order=order,
            sort_by=field,
            total_count=found.total_count,
            data=shown,
        )
        if found.facets:
            page.facets = {name: _facet(name, facet) for name, facet in found.facets.items()}
        return page

    def geojson_page(self, question: StoresQuestion, path: str, query: str) -> Response:
        """Return a page as GeoJSON."""
        page, pairs = self.page(question), _pairs(question)
        _, shown = self._found(pairs)
        collection = {
            "type": "FeatureCollection",
            "numberMatched": page.total_count,
            "numberReturned": len(shown),
            "links": list(_links(page, path, query)),
            "features": self._features(pairs),
            **({"facets": page.model_dump()["facets"]} if page.facets else {}),
        }
        return Response(msgspec.json.encode(collection), media_type="application/geo+json")

    def file(self, question: FileQuestion, ending: str) -> Response:
        """Return all records."""
        pairs = [*_pairs(question), ("limit", str(len(self._records) + 1))]
        if ending == "geojson":
            body = msgspec.json.encode({"type": "FeatureCollection", "features": self._features(pairs)})
        elif ending == "ndjson":
            body = b"".join(msgspec.json.encode(record) + b"\n" for record in self._found(pairs)[1])
        else:
            mark = "\ufeff" if ("bom", "True") in pairs else ""
            body = (mark + "".join(map(_line, self._rows(pairs)))).encode()
        return Response(body)

    def _rows(self, pairs: Pairs) -> Iterator[Sequence[object]]:
        """Yield the header and the rows of a CSV."""
        known = [*self._collection.members, "distance"]
        near = [name for name, value in pairs if name == "near" and value]
        names = oracle.names(pairs, "fields", known) or known[: len(known) - (not near)]
        yield names
        for record in self._found(pairs)[1]:
            yield [record.get(name) for name in names]

    def _features(self, pairs: Pairs) -> list[dict[str, Any]]:
        whole, shown = self._found(pairs)
        points = {record["store_id"]: oracle.located(record) for record in self._records}
        return [
            {
                "type": "Feature",
                "id": record["store_id"],
                "geometry": (point := points[record["store_id"]])
                and {"type": "Point", "coordinates": [point[1], point[0]]},
                "properties": members,
            }
            for record, members in zip(whole.data, shown, strict=True)
        ]

    def _found(self, pairs: Pairs) -> tuple[oracle.Answer, list[dict[str, Any]]]:
        """Return the answer to a query, and the members that it shows of each record."""
        key = self._collection.identifier
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
        return found, [{name: record[name] for name in members if name in record} for record in shown]

    def clusters(self, question: ClustersQuestion) -> Response:
        """Return the clusters of a map."""
        features = oracle.clusters(self._records, _pairs(question), self._owners)
        body = msgspec.json.encode({"type": "FeatureCollection", "features": features})
        return Response(body, media_type="application/geo+json")


def _line(cells: Sequence[object]) -> str:
    """Return a line of a CSV."""
    texts = ["" if cell is None else str(cell).lower() if isinstance(cell, bool) else str(cell) for cell in cells]
    quoted = ['"{}"'.format(text.replace('"', '""')) if set(text) & set('",\r\n') else text for text in texts]
    return (",".join(quoted) if quoted != [""] else '""') + "\r\n"


def _links(page: Page, path: str, query: str) -> Iterator[dict[str, str]]:
    kept = [pair for pair in query.split("&") if pair and unquote_plus(pair.partition("=")[0]) not in _LEFT_OUT]
    base = f"{path}?{quote('&'.join(kept), safe=_OF_URIS)}{'&' if kept else ''}page_num="
    if page.page_num < page.num_pages:
        yield {"href": f"{base}{page.page_num + 1}", "rel": "next", "type": "application/geo+json"}
    if page.page_num > 1 and page.num_pages:
        number = min(page.page_num - 1, page.num_pages)
        yield {"href": f"{base}{number}", "rel": "prev", "type": "application/geo+json"}


def _pairs(question: StoresQuestion | CompaniesQuestion | FileQuestion | ClustersQuestion) -> Pairs:
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


def _add(model: FastAPI, path: str, question: type[BaseModel], answer: Callable[[Any, Request], Any]) -> None:
    """Add a path, and that of strict requests."""
    for prefix, kind in ((STRICT, strict(question)), ("", question)):

        @model.get(prefix + path, response_model=None)
        async def ask(question: Annotated[kind, Query()], request: Request) -> Any:  # type: ignore[valid-type]
            answered = answer(question, request)
            return answered.model_dump(exclude_unset=True) if isinstance(answered, BaseModel) else answered


def _add_stores(model: FastAPI, stores: Records[Store]) -> None:
    def page(question: StoresQuestion, request: Request) -> Page | Response:
        if request.headers.get("accept") != "application/geo+json":
            return stores.page(question)
        return stores.geojson_page(question, "/stores", request.url.query)

    _add(model, "/stores", StoresQuestion, page)
    _add(model, f"{NEAR}/stores", NearStoresQuestion, page)
    _add_files(model, "/stores", stores, StoresFileQuestion, StoresCsvQuestion)
    _add_files(model, f"{NEAR}/stores", stores, NearStoresFileQuestion, NearStoresCsvQuestion)
    _add(
        model, "/stores/{store_id}", NoQuestion, lambda _, request: stores.one(unquote(request.path_params["store_id"]))
    )


def _add_files(
    model: FastAPI, path: str, records: Records[Any], question: type[BaseModel], of_csv: type[BaseModel]
) -> None:
    for ending in ("csv", "ndjson", "geojson"):
        asked = of_csv if ending == "csv" else question
        _add(model, f"{path}.{ending}", asked, partial(_file, records, ending))


def _add_clusters(model: FastAPI, stores: Records[Store]) -> None:
    _add(model, "/clusters", ClustersQuestion, lambda question, _: stores.clusters(question))


def _add_companies(model: FastAPI, companies: Records[Company]) -> None:
    _add(model, "/companies", CompaniesQuestion, lambda question, _: companies.page(question))
    _add_files(model, "/companies", companies, CompaniesFileQuestion, CompaniesCsvQuestion)
    _add(model, "/companies/{identifier}", NoQuestion, partial(_one, companies))


def _one(records: Records[Any], _: object, request: Request) -> BaseModel:
    one: BaseModel = records.one(unquote(request.path_params["identifier"]))
    return one


def _file(records: Records[Any], ending: str, question: FileQuestion, _: Request) -> Response:
    return records.file(question, ending)


def _add_ignored(model: FastAPI) -> None:
    questions: dict[str, type[BaseModel]] = {
        "/stores": StoresQuestion,
        "/companies": CompaniesQuestion,
        "/clusters": ClustersQuestion,
        "/stores.csv": StoresCsvQuestion,
        "/stores.ndjson": StoresFileQuestion,
        "/stores.geojson": StoresFileQuestion,
        "/companies.csv": CompaniesCsvQuestion,
        "/companies.ndjson": CompaniesFileQuestion,
    }
    known = {
        path: {each.alias or name for name, each in question.model_fields.items()}
        for path, question in questions.items()
    }

    @model.middleware("http")
    async def choose_questions(request: Request, call_next: RequestResponseEndpoint) -> Response:
        path = request.scope["path"]
        if path.removeprefix(STRICT) in known and "/stores" in path and wanted(request.query_params.getlist("near")):
            request.scope["path"] = path.replace("/stores", f"{NEAR}/stores")
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
