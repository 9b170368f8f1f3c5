"""The interface as a FastAPI application, written from its description alone: plain lists and full scans."""

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from functools import partial
from http import HTTPStatus
from typing import Annotated, Any
from urllib.parse import quote, unquote, unquote_plus

import orjson
from fastapi import FastAPI, HTTPException, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.middleware.base import RequestResponseEndpoint

from service.model.operation import IGNORED_HEADER
from tests.baking.random_datasets import RandomDataset
from tests.declared_attributes import PREFIX, json_value, nested, with_fields
from tests.engine import oracle, places_oracle
from tests.engine.oracle import Collection, Pairs, Record
from tests.fastapi_model.questions import NO_QUESTION, PLACES, Question, question_of, strict, wanted
from tests.fastapi_model.raw_client import STRICT, ignored
from tests.interface_fields import COMPANY_FIELDS, STORE_FIELDS, Fields
from tests.loading.oracle import answered_date

# The prefix of the paths of requests with a point, for which other parameters take more values.
NEAR = "/near"
_LEFT_OUT = ("page_num", "key")
# The characters that need no escape in the query of a URI, and those of existing escapes.
_OF_URIS = "!$&'()*+,;=:@/?%"
Object = dict[str, Any]


class Records:
    """All records of a collection, as in the data and as in responses."""

    def __init__(
        self, collection: Collection, made: RandomDataset, fields: Fields, owners: Sequence[Record] = ()
    ) -> None:
        name = {"store_id": "stores", "company_id": "companies"}[collection.identifier]
        self.fields, self.attributes, self._records = fields, made.attributes[name], made.records[name]
        self._collection = with_fields(collection, self.attributes)
        self._owners = {record["company_id"]: record for record in owners}
        self.answered = {record[collection.identifier]: self._answered(record) for record in self._records}
        inner = [each.name for each in self.attributes]
        self._known = [*collection.members, *(["attributes"] if inner else []), *inner, "distance"]

    def _answered(self, record: Record) -> Object:
        """Return a record as in a response, without missing dates."""
        shown = nested(self.attributes, record)
        for field in self.fields:
            value = shown[field.name]
            if "unserved" in field.uses or (field.kind == "instant" and value is None):
                del shown[field.name]
            elif field.kind in ("flag", "instant"):
                shown[field.name] = oracle.flag(value) if field.kind == "flag" else answered_date(value)
        return shown

    def one(self, identifier: str) -> Object:
        """Return a record."""
        if identifier not in self.answered:
            noun = {"store_id": "Store", "company_id": "Company"}[self._collection.identifier]
            raise HTTPException(404, f"{noun} not found")
        return self.answered[identifier]

    def page(self, pairs: Pairs) -> Object:
        """Return a page."""
        given = dict(pairs)
        limit = int(given["limit"])
        found, shown = self._found(pairs)
        facets = {name: self._facet(name, facet) for name, facet in found.facets.items()}
        return {
            "limit": limit,
            "num_pages": -(-found.total_count // limit),
            "page_num": orjson.Fragment(given["page_num"]),  # it may have more digits than orjson takes of an integer
            "sort_order": given["sort_order"],
            "sort_by": given["sort_by"],
            "total_count": found.total_count,
            "data": shown,
            **({"facets": facets} if facets else {}),
        }

    def geojson_page(self, pairs: Pairs, path: str, query: str) -> Response:
        """Return a page as GeoJSON."""
        page = self.page(pairs)
        collection = {
            "type": "FeatureCollection",
            "numberMatched": page["total_count"],
            "numberReturned": len(page["data"]),
            "links": list(_links(int(dict(pairs)["page_num"]), page["num_pages"], path, query)),
            "features": self._features(pairs),
            **({"facets": page["facets"]} if "facets" in page else {}),
        }
        return _response(collection, "application/geo+json")

    def file(self, pairs: Pairs, ending: str) -> Response:
        """Return all records."""
        pairs = [*pairs, ("limit", str(len(self._records) + 1))]
        if ending == "geojson":
            return _response({"type": "FeatureCollection", "features": self._features(pairs)})
        if ending == "ndjson":
            return Response(b"".join(orjson.dumps(record) + b"\n" for record in self._found(pairs)[1]))
        mark = "\ufeff" if ("bom", "True") in pairs else ""
        return Response((mark + "".join(map(_line, self._rows(pairs)))).encode())

    def _rows(self, pairs: Pairs) -> Iterator[Sequence[object]]:
        """Yield the header and the rows of a CSV."""
        near = [name for name, value in pairs if name == "near" and value]
        named = oracle.names(pairs, "fields", self._known)
        whole = not named or "attributes" in named
        columns = [
            name
            for name in self._known
            if name in named or (name.startswith(PREFIX) and whole) or (not named and (near or name != "distance"))
            if name != "attributes"
        ]
        yield columns
        texts, separators = self._by_identifier, {each.name: each.separator for each in self.attributes}
        for whole_record, record in zip(self._found(pairs)[0].data, self._found(pairs)[1], strict=True):
            text = texts[whole_record[self._collection.identifier]]
            yield [
                (text[name] or "").replace("\n", separators[name]) if name in separators else record.get(name)
                for name in columns
            ]

    @property
    def in_order(self) -> Sequence[Record]:
        """The records in the default order."""
        return oracle.in_default_order(self._collection, self._records)

    @property
    def _by_identifier(self) -> Mapping[str | None, Record]:
        return {record[self._collection.identifier]: record for record in self._records}

    def _features(self, pairs: Pairs) -> list[Object]:
        whole, shown = self._found(pairs)
        points = {identifier: oracle.located(record) for identifier, record in self._by_identifier.items()}
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

    def _found(self, pairs: Pairs) -> tuple[oracle.Answer, list[Object]]:
        """Return the answer to a query, and the members that it shows of each record."""
        found = oracle.answer(
            self._collection, self._records, [each for each in pairs if each[0] != "fields"], self._owners
        )
        named = oracle.names(pairs, "fields", self._known)
        return found, [self._shown(record, named) for record in found.data]

    def _shown(self, found: Mapping[str, Any], named: Sequence[str]) -> Object:
        """Return the members of a record that have some names, all if there are none."""
        record = self.answered[found[self._collection.identifier]]
        if "distance" in found:
            record = {**record, "distance": found["distance"]}
        if not named:
            return record
        inner = {
            name: value
            for name, value in record.get("attributes", {}).items()
            if "attributes" in named or PREFIX + name in named
        }
        shown = {**record, "attributes": inner}
        return {name: value for name, value in shown.items() if name in named or (name == "attributes" and inner)}

    def _facet(self, name: str, facet: oracle.Facet) -> Object:
        kinds = {each.name: each.kind.replace("list", "text") for each in self.attributes}

        def answered(text: str | None) -> Any:
            if name == "is_open" and text is not None:
                return oracle.flag(text)
            return json_value(kinds.get(name, "text"), text)

        return {
            "distinct": facet.distinct,
            "values": [{"value": answered(value), "count": count} for value, count in facet.values],
        }

    def clusters(self, pairs: Pairs) -> Response:
        """Return the clusters of a map."""
        features = oracle.clusters(self._records, pairs, self._owners, self._collection)
        return _response({"type": "FeatureCollection", "features": features}, "application/geo+json")


def _response(answer: Object, media_type: str = "application/json") -> Response:
    """Return a response with the digits of numbers as they are in the data, which FastAPI would not keep."""
    return Response(orjson.dumps(answer), media_type=media_type)


def _line(cells: Sequence[object]) -> str:
    """Return a line of a CSV."""
    texts = ["" if cell is None else str(cell).lower() if isinstance(cell, bool) else str(cell) for cell in cells]
    quoted = ['"{}"'.format(text.replace('"', '""')) if set(text) & set('",\r\n') else text for text in texts]
    return (",".join(quoted) if quoted != [""] else '""') + "\r\n"


def _links(number: int, count: int, path: str, query: str) -> Iterator[dict[str, str]]:
    kept = [pair for pair in query.split("&") if pair and unquote_plus(pair.partition("=")[0]) not in _LEFT_OUT]
    base = f"{path}?{quote('&'.join(kept), safe=_OF_URIS)}{'&' if kept else ''}page_num="
    if number < count:
        yield {"href": f"{base}{number + 1}", "rel": "next", "type": "application/geo+json"}
    if number > 1 and count:
        yield {"href": f"{base}{min(number - 1, count)}", "rel": "prev", "type": "application/geo+json"}


def application(made: RandomDataset) -> FastAPI:
    """Return the model of a service that serves a data set. Strict requests have the path prefix `STRICT`."""
    model = FastAPI()
    model.add_exception_handler(RequestValidationError, _refusal)
    stores = Records(oracle.STORES, made, STORE_FIELDS, made.records["companies"])
    known = {path: _add_lists(model, path, stores) for path in ("/stores", f"{NEAR}/stores")}["/stores"]
    known |= _add_lists(model, "/companies", Records(oracle.COMPANIES, made, COMPANY_FIELDS))
    known["/clusters"] = question_of(STORE_FIELDS, stores.attributes, "map")
    _add(model, "/clusters", known["/clusters"], lambda question, _: stores.clusters(question.pairs))
    known["/places"] = PLACES
    places = places_oracle.derive(stores.in_order)
    _add(model, "/places", PLACES, lambda question, _: places_oracle.page(places, question.pairs))
    _add_ignored(model, {path: question.names() for path, question in known.items()})
    return model


def _add(model: FastAPI, path: str, question: type[Question], answer: Callable[[Any, Request], Any]) -> None:
    """Add a path, and that of strict requests."""
    for prefix, kind in ((STRICT, strict(question)), ("", question)):

        @model.get(prefix + path, response_model=None)
        async def ask(question: Annotated[kind, Query()], request: Request) -> Response:  # type: ignore[valid-type]
            answered = answer(question, request)
            return answered if isinstance(answered, Response) else _response(answered)


def _add_lists(model: FastAPI, path: str, records: Records) -> dict[str, type[Question]]:
    """Add the paths of a list, of its files and of its records; return the parameters of all but the last."""

    def page(question: Question, request: Request) -> Object | Response:
        if path.endswith("/companies") or request.headers.get("accept") != "application/geo+json":
            return records.page(question.pairs)
        return records.geojson_page(question.pairs, "/stores", request.url.query)

    def file(question: Question, _: Request, ending: str) -> Response:
        return records.file(question.pairs, ending)

    kinds = {"": "list", ".csv": "csv", ".ndjson": "ndjson", ".geojson": "geojson"}
    questions = {
        path + ending: question_of(records.fields, records.attributes, kind, near=path.startswith(NEAR))
        for ending, kind in kinds.items()
    }
    for ending, kind in kinds.items():
        _add(model, path + ending, questions[path + ending], partial(file, ending=kind) if ending else page)
    _add(
        model,
        f"{path}/{{identifier}}",
        NO_QUESTION,
        lambda _, request: records.one(unquote(request.path_params["identifier"])),
    )
    return questions


def _add_ignored(model: FastAPI, known: Mapping[str, Container[str]]) -> None:
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
