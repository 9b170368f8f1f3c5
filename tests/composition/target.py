"""How a question is written: any spelling of its path and query, with more in it that means nothing, or is wrong."""

from collections.abc import Callable, Sequence
from enum import Enum
from typing import Final, NamedTuple
from urllib.parse import quote, quote_plus, unquote

import msgspec

from tests.composition.chance import Chance
from tests.composition.questions import ONCE, RESOURCES, Pair, Question, spellings

# What is not a parameter, or filters nothing; a strict request refuses some of it.
NOISE: Final[Sequence[Pair]] = (
    *(("unknown", "1"), ("City", "x"), ("", ""), ("limit[]", "5")),
    *(("city", ""), ("country", "null"), ("company_id", " "), ("parent_company_id", "")),
)
# What no list takes, or only one of them.
FAULTS: Final[Sequence[Pair]] = (
    *(("limit", "0"), ("limit", "x"), ("limit", "1001"), ("page_num", "0"), ("page_num", "")),
    *(("sort_order", "up"), ("sort_by", "size"), ("is_open", "maybe")),
)
_PLAIN: Final = b"abcdefghijklmnopqrstuvwxyz_"
_NOISY, _FAULTY, _SAID, _TWICE = 0.15, 0.05, 0.1, 0.2


class Place(Enum):
    """What a path leads to."""

    ANSWERED = "a resource"
    MOVED = "a redirect"
    UNKNOWN = "nothing"


def _escaped(path: str) -> str:
    """Return a path in which every letter of its last segment is an escape."""
    above, _, last = path.rpartition("/")
    return f"{above}/" + "".join(f"%{byte:02x}" for byte in unquote(last).encode())


class Path(NamedTuple):
    """A way to write a path: where it then leads, and how often it is written so."""

    write: Callable[[str], str]
    place: Place
    weight: float


PATHS: Final[Sequence[Path]] = (
    Path(lambda path: path, Place.ANSWERED, 80),
    Path(_escaped, Place.ANSWERED, 10),
    Path(lambda path: f"{path}/", Place.MOVED, 3),
    Path(lambda path: f"{path}//", Place.UNKNOWN, 1),
    Path(lambda path: f"/{path}", Place.UNKNOWN, 1),
    Path(lambda path: f"{path}/more/of/it", Place.UNKNOWN, 1),
)


class Target(msgspec.Struct, frozen=True):
    """A question as it is written.

    noisy   whether something in the query means nothing
    faulty  whether something in it may be refused
    """

    question: Question
    place: Place
    path: str
    pairs: tuple[str, ...]
    noisy: bool
    faulty: bool

    @property
    def query(self) -> str:
        """The query string as it is written."""
        return "&".join(self.pairs)

    def __str__(self) -> str:
        """Return the target of the request line."""
        return f"{self.path}?{self.query}" if self.pairs else self.path


def write(chance: Chance, question: Question) -> Target:
    """Return a question in some spelling."""
    path = chance.weighed({each: each.weight for each in PATHS})
    pairs = [(name, spelling) for name, value in question.pairs for spelling in _spelled(chance, question, name, value)]
    asked = {name for name, _ in pairs}
    for name, values in RESOURCES[question.resource].items():
        if chance.happens(_SAID) and name not in asked and name in ONCE:
            pairs.append((name, chance.one(next(iter(values.values())))))
    noisy, faulty = chance.happens(_NOISY), chance.happens(_FAULTY)
    pairs += [chance.one(NOISE)] * noisy + [chance.one(FAULTS)] * faulty
    written = (f"{chance.one(_WAYS)(name)}={chance.one(_WAYS)(value)}" for name, value in chance.shuffled(pairs))
    return Target(question, path.place, path.write(question.path), tuple(written), noisy, faulty)


def _spelled(chance: Chance, question: Question, name: str, value: str) -> Sequence[str]:
    """Return one spelling of a value, and of a filter now and then another one beside it."""
    found = spellings(question.resource, name, value)
    twice = chance.happens(_TWICE) and name not in ONCE
    return [chance.one(found) for _ in range(1 + twice)]


def _quoted_in_small_letters(text: str) -> str:
    return "".join(chr(byte) if byte in _PLAIN else f"%{byte:02x}" for byte in text.encode())


_WAYS: Final[Sequence[Callable[[str], str]]] = (quote, quote_plus, _quoted_in_small_letters)
