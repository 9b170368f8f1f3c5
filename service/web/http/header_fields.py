"""Header fields: encoding them as lines, reading lists with weights, preferences, and Vary."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from typing import Final, TypeAlias

from service.model.operation import GEO_JSON, JSON, KEY_HEADER, VERSION_HEADER

LINE_END: Final = "\r\n"
# Header fields, each as a line with its end, as `header_lines` makes them. One text: answers are kept by the thousand,
# and the garbage collector would traverse a sequence.
HeaderLines: TypeAlias = str


def header_lines(headers: Mapping[str, str]) -> HeaderLines:
    """Return header fields as lines of HTTP/1.1 (RFC 9112 section 5).

    Raises `ValueError` for anything but printable ASCII, which rules out header injection.
    """
    lines = [f"{name}: {value}" for name, value in headers.items()]
    if not all(line.isascii() and line.isprintable() for line in lines):
        raise ValueError("a header field takes printable ASCII only")
    return "".join([line + LINE_END for line in lines])


NO_STORE: Final = header_lines({"Cache-Control": "no-store"})


# Longer fields are ignored: no real client sends them.
MAX_CHARACTERS: Final = 1024
# Members read from all fields of one name: each costs steps in Python, without a key too.
MAX_MEMBERS: Final = 64
# A quoted string, in which commas and semicolons separate nothing. Possessive, so that a failed match is not retried.
QUOTED: Final = r'"[^"\\]*+(?:\\.[^"\\]*+)*+"'

_SPACE: Final = " \t"  # RFC 9110 section 5.6.3
# An unclosed quoted string ends with the field. Otherwise the expression would try each quote as an opening one, in
# time quadratic in the length.
_QUOTED_OR_OPEN: Final = r'"[^"\\]*+(?:\\.[^"\\]*+)*+["\\]?+'
_MEMBERS: Final = re.compile(rf'(?=[^,])[^",]*+(?:{_QUOTED_OR_OPEN}[^",]*+)*+', re.DOTALL)
_VALUE: Final = rf'[^";]*+(?:{_QUOTED_OR_OPEN}[^";]*+)*+'
# Parameters with other names, then the weight, with or without a value.
_PARAMETERS: Final = re.compile(
    rf"(?:;(?!\s*+q\s*+(?:[=;]|\Z)){_VALUE})*;\s*+q\s*+(?:=({_VALUE})|;|\Z)", re.DOTALL | re.IGNORECASE
)
_WEIGHT: Final = re.compile(r"0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?")


def members(fields: Sequence[str]) -> Iterator[str]:
    """Return the first members of the lists in fields of one name; none if the fields exceed `MAX_CHARACTERS`."""
    matches = (match[0] for field in bounded_fields(fields) for match in _MEMBERS.finditer(field))
    return islice(matches, MAX_MEMBERS)


def bounded_fields(fields: Sequence[str]) -> Sequence[str]:
    """Return fields of one name; none if they exceed `MAX_CHARACTERS`, so that caches do not hold long keys."""
    return fields if sum(map(len, fields)) <= MAX_CHARACTERS else ()


def weights(fields: Sequence[str]) -> dict[str, float]:
    """Return the weight of each member, by its name in lower case.

    If a member is repeated, the higher weight wins. Members with an invalid weight are ignored.
    """
    weight_by_name: dict[str, float] = {}
    for member in members(fields):
        name, _, parameters = member.partition(";")
        name, weight = name.strip().lower(), _weight(f";{parameters}")
        if name and weight is not None:
            weight_by_name[name] = max(weight, weight_by_name.get(name, 0.0))
    return weight_by_name


def _weight(parameters: str) -> float | None:
    match = _PARAMETERS.match(parameters)
    if match is None:
        return 1.0
    written = (match[1] or "").strip(_SPACE)
    return float(written) if _WEIGHT.fullmatch(written) else None


# Ranges that JSON is in, the most specific first.
_JSON_RANGES: Final = (JSON, "application/*", "*/*")
_CACHE_ENTRIES: Final = 1024


@lru_cache(_CACHE_ENTRIES)
def prefers_geo_json(*accept: str) -> bool:
    """Return whether Accept fields name GeoJSON, and want it at least as much as JSON."""
    wanted = weights(accept)
    geo_json = wanted.get(GEO_JSON, 0.0)
    return geo_json > 0 and geo_json >= next((wanted[each] for each in _JSON_RANGES if each in wanted), 0.0)


PREFER: Final = "Prefer"

STRICT_APPLIED: Final = header_lines({"Preference-Applied": "handling=strict"})
_HANDLING: Final = re.compile(rf"\s*+handling\s*+(?:=\s*+({QUOTED}|[^\s;\"]*+))?\s*+(?:;.*)?", re.IGNORECASE)


def is_strict(headers: Sequence[str]) -> bool:
    """Return whether Prefer fields request `handling=strict`. If a preference is repeated, the first one wins.

    A server may ignore preferences (RFC 7240 section 2): those in longer fields than `members` reads are ignored.
    """
    if not headers:
        return False
    for preference in members(headers):
        handling = _HANDLING.fullmatch(preference)
        if handling is not None:
            return handling[1] in ("strict", '"strict"')
    return False


def vary_of_data(*names: str, needs_key: bool) -> str:
    """Return the value of Vary for answers about data: these fields, and those that concern all of them."""
    return ", ".join((*names, "Prefer", VERSION_HEADER, *([KEY_HEADER] if needs_key else ())))
