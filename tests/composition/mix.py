"""What requests are mixed of. A method, a header field or a value of one joins the mix by its line in a table here.

What a field changes of an answer stands in `expected.py`; one that changes nothing needs its line alone.
"""

from collections.abc import Callable, Mapping, Sequence
from email.utils import formatdate
from itertools import product
from typing import Final, TypeVar

import msgspec

from tests.composition.chance import Chance
from tests.composition.editions import Edition
from tests.composition.ledger import Ledger, Representation
from tests.composition.questions import Question, Questions
from tests.composition.request import Request
from tests.composition.target import write
from tests.composition.terms import (
    FILED_KEY,
    KEY,
    LISTED_ORIGIN,
    NARROW_KEY,
    OTHER_ORIGIN,
    PLAIN_KEY,
    WIDE_KEY,
)
from tests.web.negotiation import CODINGS

# How often a key is sent; none is the empty text.
KEYS: Final = {PLAIN_KEY: 70, FILED_KEY: 5, WIDE_KEY: 12, NARROW_KEY: 4, "wrong-key": 3, "": 3}
METHODS: Final = {"GET": 78, "HEAD": 18, "OPTIONS": 3, "POST": 2}
# Whether the client wants problem details.
ACCEPTS: Final = {
    "application/json": False,
    "*/*": False,
    "application/problem+json": True,
    "application/json, application/problem+json;q=0.1": True,
    "application/problem+json;q=0, application/json": False,
}
ENCODINGS: Final = (
    *("zstd", "zstd", "br", "br", "gzip", "zstd, br, gzip", "gzip;q=0.5, br;q=0.9", "x-gzip", "*", "deflate"),
    *("identity", "", "identity;q=0, gzip", "br, *;q=0", "identity;q=0", "gzip;q=0, *;q=0.2", "identity, zstd;q=0.5"),
)
# Whether unknown parameters are refused.
PREFERENCES: Final = {
    "handling=strict": True,
    "respond-async, handling=strict; x=1": True,
    "handling=lenient": False,
    "handling=lenient, handling=strict": False,
}
ORIGINS: Final = (LISTED_ORIGIN, LISTED_ORIGIN, OTHER_ORIGIN)


class Seen(msgspec.Struct, frozen=True):
    """What a client may know: the questions and data sets of the run, and the tags that came until now."""

    questions: Questions
    editions: Sequence[Edition]
    ledger: Ledger


_Item = TypeVar("_Item")
_CODINGS: Final = ("identity", *CODINGS)

# Draws the value of a header field in a request about a question.
Draw = Callable[[Chance, Question, Seen], str]


def _any(values: Sequence[str]) -> Draw:
    return lambda chance, _question, _seen: chance.one(values)


def _version(chance: Chance, _question: Question, seen: Seen) -> str:
    return chance.one([edition.version for edition in seen.editions] * 2 + ["", "of-no-data"])


def _date(chance: Chance, _question: Question, seen: Seen) -> str:
    moment = chance.one([edition.modified or 0 for edition in seen.editions])
    return chance.one([formatdate(moment + late, usegmt=True) for late in (-1, 0, 0, 1)] + ["yesterday"])


def _tag_list(chance: Chance, question: Question, seen: Seen) -> str:
    """Return one to three tags: mostly of this question, or of those that look like it elsewhere."""
    return ", ".join(_tag(chance, question, seen) for _ in range(chance.weighed({1: 6, 2: 2, 3: 2})))


def _tag(chance: Chance, question: Question, seen: Seen) -> str:
    """Return the tag of a question in some version and coding; of those that are known, the next one."""
    others = (question, question, question, *seen.questions.like[question.pairs], chance.one(seen.questions.all))
    asked, start = chance.one(others), chance.below(len(seen.editions) * len(_CODINGS))
    known = (
        seen.ledger.tag(Representation(asked, version, coding))
        for version, coding in _turned(list(product([each.version for each in seen.editions], _CODINGS)), start)
    )
    return ("W/" if chance.happens(0.2) else "") + next(filter(None, known), '"unknown"')


def _turned(items: Sequence[_Item], start: int) -> Sequence[_Item]:
    return (*items[start:], *items[:start])


def _condition(chance: Chance, question: Question, seen: Seen) -> str:
    tags, anything = _tag_list(chance, question, seen), chance.happens(0.05)
    return "*" if anything else tags


class Field(msgspec.Struct, frozen=True):
    """A header field: which share of requests has it, and with what."""

    name: str
    share: float
    draw: Draw


FIELDS: Final[Sequence[Field]] = (
    Field("Accept", 0.25, _any(list(ACCEPTS))),
    Field("Accept-Encoding", 0.85, _any(ENCODINGS)),
    Field("Prefer", 0.15, _any(list(PREFERENCES))),
    Field("Origin", 0.3, _any(ORIGINS)),
    Field("Access-Control-Request-Method", 0.5, _any(["GET"])),
    Field("X-Dataset-Version", 0.1, _version),
    Field("If-None-Match", 0.35, _condition),
    Field("If-Match", 0.06, _condition),
    Field("If-Modified-Since", 0.12, _date),
    Field("If-Unmodified-Since", 0.05, _date),
    Field(KEY, 0.97, lambda chance, _question, _seen: chance.weighed(KEYS)),
)
BODIES: Final[Mapping[str, bytes]] = {"POST": b'{"a": 1}'}


def draw(chance: Chance, seen: Seen) -> Request:
    """Return a request."""
    target = write(chance, chance.one(seen.questions.all))
    method = chance.weighed(METHODS)
    fields = {field.name: field.draw(chance, target.question, seen) for field in FIELDS if chance.happens(field.share)}
    return Request(target, method, fields, BODIES.get(method, b""))
