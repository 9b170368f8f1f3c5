"""The OpenAPI 3.1 document, generated from the operations and the types of responses."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from http import HTTPStatus
from typing import Any, Final

import msgspec
import orjson
from msgspec import UNSET

from service import INTERFACE_VERSION
from service.model.attributes import NO_ATTRIBUTES, Schema
from service.model.envelope import FacetValue
from service.model.errors import (
    HTTPError,
    HTTPValidationError,
    PreconditionFailed,
    ProblemDetails,
    RequestError,
    Unauthorized,
    UnprocessableContent,
    ValidationError,
)
from service.model.operation import (
    ALWAYS,
    COUNT_HEADER,
    IGNORED_HEADER,
    JSON,
    KEY_HEADER,
    KEY_PARAMETER,
    MAX_IGNORED,
    PREFERENCE_STATUSES,
    PROBLEM,
    RATE_LIMIT,
    RATE_LIMIT_POLICY,
    REQUEST_ID_HEADER,
    VERSION_HEADER,
    Operation,
)
from service.model.parameters import PAGE_NUM

_REFERENCE: Final = "#/components/schemas/{name}"
_SCHEME, _PUBLIC_SCHEME = "APIKeyHeader", "PublicKey"
_TITLE: Final = "Store Directory"
_LICENCE: Final = "MIT"  # as SPDX names it
# What the operations of a tag are.
_TAGS: Final = {
    "directory": "Stores and companies.",
    "probes": "Whether the service is alive, and ready to answer.",
}
# How a query parameter has several values: each has its own pair. These are the defaults, but not every tool has them.
_REPEATED: Final = {"style": "form", "explode": True}
# Request headers of protected operations, besides the key.
_REQUEST_HEADERS: Final = {
    "Prefer": "`handling=strict` rejects unknown query parameters (RFC 7240). By default they are ignored, and listed "
    f"in {IGNORED_HEADER}.",
    VERSION_HEADER: "The required version of the data: if another one is served, the response is 412.",
    "If-None-Match": "Entity tags that the client has cached: if one of them is current, the response is 304.",
    "If-Modified-Since": "If it equals Last-Modified, and there is no If-None-Match, the response is 304.",
    "If-Match": "Entity tags: if none of them is current, the response is 412.",
    "If-Unmodified-Since": "If the data is newer, and there is no If-Match, the response is 412.",
}
# Response headers.
_REQUEST_ID: Final = {REQUEST_ID_HEADER: "The identifier of the request, from its own header or generated."}
_PREFERENCE_APPLIED: Final = {"Preference-Applied": "Present if `Prefer: handling=strict` was applied."}
_IGNORED: Final = {
    IGNORED_HEADER: "Present if the request has unknown query parameters: their names, percent-encoded, of which up to "
    f"{MAX_IGNORED} are listed. They have no effect. `Prefer: handling=strict` rejects them."
}
_DATASET_VERSION: Final = {VERSION_HEADER: "The version of the data: the same for the same records."}
_VALIDATORS: Final = {
    **_DATASET_VERSION,
    "ETag": "The strong entity tag of the representation.",
    "Last-Modified": "The time of the data, if its manifest has one that is later than that of the data served before.",
    "Cache-Control": "Which caches may store the response, and for how long.",
    "Vary": "The request headers that the response depends on.",
}
_RATE_LIMIT: Final = {
    RATE_LIMIT_POLICY: "If enabled: the key may send `q` requests in `w` seconds.",
    RATE_LIMIT: "If enabled: `r` requests remain, and one more is available in `t` seconds.",
}
_LINK: Final = {"Link": "The pages `next`, `prev`, `first` and `last` (RFC 8288), relative to the URL of the request."}
_FILE: Final = {
    COUNT_HEADER: "The number of records in the whole file.",
    "Content-Disposition": "The name of the file.",
}


def openapi_document(operations: Sequence[Operation], schema: Schema = NO_ATTRIBUTES) -> bytes:
    """Return the OpenAPI document of some operations on records with a schema as JSON."""
    types = [
        body for each in operations for bodies in (*each.responses.values(), *each.others.values()) for body in bodies
    ]
    document = {
        "openapi": "3.1.0",
        "info": {
            "title": _TITLE,
            "description": "A read-only directory of retail stores and the companies that own them.",
            "contact": {"name": _TITLE},
            "license": {"name": _LICENCE, "identifier": _LICENCE},
            "version": INTERFACE_VERSION,
        },
        "servers": [{"url": "/"}],
        "tags": [{"name": tag, "description": _TAGS[tag]} for tag in dict.fromkeys(each.tag for each in operations)],
        "paths": {operation.path: {"get": _operation(operation)} for operation in operations},
        "components": {
            "schemas": _components(schema, *types),
            "securitySchemes": {
                _SCHEME: {"type": "apiKey", "in": "header", "name": KEY_HEADER},
                _PUBLIC_SCHEME: {
                    "type": "apiKey",
                    "in": "query",
                    "name": KEY_PARAMETER,
                    "description": "A public key (sd_pub_…), from pages of its websites.",
                },
            },
        },
    }
    return orjson.dumps(document, option=orjson.OPT_NON_STR_KEYS)


def _components(schema: Schema, *types: Any) -> dict[str, Any]:
    records = (schema.stores.record, schema.companies.record)
    always = (*records, HTTPError, HTTPValidationError, ValidationError, ProblemDetails)
    _, schemas = msgspec.json.schema_components((*always, *types), ref_template=_REFERENCE)
    attributes = (*schema.stores.attributes, *schema.companies.attributes)
    if any(field.attribute == "number" and field.facets for field in attributes):
        schemas[FacetValue.__name__]["properties"]["value"]["anyOf"].insert(1, {"type": "number"})
    return schemas


def _operation(operation: Operation) -> dict[str, Any]:
    return {
        "tags": [operation.tag],
        "operationId": operation.operation_id,
        "summary": operation.summary,
        "description": operation.description,
        "parameters": list(_parameters(operation)),
        "responses": dict(_responses(operation)),
        "security": [{_SCHEME: []}] * operation.protected + [{_PUBLIC_SCHEME: []}] * operation.public,
    }


def _parameters(operation: Operation) -> Iterator[dict[str, Any]]:
    if operation.segment:
        name = operation.path.partition("{")[2].rstrip("}")
        yield {"name": name, "in": "path", "required": True, **_text(operation.segment)}
    for each in operation.parameters:
        example = {} if each.example is UNSET else {"example": each.example}
        described = {"description": each.description, "schema": each.schema, **example}
        yield {"name": each.name, "in": "query", "required": each.required, **_REPEATED, **described}
    if operation.protected:
        for name, description in _REQUEST_HEADERS.items():
            yield {"name": name, "in": "header", "required": False, **_text(description)}


def _text(description: str) -> dict[str, Any]:
    return {"description": description, "schema": {"type": "string"}}


def _responses(operation: Operation) -> Iterator[tuple[str, dict[str, Any]]]:
    for status, bodies in operation.responses.items():
        yield str(status.value), _response(operation, status, bodies)
    if operation.protected:
        headers = _headers({**_REQUEST_ID, **_IGNORED, **_VALIDATORS, **_RATE_LIMIT})
        not_modified = {"description": "The cached representation of the client is current.", "headers": headers}
        yield str(HTTPStatus.NOT_MODIFIED.value), not_modified
    errors: Iterable[type[RequestError]] = (*operation.errors, *ALWAYS)
    for error in sorted(errors, key=lambda error: error.status):
        yield str(error.status.value), _error(operation, error)


def _response(operation: Operation, status: HTTPStatus, bodies: Sequence[Any]) -> dict[str, Any]:
    headers = _REQUEST_ID
    if operation.protected:
        links = _LINK if PAGE_NUM in operation.parameters else _FILE if operation.is_file else {}
        headers = {**headers, **_PREFERENCE_APPLIED, **_IGNORED, **_VALIDATORS, **links, **_RATE_LIMIT}
    forms = {operation.media_type: bodies, **(operation.others if status is HTTPStatus.OK else {})}
    return {
        "description": status.phrase,
        "headers": _headers(headers),
        "content": {media_type: _schema(*types) for media_type, types in forms.items()},
    }


def _error(operation: Operation, error: type[RequestError]) -> dict[str, Any]:
    content = {JSON: _schema(HTTPValidationError if error is UnprocessableContent else HTTPError)}
    if error.may_be_problem:
        content[PROBLEM] = _schema(ProblemDetails)
    described = _REQUEST_ID | dict.fromkeys(error.headers, "")
    if operation.protected and error.status in PREFERENCE_STATUSES:
        described |= _PREFERENCE_APPLIED
    if error.links_help:
        described |= {"Link": "The documentation, `help` (RFC 8288)."}
    if error is PreconditionFailed:
        described |= _DATASET_VERSION
    if operation.protected and error in operation.errors and error is not Unauthorized:
        described |= _RATE_LIMIT
    return {"description": error.meaning, "headers": _headers(described), "content": content}


def _headers(described: Mapping[str, str]) -> dict[str, Any]:
    schema = {"schema": {"type": "string"}}
    return {name: _text(text) if text else schema for name, text in described.items()}


@lru_cache(64)  # many statuses have the same body type
def _schema(*bodies: Any) -> dict[str, Any]:
    schemas, _ = msgspec.json.schema_components(bodies, ref_template=_REFERENCE)
    return {"schema": schemas[0] if len(schemas) == 1 else {"anyOf": list(schemas)}}
