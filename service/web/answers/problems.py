"""Errors as answers: in FastAPI's form, or as problem details (RFC 9457)."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

import msgspec

from service.model.errors import RequestError
from service.model.operation import JSON, PROBLEM
from service.web.answers.answer import Answer
from service.web.headers.header_lines import NO_STORE, HeaderLines, header_lines
from service.web.headers.list_fields import bounded_fields, weights

_CACHE_ENTRIES: Final = 1024


def error_answer(
    error: RequestError, accept: Sequence[str], *, vary: str = "Accept", links: HeaderLines = ""
) -> Answer:
    """Return the answer of an error, in the form that the Accept fields select. Caches may not store it.

    `links` are further header fields.
    """
    problem = error.may_be_problem and _wants_problem(*bounded_fields(accept))
    return Answer(
        (msgspec.json.encode(error.problem if problem else error.body),),
        PROBLEM if problem else JSON,
        error.status.value,
        _lines(*error.headers.items()) + links,
        vary,
    )


@lru_cache(_CACHE_ENTRIES)
def _wants_problem(*accept: str) -> bool:
    return weights(accept).get(PROBLEM, 0.0) > 0


@lru_cache
def _lines(*headers: tuple[str, str]) -> HeaderLines:
    return NO_STORE + header_lines(dict(headers))
