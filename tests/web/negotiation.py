"""Content negotiation by RFC 9110 section 12.5.3: the oracle of the tests."""

import re
from typing import Final

# In the order of the server's preference.
CODINGS: Final = ("zstd", "br", "gzip")
MIN_BYTES: Final = 1024

_ALIASES: Final = {"x-gzip": "gzip"}
_NAME: Final = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_MEMBER: Final = re.compile(rf"({_NAME})(?:[ \t]*;[ \t]*[qQ]=([^ \t]*))?")
_WEIGHT: Final = re.compile(r"0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?")


def weights(accepted: str) -> dict[str, float]:
    """Return the codings that Accept-Encoding names, with their weights; invalid members are ignored."""
    members = (_MEMBER.fullmatch(member.strip(" \t")) for member in accepted.split(","))
    found = (member.groups(default="1") for member in members if member is not None)
    return {
        _ALIASES.get(name.lower(), name.lower()): float(weight) for name, weight in found if _WEIGHT.fullmatch(weight)
    }


def acceptable(accepted: str) -> set[str]:
    """Return the acceptable codings, `identity` among them."""
    named = weights(accepted)
    rest = named.get("*", 0)
    accepted_codings = {coding for coding in CODINGS if named.get(coding, rest) > 0}
    return accepted_codings | ({"identity"} if named.get("identity", named.get("*", 1)) > 0 else set())


def negotiated(accepted: str, size: int) -> str:
    """Return the coding of a response of this size."""
    named, accepted_codings = weights(accepted), acceptable(accepted)
    weighted = [(named.get(coding, named.get("*", 0)), coding) for coding in CODINGS if coding in accepted_codings]
    if not weighted:
        return "identity"
    highest = max(weight for weight, _ in weighted)
    if "identity" in accepted_codings and (size < MIN_BYTES or named.get("identity", 0) > highest):
        return "identity"
    return next(coding for weight, coding in weighted if weight == highest)
