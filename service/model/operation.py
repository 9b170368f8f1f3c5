"""An operation of the interface, as it is documented and routed."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final

import msgspec

from service.model.errors import (
    BadRequest,
    ContentTooLarge,
    HeaderFieldsTooLarge,
    InternalServerError,
    RequestError,
    URITooLong,
)
from service.model.parameters import Parameter

# Tells with every answer from the data which version of it was asked.
VERSION_HEADER: Final = "X-Dataset-Version"

# Tells one request from others.
REQUEST_ID_HEADER: Final = "X-Request-Id"

# The media type of problem details (RFC 9457).
PROBLEM: Final = "application/problem+json"

# Tell what a key may ask and what is left of it, where the service is told to (draft-ietf-httpapi-ratelimit-headers).
RATE_LIMIT_POLICY: Final = "RateLimit-Policy"
RATE_LIMIT: Final = "RateLimit"

# Where `Prefer: handling=strict` was heeded, `Preference-Applied` stands on these.
PREFERENCE_STATUSES: Final = (HTTPStatus.OK, HTTPStatus.NOT_FOUND, HTTPStatus.UNPROCESSABLE_ENTITY)

# What every operation may answer, whatever it does.
ALWAYS: tuple[type[RequestError], ...] = (
    BadRequest,
    ContentTooLarge,
    URITooLong,
    HeaderFieldsTooLarge,
    InternalServerError,
)


class Operation(msgspec.Struct, frozen=True, kw_only=True):
    """What a path answers to GET.

    path        in OpenAPI's form; a segment in braces is a parameter, described in `segment`
    tag         the group that it is shown in
    answers     status -> the type of the body
    errors      what else it may answer, beside `ALWAYS`
    parameters  those of the query
    protected   whether it needs a key, and heeds `Prefer: handling=strict`
    """

    path: str
    tag: str
    operation_id: str
    summary: str
    description: str
    answers: Mapping[HTTPStatus, Any]
    errors: tuple[type[RequestError], ...] = ()
    parameters: tuple[Parameter, ...] = ()
    segment: str = ""
    protected: bool = False
