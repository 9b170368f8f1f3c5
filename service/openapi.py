"""The OpenAPI 3.1 document, generated from the operations and the types that answer requests."""

from collections.abc import Iterable, Iterator, Sequence
from http import HTTPStatus
from typing import Any, Final

import msgspec
import orjson

from service.errors import HTTPError, HTTPValidationError, NotFound, RequestError, UnprocessableContent, ValidationError
from service.operation import ALWAYS, VERSION_HEADER, Operation
from service.parameters import Parameter
from service.records import Company, Store

# The version of the interface, which its description carries.
INTERFACE_VERSION: Final = "0.1.0"

_REFERENCE: Final = "#/components/schemas/{name}"
_SCHEME: Final = "APIKeyHeader"
_TITLE: Final = "Store Directory"
_DESCRIPTION: Final = "A read-only directory of retail stores and the companies that own them."
_PREFER: Final = {
    "name": "Prefer",
    "in": "header",
    "required": False,
    "description": "`handling=strict` refuses unknown query parameters, which are ignored otherwise (RFC 7240).",
    "schema": {"type": "string"},
}
_PREFERENCE_APPLIED: Final = {
    "description": "Stands where `Prefer: handling=strict` was heeded.",
    "schema": {"type": "string"},
}
_DATASET_VERSION: Final = {
    "description": "The version of the data that was asked: the same records have the same one.",
    "schema": {"type": "string"},
}
_APPLIED_ON: Final = (HTTPStatus.OK, NotFound.status, UnprocessableContent.status)


def openapi_document(operations: Sequence[Operation]) -> bytes:
    """Return the document of some operations, as JSON."""
    types = [Store, Company, HTTPError, HTTPValidationError, ValidationError]
    types += [answer for operation in operations for answer in operation.answers.values()]
    _, schemas = msgspec.json.schema_components(types, ref_template=_REFERENCE)
    document = {
        "openapi": "3.1.0",
        "info": {"title": _TITLE, "description": _DESCRIPTION, "version": INTERFACE_VERSION},
        "paths": {operation.path: {"get": _operation(operation)} for operation in operations},
        "components": {
            "schemas": schemas,
            "securitySchemes": {_SCHEME: {"type": "apiKey", "in": "header", "name": "x-api-key"}},
        },
    }
    return orjson.dumps(document, option=orjson.OPT_NON_STR_KEYS)


def _operation(operation: Operation) -> dict[str, Any]:
    described: dict[str, Any] = {
        "tags": [operation.tag],
        "operationId": operation.operation_id,
        "summary": operation.summary,
        "description": operation.description,
        "parameters": list(_parameters(operation)),
        "responses": dict(_responses(operation)),
    }
    if operation.protected:
        described["security"] = [{_SCHEME: []}]
    return described


def _parameters(operation: Operation) -> Iterator[dict[str, Any]]:
    if operation.segment:
        name = operation.path.partition("{")[2].rstrip("}")
        described = {"description": operation.segment, "schema": {"type": "string"}}
        yield {"name": name, "in": "path", "required": True, **described}
    yield from map(_parameter, operation.parameters)
    if operation.protected:
        yield _PREFER


def _parameter(parameter: Parameter) -> dict[str, Any]:
    return {
        "name": parameter.name,
        "in": "query",
        "required": False,
        "description": parameter.description,
        "schema": parameter.schema,
    }


def _responses(operation: Operation) -> Iterator[tuple[str, dict[str, Any]]]:
    for status, body in operation.answers.items():
        yield _response(operation, status, status.phrase, body)
    errors: Iterable[type[RequestError]] = (*operation.errors, *ALWAYS)
    for error in sorted(errors, key=lambda error: error.status):
        body = HTTPValidationError if error is UnprocessableContent else HTTPError
        yield _response(operation, error.status, error.meaning, body, error.headers)


def _response(
    operation: Operation,
    status: HTTPStatus,
    description: str,
    body: Any,
    headers: Iterable[str] = (),
) -> tuple[str, dict[str, Any]]:
    described: dict[str, Any] = {name: {"schema": {"type": "string"}} for name in headers}
    if operation.protected and status in _APPLIED_ON:
        described["Preference-Applied"] = _PREFERENCE_APPLIED
    if operation.protected and status is HTTPStatus.OK:
        described[VERSION_HEADER] = _DATASET_VERSION
    (schema,), _ = msgspec.json.schema_components([body], ref_template=_REFERENCE)
    response: dict[str, Any] = {"description": description, "content": {"application/json": {"schema": schema}}}
    if described:
        response["headers"] = described
    return str(status.value), response
