"""Request targets: a question in one spelling of path and query, with ignored or invalid parameters."""

from collections.abc import Callable, Sequence
from enum import Enum
from typing import Final, NamedTuple
from urllib.parse import quote, quote_plus, unquote, unquote_plus

import msgspec

from tests.composition.questions import ONCE, RESOURCES, Pair, Question, default, spellings
from tests.composition.random_draws import RandomDraws

# Unknown names and empty filters; `Prefer: handling=strict` rejects the former.
NOISE: Final[Sequence[Pair]] = (
    *(("unknown", "1"), ("page", "2"), ("City", "x"), ("", ""), ("limit[]", "5"), ("100%", "x"), ("é, ü", "")),
    *(("a", ""), ("b", ""), ("c", ""), ("d", ""), ("e", ""), ("x" * 150, "")),
    *(("city", ""), ("country", "null"), ("company_id", " "), ("parent_company_id", "")),
    *(("created_at", ""), ("updated_at", "null"), ("updated_since", "2024-01-01"), ("created[gte]", "2024-01-01")),
    *(("attributes.services", ""), ("attributes.note", "null"), ("attributes.x", "1"), ("attributes", "1")),
    *(("zoom", ""), ("near", ""), ("radius", "null"), ("bbox", " "), ("q", ""), ("q", "null"), ("bom", "")),
    ("open_at", " "),
)
# Pairs that are invalid for one of the lists at least.
INVALID: Final[Sequence[Pair]] = (
    *(("limit", "0"), ("limit", "x"), ("limit", "1001"), ("page_num", "0"), ("page_num", "")),
    *(("sort_order", "up"), ("sort_by", "size"), ("is_open", "maybe")),
    *(("near", "here"), ("near", "91,0"), ("radius", "0"), ("radius", "inf"), ("bbox", "0,1,0,-1")),
    *(("zoom", "23"), ("zoom", "-1"), ("bom", "maybe")),
    *(("q", "a b c d e f g h i j k l m n o p q"), ("sort_by", "distance")),
    *(("sort_by", "attributes.services"), ("fields", "attributes.x")),
    *(("updated_at", "yesterday"), ("created_at", "2024-01-01/2023-01-01"), ("bbox", "181,0,0,1")),
    *(("open_at", "now"), ("open_at", "2026-03-29T01:00:00")),
    *(("fields", "name,size"), ("facets", "name"), ("facets", "company_id,city,province,country,postal_code,is_open")),
)
# The file of the element <store-locator> that a page loads.
EMBEDDED: Final = Question("/embed/store-locator.js", "/embed/store-locator.js")
_PLAIN: Final = b"abcdefghijklmnopqrstuvwxyz_"
_NOISY, _INVALID, _EXPLICIT, _TWICE = 0.15, 0.05, 0.1, 0.2
# How many noisy pairs there are, if any: also more than a response names.
_NOISES: Final = {1: 7, 3: 2, 20: 1}


class PathKind(Enum):
    """The kind of a path."""

    RESOURCE = "a resource"
    REDIRECT = "a resource and a slash"
    UNKNOWN = "unknown"
    START = "/"
    EMBED = "a file for pages of any origin"


def _escaped(path: str) -> str:
    """Return a path with every byte of its last segment percent-encoded."""
    above, _, last = path.rpartition("/")
    return f"{above}/" + "".join(f"%{byte:02x}" for byte in unquote(last).encode())


class PathForm(NamedTuple):
    """A way to write a path, what the result is to the service, and a weight."""

    write: Callable[[str], str]
    kind: PathKind
    weight: float


PATHS: Final[Sequence[PathForm]] = (
    PathForm(lambda path: path, PathKind.RESOURCE, 80),
    PathForm(_escaped, PathKind.RESOURCE, 10),
    PathForm(lambda path: f"{path}/", PathKind.REDIRECT, 3),
    PathForm(lambda path: f"{path}//", PathKind.UNKNOWN, 1),
    PathForm(lambda path: f"/{path}", PathKind.UNKNOWN, 1),
    PathForm(lambda path: f"{path}/more/of/it", PathKind.UNKNOWN, 1),
    PathForm(lambda _: "/", PathKind.START, 4),
    PathForm(lambda _: EMBEDDED.path, PathKind.EMBED, 4),
)


class Target(msgspec.Struct, frozen=True):
    """A question as it is written.

    noisy    whether pairs of the query are in `NOISE`
    invalid  whether one is in `INVALID`
    """

    question: Question
    kind: PathKind
    path: str
    pairs: tuple[str, ...]
    noisy: bool
    invalid: bool

    @property
    def query(self) -> str:
        """The query string as it is written."""
        return "&".join(self.pairs)

    @property
    def names(self) -> list[str]:
        """The names of its parameters."""
        return [unquote_plus(pair.partition("=")[0]) for pair in self.pairs]

    def __str__(self) -> str:
        """Return the target of the request line."""
        return f"{self.path}?{self.query}" if self.pairs else self.path


def write(draws: RandomDraws, question: Question) -> Target:
    """Return a question in a random spelling."""
    path = draws.weighted({each: each.weight for each in PATHS})
    pairs = [(name, spelling) for name, value in question.pairs for spelling in _spelled(draws, question, name, value)]
    asked = {name for name, _ in pairs}
    for name, values in RESOURCES[question.resource].items():
        if draws.happens(_EXPLICIT) and name not in asked and name in ONCE:
            implied = default(name, RESOURCES[question.resource], has_point="near" in asked)
            pairs.append((name, draws.one(values[implied])))
    noisy, invalid = draws.happens(_NOISY), draws.happens(_INVALID)
    pairs += [draws.one(NOISE) for _ in range(draws.weighted(_NOISES) * noisy)] + [draws.one(INVALID)] * invalid
    written = tuple(f"{draws.one(_WAYS)(name)}={draws.one(_WAYS)(value)}" for name, value in draws.shuffled(pairs))
    question = EMBEDDED if path.kind is PathKind.EMBED else question
    return Target(question, path.kind, path.write(question.path), written, noisy, invalid)


def _spelled(draws: RandomDraws, question: Question, name: str, value: str) -> Sequence[str]:
    """Return a spelling of a value, or two of a filter value: that means the same."""
    found = spellings(question.resource, name, value)
    twice = draws.happens(_TWICE) and name not in ONCE
    return [draws.one(found) for _ in range(1 + twice)]


def _quoted_in_lower_case(text: str) -> str:
    return "".join(chr(byte) if byte in _PLAIN else f"%{byte:02x}" for byte in text.encode())


_WAYS: Final[Sequence[Callable[[str], str]]] = (quote, quote_plus, _quoted_in_lower_case)
