"""Random requests. To add a method, a header field or a value of one, add a line to a table here.

`expected_replies.py` says how a field changes replies; a field that changes nothing needs no more than its line.
"""

from collections.abc import Callable, Mapping, Sequence
from email.utils import formatdate
from typing import Final

import msgspec

from tests.composition.configurations import (
    FILED_KEY,
    HIGH_RATE_KEY,
    KEY,
    LISTED_ORIGIN,
    LOW_RATE_KEY,
    OTHER_ORIGIN,
    OTHER_PUBLIC_KEY,
    PLAIN_KEY,
    PUBLIC_KEY,
    PUBLIC_RESOURCES,
    REVOKED_KEY,
    WEBSITES,
)
from tests.composition.editions import Edition
from tests.composition.ledger import Ledger
from tests.composition.questions import Question, Questions
from tests.composition.random_draws import RandomDraws
from tests.composition.request import Request
from tests.composition.target import Target, write

# Key -> weight; the empty text is an empty field.
KEYS: Final = {
    PLAIN_KEY: 70,
    FILED_KEY: 5,
    HIGH_RATE_KEY: 12,
    LOW_RATE_KEY: 4,
    "wrong-key": 3,
    "": 3,
    PUBLIC_KEY: 3,
    OTHER_PUBLIC_KEY: 2,
    REVOKED_KEY: 0.5,
}
# Those in the query, and how its name is written. How often there is one where it may be valid, and elsewhere; how
# often in a header field as well; how often the page is one of its website.
NAMED_KEYS: Final = {PUBLIC_KEY: 40, OTHER_PUBLIC_KEY: 20, REVOKED_KEY: 2, PLAIN_KEY: 2, "sd%5Fpub%5funknown": 1, "": 1}
NAMES: Final = ("key", "key", "%6bey", "k%65%79", "%6B%65%79")
_NAMED, _MISPLACED, _TWICE, _AT_HOME = 0.4, 0.03, 0.03, 0.7
METHODS: Final = {"GET": 78, "HEAD": 18, "OPTIONS": 3, "POST": 2}
# The Accept field of a browser that opens a page.
BROWSER: Final = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
# Accept -> whether it asks for problem details.
ACCEPTS: Final = {
    "application/json": False,
    "*/*": False,
    "application/problem+json": True,
    "application/json, application/problem+json;q=0.1": True,
    "application/problem+json;q=0, application/json": False,
    "application/geo+json": False,
    BROWSER: False,
    "application/geo+json;q=0.5, */*;q=0.2, application/problem+json;q=0.1": True,
    "application/geo+json;q=0.5, application/json": False,
}
# Those that ask for GeoJSON, where there is a choice.
OF_GEO_JSON: Final = ("application/geo+json", "application/geo+json;q=0.5, */*;q=0.2, application/problem+json;q=0.1")
ENCODINGS: Final = (
    *("zstd", "zstd", "br", "br", "gzip", "zstd, br, gzip", "gzip;q=0.5, br;q=0.9", "x-gzip", "*", "deflate"),
    *("identity", "", "identity;q=0, gzip", "br, *;q=0", "identity;q=0", "gzip;q=0, *;q=0.2", "identity, zstd;q=0.5"),
)
# Prefer -> whether unknown parameters are rejected.
PREFERENCES: Final = {
    "handling=strict": True,
    "respond-async, handling=strict; x=1": True,
    "handling=lenient": False,
    "handling=lenient, handling=strict": False,
}
ORIGINS: Final = (LISTED_ORIGIN, LISTED_ORIGIN, OTHER_ORIGIN)


class Context(msgspec.Struct, frozen=True):
    """The input of random requests: the questions, data sets and dates of the session, and what was sent until now."""

    questions: Questions
    editions: Sequence[Edition]
    dates: Sequence[int]
    ledger: Ledger
    sent: list[Request]


# How often a target is sent again to the byte, perhaps after a reload: caches have it. One of how many.
_AGAIN: Final = 0.25
_RECENT_TARGETS: Final = 400
# How often one of the last requests is sent again with the fields that select its response: a third is sent three times
# or more, because responses are kept at their second request.
_ALIKE: Final = 0.5
_LAST: Final = 4
_SELECTING: Final = ("Accept", "Accept-Encoding", "Prefer")
# How many of the dates of data are still named in conditions.
_RECENT: Final = 4

# Draws the value of a header field for a request that asks a question.
Draw = Callable[[RandomDraws, Question, Context], str]


