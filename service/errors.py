"""What may go wrong with a request: each error is a class that carries its HTTP status (RFC 9110) and its detail."""

from collections.abc import Sequence
from http import HTTPStatus
from typing import ClassVar

import msgspec


class ValidationError(msgspec.Struct, frozen=True):
    """What is wrong with one parameter: where it stands, a sentence, a type for programs (as FastAPI says it)."""

    loc: tuple[str | int, ...]
    msg: str
    type: str


class HTTPValidationError(msgspec.Struct, frozen=True):
    """Everything that is wrong with the parameters of a request."""

    detail: list[ValidationError] = []


class HTTPError(msgspec.Struct, frozen=True):
    """What is wrong with a request."""

    detail: str


class RequestError(Exception):
    """An error that is answered to the client; `closes` where nothing more can be read on the connection."""

    status: ClassVar[HTTPStatus]
    meaning: ClassVar[str]
    headers: ClassVar[dict[str, str]] = {}
    closes: ClassVar[bool] = False

    def __init__(self, detail: str | None = None) -> None:
        self.body: HTTPError | HTTPValidationError = HTTPError(detail or self.status.phrase)
        super().__init__(detail)


class BadRequest(RequestError):
    """HTTP itself is malformed; nothing of the request is echoed."""

    status = HTTPStatus.BAD_REQUEST
    meaning = "The request is not well-formed HTTP."
    closes = True


class Unauthorized(RequestError):
    """The request has no valid key."""

    status = HTTPStatus.UNAUTHORIZED
    meaning = "The key in `x-api-key` is missing, empty, repeated or unknown."
    headers: ClassVar[dict[str, str]] = {"WWW-Authenticate": "APIKey"}


class NotFound(RequestError):
    """There is no such path or record."""

    status = HTTPStatus.NOT_FOUND
    meaning = "There is no such record."


class MethodNotAllowed(RequestError):
    """The path is known, the method is not one of its own."""

    status = HTTPStatus.METHOD_NOT_ALLOWED
    meaning = "The path answers GET and HEAD only."
    headers: ClassVar[dict[str, str]] = {"Allow": "GET, HEAD"}


class ContentTooLarge(RequestError):
    """The body is larger than anybody needs who only reads."""

    status = HTTPStatus.REQUEST_ENTITY_TOO_LARGE
    meaning = "The body of the request is too large; none is needed."
    closes = True


class URITooLong(RequestError):
    """The request line is longer than the server reads."""

    status = HTTPStatus.REQUEST_URI_TOO_LONG
    meaning = "The address, query included, is too long."
    closes = True


class UnprocessableContent(RequestError):
    """Parameters fail validation."""

    status = HTTPStatus.UNPROCESSABLE_ENTITY
    meaning = "Parameters fail validation; every fault is told, one item for each parameter."

    def __init__(self, faults: Sequence[ValidationError]) -> None:
        super().__init__()
        self.body = HTTPValidationError(list(faults))


class HeaderFieldsTooLarge(RequestError):
    """The headers are larger or more than the server reads."""

    status = HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE
    meaning = "The headers of the request are too large or too many."
    closes = True


class InternalServerError(RequestError):
    """A fault of ours; nothing of the inside is told."""

    status = HTTPStatus.INTERNAL_SERVER_ERROR
    meaning = "A fault of the service."


class ServiceUnavailable(RequestError):
    """The data is still being loaded."""

    status = HTTPStatus.SERVICE_UNAVAILABLE
    meaning = "The data is still being loaded; try again in a moment."
    headers: ClassVar[dict[str, str]] = {"Retry-After": "1"}
