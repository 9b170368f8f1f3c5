"""Operations of the interface, which make its documentation and routes, and names of header fields."""

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
from service.model.search_parameters import Parameter

# The version of the data, in every response from the data.
VERSION_HEADER: Final = "X-Dataset-Version"
# The unknown parameters that were ignored, in every response from the data, and how many names it has at most.
IGNORED_HEADER: Final = "X-Ignored-Parameters"
MAX_IGNORED: Final = 8
# The API key.
KEY_HEADER: Final = "x-api-key"
# The parameter of a public key, which is taken out of the query before anything else reads that.
KEY_PARAMETER: Final = "key"
# Identifies a request in logs.
REQUEST_ID_HEADER: Final = "X-Request-Id"
JSON: Final = "application/json"
# The media type of GeoJSON (RFC 7946).
GEO_JSON: Final = "application/geo+json"
# The media types of other files of whole results (RFC 4180; lines of JSON have none that is registered).
CSV: Final = "text/csv; charset=utf-8"
NDJSON: Final = "application/x-ndjson"
# The number of all records of a whole result.
COUNT_HEADER: Final = "X-Total-Count"
# The media type of problem details (RFC 9457).
PROBLEM: Final = "application/problem+json"
# The rate limit of a key and the remaining quota, if the operator enables them (draft-ietf-httpapi-ratelimit-headers).
RATE_LIMIT_POLICY: Final = "RateLimit-Policy"
RATE_LIMIT: Final = "RateLimit"
# Responses with these statuses have `Preference-Applied` if `Prefer: handling=strict` was applied.
PREFERENCE_STATUSES: Final = (HTTPStatus.OK, HTTPStatus.NOT_FOUND, HTTPStatus.UNPROCESSABLE_ENTITY)
# The errors of every operation.
ALWAYS: tuple[type[RequestError], ...]
ALWAYS = (BadRequest, ContentTooLarge, URITooLong, HeaderFieldsTooLarge, InternalServerError)


class Operation(msgspec.Struct, frozen=True, kw_only=True):
    """The GET operation of a path.

    path        as in OpenAPI; a segment in braces is a parameter, described in `segment`
    tag         the group in the documentation
    responses   status -> the types of the body, which has one of them
    errors      the errors besides `ALWAYS`
    parameters  the query parameters
    media_type  of the body of a 200
    others      further media types of it that `Accept` may ask for -> the types of the body
    is_file     whether the body is a file of all records
    protected   whether it requires an API key and supports `Prefer: handling=strict`
    public      whether a public key is valid for it
    """

    path: str
    tag: str
    operation_id: str
    summary: str
    description: str
    responses: Mapping[HTTPStatus, tuple[Any, ...]]
    errors: tuple[type[RequestError], ...] = ()
    parameters: tuple[Parameter, ...] = ()
    media_type: str = JSON
    others: Mapping[str, tuple[Any, ...]] = {}
    is_file: bool = False
    segment: str = ""
    protected: bool = False
    public: bool = False