def _any(values: Sequence[str]) -> Draw:
    return lambda draws, _question, _seen: draws.one(values)


def _version(draws: RandomDraws, _question: Question, seen: Context) -> str:
    return draws.one([edition.version for edition in seen.editions] * 2 + ["", "of-no-data"])


def _date(draws: RandomDraws, _question: Question, seen: Context) -> str:
    moment = draws.one([*seen.dates[-_RECENT:], 0])
    return draws.one([formatdate(moment + late, usegmt=True) for late in (-1, 0, 0, 1)] + ["yesterday"])


def _tag_list(draws: RandomDraws, question: Question, seen: Context) -> str:
    """Return one to three tags: mostly of this question, or of another resource asked the same query."""
    return ", ".join(_tag(draws, question, seen) for _ in range(draws.weighted({1: 6, 2: 2, 3: 2})))


def _tag(draws: RandomDraws, question: Question, seen: Context) -> str:
    """Return a tag of a question in any version, form and coding among those that are known."""
    others = (question, question, question, *seen.questions.like[question.pairs], draws.one(seen.questions.all))
    asked = draws.one(others)
    meanings = dict.fromkeys(edition.meant(asked) for edition in seen.editions)
    known = [tag for each in meanings for tag in seen.ledger.tags(each)]
    return ("W/" if draws.happens(0.2) else "") + (draws.one(known) if known else '"unknown"')


def _condition(draws: RandomDraws, question: Question, seen: Context) -> str:
    tags, anything = _tag_list(draws, question, seen), draws.happens(0.05)
    return "*" if anything else tags


class FieldChoice(msgspec.Struct, frozen=True):
    """A header field: the share of requests that have it, and how its value is drawn."""

    name: str
    share: float
    draw: Draw


FIELDS: Final[Sequence[FieldChoice]] = (
    FieldChoice("Accept", 0.35, _any([*ACCEPTS, *3 * OF_GEO_JSON, BROWSER])),
    FieldChoice("Accept-Encoding", 0.85, _any(ENCODINGS)),
    FieldChoice("Prefer", 0.15, _any(list(PREFERENCES))),
    FieldChoice("Origin", 0.3, _any(ORIGINS)),
    FieldChoice("Sec-Fetch-Site", 0.2, _any(["same-origin", "cross-site"])),
    FieldChoice("Access-Control-Request-Method", 0.5, _any(["GET"])),
    FieldChoice("X-Dataset-Version", 0.1, _version),
    FieldChoice("If-None-Match", 0.35, _condition),
    FieldChoice("If-Match", 0.06, _condition),
    FieldChoice("If-Modified-Since", 0.12, _date),
    FieldChoice("If-Unmodified-Since", 0.05, _date),
    FieldChoice(KEY, 0.97, lambda draws, _question, _seen: draws.weighted(KEYS)),
)
BODIES: Final[Mapping[str, bytes]] = {"POST": b'{"a": 1}'}


def _named(draws: RandomDraws, target: Target) -> tuple[str, int]:
    """Return a pair with a key, or none, and its place among those of the query."""
    question = target.question
    is_small = question.resource != "/stores" or not {("limit", "7"), ("limit", "40")}.isdisjoint(question.pairs)
    if not draws.happens(_NAMED if is_small and question.resource in PUBLIC_RESOURCES else _MISPLACED):
        return "", 0
    return f"{draws.one(NAMES)}={draws.weighted(NAMED_KEYS)}", draws.below(len(target.pairs) + 1)


def random_request(draws: RandomDraws, seen: Context) -> Request:
    """Return a random request."""
    alike = draws.one(seen.sent[-_LAST:]) if seen.sent and draws.happens(_ALIKE) else None
    again = alike or (draws.one(seen.sent[-_RECENT_TARGETS:]) if seen.sent and draws.happens(_AGAIN) else None)
    target = write(draws, seen.questions.draw(draws)) if again is None else again.target
    method = draws.weighted(METHODS)
    fields = {field.name: field.draw(draws, target.question, seen) for field in FIELDS if draws.happens(field.share)}
    if alike is not None:
        fields = {name: value for name, value in fields.items() if name not in _SELECTING}
        fields |= {name: alike.fields[name] for name in _SELECTING if name in alike.fields}
    request = Request(target, method, fields, BODIES.get(method, b""), *_named(draws, target))
    if request.named and not draws.happens(_TWICE):
        fields.pop(KEY, None)
    if (home := WEBSITES.get(request.key)) and draws.happens(_AT_HOME):
        fields["Origin"] = home
    seen.sent.append(request)
    return request
