"""Header fields that are lists, and the weights in them (RFC 9110 sections 5.6.1 and 12.4.2)."""

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

# Longer fields are ignored: no real client sends them.
MAX_CHARACTERS: Final = 1024
# Members read from all fields of one name: each costs steps in Python, without a key too.
MAX_MEMBERS: Final = 64
# A quoted string, in which commas and semicolons separate nothing. Possessive, so that a failed match is not retried.
QUOTED: Final = r'"(?:[^"\\]|\\.)*+"'

_SPACE: Final = " \t"  # RFC 9110 section 5.6.3
# An unclosed quoted string ends with the field. Otherwise the expression would try each quote as an opening one, in
# time quadratic in the length.
_QUOTED_OR_OPEN: Final = r'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)'
_MEMBERS: Final = re.compile(rf'(?:{_QUOTED_OR_OPEN}|[^",])++', re.DOTALL)
_VALUE: Final = rf'(?:{_QUOTED_OR_OPEN}|[^";])*+'
# Parameters with other names, then the weight, with or without a value.
_PARAMETERS: Final = re.compile(
    rf";(?:(?!\s*q\s*(?:[=;]|\Z)){_VALUE};)*+\s*+q\s*+(?:=({_VALUE}))?+(?:;|\Z)", re.DOTALL | re.IGNORECASE
)
_WEIGHT: Final = re.compile(r"0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?")


def members(fields: Sequence[str]) -> Iterator[str]:
    """Return the first members of the lists in fields of one name; none if the fields exceed `MAX_CHARACTERS`."""
    found = (member[0] for field in bounded_fields(fields) for member in _MEMBERS.finditer(field))
    return islice(found, MAX_MEMBERS)


def bounded_fields(fields: Sequence[str]) -> Sequence[str]:
    """Return fields of one name; none if they exceed `MAX_CHARACTERS`, so that caches do not hold long keys."""
    return fields if sum(map(len, fields)) <= MAX_CHARACTERS else ()


def weights(fields: Sequence[str]) -> dict[str, float]:
    """Return the weight of each member, by its name in lower case.

    If a member is repeated, the higher weight wins. Members with an invalid weight are ignored.
    """
    found: dict[str, float] = {}
    for member in members(fields):
        name, _, parameters = member.partition(";")
        name, weight = name.strip().lower(), _weight(f";{parameters}")
        if name and weight is not None:
            found[name] = max(weight, found.get(name, 0.0))
    return found


def _weight(parameters: str) -> float | None:
    found = _PARAMETERS.match(parameters)
    if found is None:
        return 1.0
    written = (found[1] or "").strip(_SPACE)
    return float(written) if _WEIGHT.fullmatch(written) else None
