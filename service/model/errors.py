"""What may go wrong with a request: each error is a class that carries its HTTP status (RFC 9110) and its detail."""

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from types import MappingProxyType
from typing import ClassVar, Literal

import msgspec
from msgspec import UNSET, UnsetType


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


class ProblemDetails(msgspec.Struct, frozen=True, kw_only=True):
    """What is wrong with a request, as RFC 9457 has it; for parameters with an item for each."""

    type: Literal["about:blank"]
    title: str
    status: int
    detail: str
    errors: list[ValidationError] | UnsetType = UNSET


class RequestError(Exception):
    """An error that is answered to the client.

    closes          whether nothing more can be read on the connection
    may_be_problem  whether who asks for problem details gets them
    helped          whether the answer links to the documentation
    """

    status: ClassVar[HTTPStatus]
    meaning: ClassVar[str]
    headers: Mapping[str, str] = MappingProxyType({})
    closes: ClassVar[bool] = False
    may_be_problem: ClassVar[bool] = True
    helped: ClassVar[bool] = False

    def __init__(self, detail: str | None = None) -> None:
        self.body: HTTPError | HTTPValidationError = HTTPError(detail or self.status.phrase)
        super().__init__(detail)

    @property
    def problem(self) -> ProblemDetails:
        """The error as problem details; `about:blank` says no more than its title, the phrase of the status."""
        detail = self.body.detail
        return ProblemDetails(
            type="about:blank",
            title=self.status.phrase,
            status=self.status.value,
            detail=detail if isinstance(detail, str) else self.meaning,
            errors=UNSET if isinstance(detail, str) else detail,
        )


class BadRequest(RequestError):
    """HTTP itself is malformed; nothing of the request is echoed."""

    status = HTTPStatus.BAD_REQUEST
    meaning = "The request is not well-formed HTTP."
    closes = True
    may_be_problem = False


class Unauthorized(RequestError):
    """The request has no valid key."""

    status = HTTPStatus.UNAUTHORIZED
    meaning = "The key in `x-api-key` is missing, empty, repeated or unknown."
    headers = MappingProxyType({"WWW-Authenticate": "APIKey"})
    helped = True


class NotFound(RequestError):
    """There is no such path or record."""

    status = HTTPStatus.NOT_FOUND
    meaning = "There is no such record."


class UnknownPath(NotFound):
    """There is no such path."""

    helped = True


class MethodNotAllowed(RequestError):
    """The path is known, the method is not one of its own."""

    status = HTTPStatus.METHOD_NOT_ALLOWED
    meaning = "The path answers GET and HEAD only."
    headers = MappingProxyType({"Allow": "GET, HEAD"})


class PreconditionFailed(RequestError):
    """A condition of the request does not hold."""

    status = HTTPStatus.PRECONDITION_FAILED
    meaning = "The data, or this answer, is no longer the one that the request names."


class OtherVersion(PreconditionFailed):
    """The data is no longer of the version that the request means."""

    def __init__(self, header: str, served: str) -> None:
        super().__init__(f"The data is no longer of the version that {header} names")
        self.headers = {header: served}


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


class TooManyRequests(RequestError):
    """The key asks more than its rate lets through."""

    status = HTTPStatus.TOO_MANY_REQUESTS
    meaning = "The key has asked more than its rate lets through; `Retry-After` tells how long to wait."
    headers = MappingProxyType({"Retry-After": "1"})

    def __init__(self, seconds: int = 1) -> None:
        """Let the client wait for so many seconds, at least 1."""
        super().__init__("The key has asked more than its rate lets through")
        self.headers = MappingProxyType({"Retry-After": str(seconds)})


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
    headers = MappingProxyType({"Retry-After": "1"})
