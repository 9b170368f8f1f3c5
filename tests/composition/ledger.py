"""What was learned of representations from all answers: the tag of each, and its bytes."""

import re
from typing import Final, NamedTuple

import msgspec

from tests.composition.questions import Question
from tests.composition.request import Sent

_STRONG: Final = re.compile(r'"[!#-~]+"')


class Representation(NamedTuple):
    """An answer in one coding: whatever it may depend on."""

    question: Question
    version: str
    coding: str

    def __str__(self) -> str:
        """Return what it is, for a message."""
        return f"{self.question} in {self.coding}, of version {self.version}"


class Seen(msgspec.Struct):
    """What was seen of a representation, and in the answer to which request first; `raw` is its body on the wire."""

    tag: str
    first: Sent
    length: int | None = None
    raw: bytes | None = None


class Contradiction(Exception):
    """Two answers that contradict each other; `earlier` is the request of the first."""

    def __init__(self, why: str, earlier: Sent) -> None:
        super().__init__(why)
        self.earlier = earlier


class Ledger:
    """The representations of a run, over all processes and data sets."""

    def __init__(self) -> None:
        self._seen: dict[Representation, Seen] = {}
        self._tagged: dict[str, Representation] = {}

    def tag(self, representation: Representation) -> str | None:
        """Return the entity tag of a representation, None until it is known."""
        seen = self._seen.get(representation)
        return None if seen is None else seen.tag

    def tagged(self, tag: str) -> Representation | None:
        """Return the representation that has a tag."""
        return self._tagged.get(tag)

    def first(self, tag: str) -> Sent | None:
        """Return the request with which a tag came first."""
        representation = self._tagged.get(tag)
        return None if representation is None else self._seen[representation].first

    def holds(self, representation: Representation, raw: bytes) -> bool:
        """Return whether a representation is known to be just these bytes."""
        seen = self._seen.get(representation)
        return seen is not None and seen.raw == raw

    def enter(
        self,
        representation: Representation,
        tag: str,
        sent: Sent,
        *,
        length: int | None = None,
        raw: bytes | None = None,
    ) -> None:
        """Note what an answer says of a representation. Raises `Contradiction`."""
        if _STRONG.fullmatch(tag) is None:
            raise Contradiction(f"{tag} is no strong entity tag", sent)
        other = self._tagged.get(tag, representation)
        if other != representation:
            raise Contradiction(f"{tag} is that of {representation}, and was that of {other}", self._seen[other].first)
        seen = self._seen.get(representation) or Seen(tag, sent, length, raw)
        if seen.tag != tag:
            raise Contradiction(f"{representation} has the tag {tag}, and had {seen.tag}", seen.first)
        if length is not None and length != (seen.length or length):
            raise Contradiction(f"{tag} has {length} bytes, and had {seen.length}", seen.first)
        if raw is not None and raw != (seen.raw or raw):
            raise Contradiction(f"{tag} is the tag of two sequences of bytes", seen.first)
        seen.length, seen.raw = length or seen.length, raw or seen.raw
        self._seen[representation], self._tagged[tag] = seen, representation
