"""The variants observed in all replies: entity tag and bytes of each."""

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

import msgspec

from tests.composition.questions import Question
from tests.composition.request import Sent

_STRONG: Final = re.compile(r'"[!#-~]+"')


class Variant(NamedTuple):
    """All that the bytes of a 200 depend on: a selected representation (RFC 9110 section 3.2).

    `form` is the link to other pages that is in the body of a page of GeoJSON.
    """

    question: Question
    version: str
    coding: str
    form: str = ""

    def __str__(self) -> str:
        """Return what it is, for a message."""
        return f"{self.question} {self.form}in {self.coding}, of version {self.version}"


class Observation(msgspec.Struct):
    """The observations of a variant, and the request with its first reply; `raw` is its body on the wire."""

    tag: str
    first: Sent
    length: int | None = None
    raw: bytes | None = None


class Contradiction(Exception):
    """Two replies contradict each other; `earlier` is the request of the first."""

    def __init__(self, why: str, earlier: Sent) -> None:
        super().__init__(why)
        self.earlier = earlier


class Ledger:
    """The variants of a run, over all processes and data sets."""

    def __init__(self) -> None:
        self._seen: dict[Variant, Observation] = {}
        self._tagged: dict[str, Variant] = {}
        self._asked: dict[Question, list[str]] = {}

    def tags(self, question: Question) -> Sequence[str]:
        """Return the known entity tags of a question, of any version, in any form and coding."""
        return self._asked.get(question, ())

    def tagged(self, tag: str) -> Variant | None:
        """Return the variant that has a tag."""
        return self._tagged.get(tag)

    def first(self, tag: str) -> Sent | None:
        """Return the first request whose reply had a tag."""
        variant = self._tagged.get(tag)
        return None if variant is None else self._seen[variant].first

    def holds(self, variant: Variant, raw: bytes) -> bool:
        """Return whether a variant is known to be just these bytes."""
        seen = self._seen.get(variant)
        return seen is not None and seen.raw == raw

    def enter(
        self, variant: Variant, tag: str, sent: Sent, *, length: int | None = None, raw: bytes | None = None
    ) -> None:
        """Record what a reply shows of a variant. Raises `Contradiction`."""
        if _STRONG.fullmatch(tag) is None:
            raise Contradiction(f"{tag} is not a strong entity tag", sent)
        other = self._tagged.get(tag, variant)
        if other != variant:
            raise Contradiction(f"{tag} is that of {variant}, and was that of {other}", self._seen[other].first)
        seen = self._seen.get(variant) or Observation(tag, sent, length, raw)
        if seen.tag != tag:
            raise Contradiction(f"{variant} has the tag {tag}, and had {seen.tag}", seen.first)
        if length is not None and length != (seen.length or length):
            raise Contradiction(f"{tag} has {length} bytes, and had {seen.length}", seen.first)
        if raw is not None and raw != (seen.raw or raw):
            raise Contradiction(f"{tag} is the tag of two sequences of bytes", seen.first)
        seen.length, seen.raw = length or seen.length, raw or seen.raw
        if tag not in self._tagged:
            self._asked.setdefault(variant.question, []).append(tag)
        self._seen[variant], self._tagged[tag] = seen, variant
