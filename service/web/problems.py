"""An error as it is answered: in the shape of FastAPI, or as problem details (RFC 9457)."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

import msgspec

from service.model.errors import RequestError
from service.model.operation import PROBLEM
from service.web.answer import JSON, NO_STORE, Answer, header_lines
from service.web.headers.list_fields import readable, weights

_REMEMBERED: Final = 1024


def refusal(error: RequestError, accept: Sequence[str], *, vary: str = "Accept", links: str = "") -> Answer:
    """Return the answer of an error to who accepts what the Accept fields name. Nobody may store it.

    `links` are further header lines.
    """
    problem = error.may_be_problem and _wants_problem(*readable(accept))
    return Answer(
        (msgspec.json.encode(error.problem if problem else error.body),),
        PROBLEM if problem else JSON,
        error.status.value,
        _lines(*error.headers.items()) + links,
        vary,
    )


@lru_cache(_REMEMBERED)
def _wants_problem(*accept: str) -> bool:
    return weights(accept).get(PROBLEM, 0.0) > 0


@lru_cache
def _lines(*headers: tuple[str, str]) -> str:
    return NO_STORE + header_lines(dict(headers))
