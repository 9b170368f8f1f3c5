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

    meaning         the description in the OpenAPI document
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
    """The request is not well-formed HTTP. The response repeats no part of it."""

    status = HTTPStatus.BAD_REQUEST
    meaning = "The request is not well-formed HTTP."
    closes = True
    may_be_problem = False


class Unauthorized(RequestError):
    """The request has no valid API key."""

    status = HTTPStatus.UNAUTHORIZED
    meaning = "The key in `x-api-key` is missing, empty, repeated or unknown."
    headers = MappingProxyType({"WWW-Authenticate": "APIKey"})
    links_help = True


class NotFound(RequestError):
    """The path or record does not exist."""

    status = HTTPStatus.NOT_FOUND
    meaning = "The record does not exist."


class UnknownPath(NotFound):
    """The path does not exist."""

    links_help = True


class MethodNotAllowed(RequestError):
    """The path exists, but does not support the method."""

    status = HTTPStatus.METHOD_NOT_ALLOWED
    meaning = "The path supports only GET and HEAD."
    headers = MappingProxyType({"Allow": "GET, HEAD"})


class PreconditionFailed(RequestError):
    """A precondition of the request is false."""

    status = HTTPStatus.PRECONDITION_FAILED
    meaning = "The data or the representation is not the one that the request requires."


class OtherVersion(PreconditionFailed):
    """The served data does not have the version that the request requires."""

    def __init__(self, header: str, served: str) -> None:
        super().__init__(f"The served data does not have the version in {header}")
        self.headers = {header: served}


class ContentTooLarge(RequestError):
    """The body of the request is too large."""

    status = HTTPStatus.REQUEST_ENTITY_TOO_LARGE
    meaning = "The body of the request is too large; no operation needs one."
    closes = True


class URITooLong(RequestError):
    """The request line is too long."""

    status = HTTPStatus.REQUEST_URI_TOO_LONG
    meaning = "The URL, including the query, is too long."
    closes = True


class UnprocessableContent(RequestError):
    """Parameters fail validation."""

    status = HTTPStatus.UNPROCESSABLE_ENTITY
    meaning = "Parameters fail validation; the response has one item for each invalid parameter."

    def __init__(self, errors: Sequence[ValidationError]) -> None:
        super().__init__()
        self.body = HTTPValidationError(list(errors))


class TooManyRequests(RequestError):
    """The key exceeds its request rate limit."""

    status = HTTPStatus.TOO_MANY_REQUESTS
    meaning = "The key exceeds its request rate limit; `Retry-After` is the number of seconds to wait."
    headers = MappingProxyType({"Retry-After": "1"})

    def __init__(self, seconds: int = 1, fields: Mapping[str, str] = MappingProxyType({})) -> None:
        """Ask the client to wait for a number of seconds, at least 1; `fields` describe its limit."""
        super().__init__("The key exceeds its request rate limit")
        self.headers = MappingProxyType({"Retry-After": str(seconds), **fields})


class HeaderFieldsTooLarge(RequestError):
    """The headers are too large or too many."""

    status = HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE
    meaning = "The headers of the request are too large or too many."
    closes = True


class InternalServerError(RequestError):
    """The service failed. The response reveals no internals."""

    status = HTTPStatus.INTERNAL_SERVER_ERROR
    meaning = "An internal error of the service."


class ServiceUnavailable(RequestError):
    """The data is still being loaded."""

    status = HTTPStatus.SERVICE_UNAVAILABLE
    meaning = "The data is still being loaded; retry after `Retry-After` seconds."
    headers = MappingProxyType({"Retry-After": "1"})
