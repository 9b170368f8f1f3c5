"""Which coding an answer has, read straight from RFC 9110 section 12.5.3."""

import re
from typing import Final

# The first of those that are wanted alike is taken.
CODINGS: Final = ("zstd", "br", "gzip")
LEAST_BYTES: Final = 1024

_ALIASES: Final = {"x-gzip": "gzip"}
_NAME: Final = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_MEMBER: Final = re.compile(rf"({_NAME})(?:[ \t]*;[ \t]*[qQ]=([^ \t]*))?")
_WEIGHT: Final = re.compile(r"0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?")


def weights(accepted: str) -> dict[str, float]:
    """Return the codings that Accept-Encoding names, with their weights; what is no member is left out."""
    members = (_MEMBER.fullmatch(member.strip(" \t")) for member in accepted.split(","))
    found = (member.groups(default="1") for member in members if member is not None)
    return {
        _ALIASES.get(name.lower(), name.lower()): float(weight) for name, weight in found if _WEIGHT.fullmatch(weight)
    }


def acceptable(accepted: str) -> set[str]:
    """Return the codings that a client takes, `identity` among them."""
    named = weights(accepted)
    rest = named.get("*", 0)
    taken = {coding for coding in CODINGS if named.get(coding, rest) > 0}
    return taken | ({"identity"} if named.get("identity", named.get("*", 1)) > 0 else set())


def negotiated(accepted: str, size: int) -> str:
    """Return the coding of an answer of so many bytes."""
    named, taken = weights(accepted), acceptable(accepted)
    wanted = [(named.get(coding, named.get("*", 0)), coding) for coding in CODINGS if coding in taken]
    if not wanted:
        return "identity"
    most = max(weight for weight, _ in wanted)
    if "identity" in taken and (size < LEAST_BYTES or named.get("identity", 0) > most):
        return "identity"
    return next(coding for weight, coding in wanted if weight == most)
