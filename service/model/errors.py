"""The errors of requests: each is an exception class with its HTTP status (RFC 9110) and its detail."""

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from types import MappingProxyType
from typing import ClassVar, Literal

import msgspec
from msgspec import UNSET, UnsetType


class ValidationError(msgspec.Struct, frozen=True):
    """The error of one parameter, as FastAPI reports it: its location, a message, and a type for programs."""

    loc: tuple[str | int, ...]
    msg: str
    type: str


class HTTPValidationError(msgspec.Struct, frozen=True):
    """All errors in the parameters of a request."""

    detail: list[ValidationError] = []


class HTTPError(msgspec.Struct, frozen=True):
    """The error of a request."""

    detail: str


class ProblemDetails(msgspec.Struct, frozen=True, kw_only=True):
    """The error of a request as problem details (RFC 9457); `errors` has one item for each invalid parameter."""

    type: Literal["about:blank"]
    title: str
    status: int
    detail: str
    errors: list[ValidationError] | UnsetType = UNSET


class RequestError(Exception):
    """An error that is sent to the client as a response.

    meaning         the description in the OpenAPI document: the docstring
    closes          whether the server closes the connection after the response
    may_be_problem  whether a client that accepts problem details gets them
    links_help      whether the response links to the documentation
    """

    status: ClassVar[HTTPStatus]
    meaning: ClassVar[str]
    headers: Mapping[str, str] = MappingProxyType({})
    closes: ClassVar[bool] = False
    may_be_problem: ClassVar[bool] = True
    links_help: ClassVar[bool] = False

    def __init_subclass__(cls) -> None:
        cls.meaning = cls.__doc__ or ""

    def __init__(self, detail: str | None = None) -> None:
        self.body: HTTPError | HTTPValidationError = HTTPError(detail or self.status.phrase)
        super().__init__(detail)

    @property
    def problem(self) -> ProblemDetails:
        """The error as problem details; with `about:blank` the title is the phrase of the status."""
        detail = self.body.detail
        return ProblemDetails(
            type="about:blank",
            title=self.status.phrase,
            status=self.status.value,
            detail=detail if isinstance(detail, str) else self.meaning,
            errors=UNSET if isinstance(detail, str) else detail,
        )


class BadRequest(RequestError):
    """The request is not well-formed HTTP."""

    status = HTTPStatus.BAD_REQUEST
    closes = True
    may_be_problem = False


class Unauthorized(RequestError):
    """The key is missing, empty, given twice or unknown."""

    status = HTTPStatus.UNAUTHORIZED
    headers = MappingProxyType({"WWW-Authenticate": "APIKey"})
    links_help = True


class Forbidden(RequestError):
    """A public key is used for another operation, from another website, or for too many records."""

    status = HTTPStatus.FORBIDDEN


class NotFound(RequestError):
    """The record does not exist."""

    status = HTTPStatus.NOT_FOUND


class UnknownPath(NotFound):
    """The path does not exist."""

    links_help = True


class MethodNotAllowed(RequestError):
    """The path supports only GET and HEAD."""

    status = HTTPStatus.METHOD_NOT_ALLOWED
    headers = MappingProxyType({"Allow": "GET, HEAD"})


class PreconditionFailed(RequestError):
    """The data or the representation is not the one that the request requires."""

    status = HTTPStatus.PRECONDITION_FAILED


class OtherVersion(PreconditionFailed):
    """The served data does not have the version that the request requires."""

    def __init__(self, header: str, served: str) -> None:
        super().__init__(f"The served data does not have the version in {header}")
        self.headers = {header: served}


class ContentTooLarge(RequestError):
    """The body of the request is too large; no operation needs one."""

    status = HTTPStatus.REQUEST_ENTITY_TOO_LARGE
    closes = True


class URITooLong(RequestError):
    """The URL, including the query, is too long."""

    status = HTTPStatus.REQUEST_URI_TOO_LONG
    closes = True


class UnprocessableContent(RequestError):
    """Parameters fail validation; the response has one item for each invalid parameter."""

    status = HTTPStatus.UNPROCESSABLE_ENTITY

    def __init__(self, errors: Sequence[ValidationError]) -> None:
        super().__init__()
        self.errors = list(errors)
        self.body = HTTPValidationError(self.errors)


class TooManyRequests(RequestError):
    """The key or the client exceeds its request rate limit; `Retry-After` is the number of seconds to wait."""

    status = HTTPStatus.TOO_MANY_REQUESTS
    headers = MappingProxyType({"Retry-After": "1"})

    def __init__(self, owner: str, seconds: int, fields: Mapping[str, str]) -> None:
        """Ask to wait for a number of seconds, at least 1; `fields` describe the limit of the owner."""
        super().__init__(f"The {owner} exceeds its request rate limit")
        self.headers = MappingProxyType({"Retry-After": str(seconds), **fields})


class HeaderFieldsTooLarge(RequestError):
    """The headers of the request are too large or too many."""

    status = HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE
    closes = True


class InternalServerError(RequestError):
    """An internal error of the service."""

    status = HTTPStatus.INTERNAL_SERVER_ERROR


class ServiceUnavailable(RequestError):
    """The data is still being loaded, or memory is short; retry after `Retry-After` seconds."""

    status = HTTPStatus.SERVICE_UNAVAILABLE
    headers = MappingProxyType({"Retry-After": "1"})


class TooManyLongQueries(ServiceUnavailable):
    """The data is still being loaded, memory is short, or many long queries wait; retry after `Retry-After` seconds."""

    def __init__(self) -> None:
        super().__init__("Too many queries wait that take long")
