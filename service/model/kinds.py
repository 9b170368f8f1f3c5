"""The kinds of field: how values are parsed, compared and ordered.

Every kind maps a value to a text, its **normalized key**: two values match if their keys are equal, and sort in the
order of their keys by code point. The rest of the service compares keys and does not depend on kinds.
"""

import re
import unicodedata
from base64 import b64encode
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from itertools import chain, groupby
from typing import Final

import msgspec

MAX_LATITUDE: Final = 90
MAX_LONGITUDE: Final = 180


NUMBER_PATTERN: Final = re.compile(r"([+-]?)(?:([0-9]+)(?:\.([0-9]*))?|\.([0-9]+))(?:[eE]([+-]?[0-9]{1,3}))?")
INSTANT_PATTERN: Final = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
    r"(?:[T ](?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9](?:\.[0-9]+)?)?"
    r"(?:Z|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])?)?"
)
TRUE: Final = frozenset({"1", "t", "y", "on", "yes", "true"})
FALSE: Final = frozenset({"0", "f", "n", "no", "off", "false"})

# White space around a value, without control characters (U+001C to U+001F, U+0085, …), which Python strips, too.
_AROUND: Final = "\t\n\r \xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))

# Python sorts consecutive combining marks by insertion: many of them would cost the square of their number.
_LONG_RUN: Final = re.compile(r"[^\x00-\x7f]{100,}")

# The number of digits before the decimal point as one character; numbers outside this range spell it out.
MOST_SCALE: Final = 15
POINT_SCALE: Final = ord("P")  # the character of no digits before the point
_SCALES: Final = {scale: chr(POINT_SCALE + scale) for scale in range(-MOST_SCALE, MOST_SCALE + 1)}
_SMALLER, _LARGER = "0", "~"
_ZERO: Final = 5 * 10**17  # far above any scale: a text cannot be that long
_KEY_ALPHABET: Final = "".join(sorted({*"0123456789", *_SCALES.values(), _SMALLER, _LARGER}))
_COMPLEMENT: Final = str.maketrans(_KEY_ALPHABET, _KEY_ALPHABET[::-1])
_END: Final = "\x7f"  # sorts after every other character of a key
_EXPONENTS: Final = {character.encode(): b"e%d" % scale for scale, character in _SCALES.items()}
_END_BYTE: Final = _END.encode()
END: Final = _END_BYTE[0]
_POSITIVE: Final = ord("2")
# The key of every decimal is between these, that of no other text.
DECIMAL_KEYS: Final = "0", f"2{_LARGER}{10**19 - 1}"
COMPLEMENT: Final = bytes.maketrans(_KEY_ALPHABET.encode(), _KEY_ALPHABET[::-1].encode())


class Kind(msgspec.Struct, frozen=True):
    """A kind of field: its name, the function to the normalized key, and when values match, as a sentence."""

    name: str
    normalize: Callable[[str], str]
    rule: str


def trim(text: str) -> str:
    """Return a text without the white space around it; control characters stay. Raises TypeError for no text."""
    return str.strip(text, _AROUND)


def fold(text: str) -> str:
    """Return the key of words: NFKC, case folded, NFKC again, white space collapsed (Unicode TR15, TR21)."""
    folded = text.lower() if text.isascii() else fold_case(text)
    return " ".join(folded.split())


def fold_case(text: str) -> str:
    """Return words folded, white space unchanged; the result for several lines is that for each line."""
    if text.isascii():
        return text.lower()
    if unicodedata.is_normalized("NFKC", text) and unicodedata.is_normalized("NFKC", folded := text.casefold()):
        return folded
    # Line by line: one character for which it is hard to say whether it is normalized would cost all of them.
    return "\n".join(
        [line.lower() if line.isascii() else _normalize(_normalize(line).casefold()) for line in text.split("\n")]
    )


def joining(character: str) -> set[str]:
    """Return the marks and Hangul letters among the forms of a character, which may join one before it."""
    forms = {*unicodedata.normalize("NFKC", character), *fold_case(character)}
    return {each for each in forms if unicodedata.category(each)[0] == "M" or "\u1100" <= each < "\u1200"}


def _normalize(text: str) -> str:
    """Return text in NFKC, in time proportional to its length."""
    if unicodedata.is_normalized("NFKC", text):
        return text
    return unicodedata.normalize("NFKC", _LONG_RUN.sub(_decompose, text))


def _decompose(run: re.Match[str]) -> str:
    """Return characters in NFKD: each decomposed, then combining marks sorted by class (Unicode TR15, D68 and D109)."""
    decomposed = "".join([unicodedata.normalize("NFKD", character) for character in run[0]])
    if not any(map(unicodedata.combining, decomposed)):
        return decomposed
    groups = groupby(decomposed, key=lambda character: unicodedata.combining(character) > 0)
    return "".join(chain.from_iterable(sorted(group, key=unicodedata.combining) for _, group in groups))


def number_key(text: str) -> str:
    """Return the key of a number: decimals sort by value, other texts after them, unchanged.

    The key of a decimal is its sign, scale and digits. For a negative number each character of scale and digits is
    replaced by its complement, and an end character above all others is added, so that larger magnitudes sort first.
    """
    match = NUMBER_PATTERN.fullmatch(text.strip())
    if match is None:
        return "3" + text
    sign, whole, part, bare_part, exponent = match.groups("")
    fraction = part or bare_part
    digits = (whole + fraction).lstrip("0")
    if not digits:
        return "1"
    scale = len(digits) - len(fraction) + (int(exponent) if exponent else 0)
    coded_scale = _SCALES.get(scale) or f"{_SMALLER if scale < 0 else _LARGER}{_ZERO + scale:018d}"
    magnitude = coded_scale + digits.rstrip("0")
    return "0" + magnitude.translate(_COMPLEMENT) + _END if sign == "-" else "2" + magnitude


def key_number(key: bytes) -> float:
    """Return the number nearest to the decimal with a key."""
    if key == b"1":
        return 0.0
    point, coded = (b".", key) if key[0] == _POSITIVE else (b"-.", key.translate(COMPLEMENT, _END_BYTE))
    exponent, digits = _EXPONENTS.get(coded[1:2]), coded[2:]
    if exponent is None:  # the scale is spelled out
        exponent, digits = b"e%d" % (int(coded[2:20]) - _ZERO), coded[20:]
    return float(point + digits + exponent)


def parse_flag(text: str) -> bool | None:
    """Return a text as a boolean, None if invalid (the spellings of pydantic 2, ASCII case-insensitive)."""
    lowered = text.lower() if text.isascii() else text
    if lowered in TRUE:
        return True
    return False if lowered in FALSE else None


def parse_instant(text: str) -> datetime | None:
    """Return a date-time of a data file, None if invalid (RFC 3339, with the extensions of our data format).

    A date means midnight UTC. Seconds, fraction and offset are optional; fraction digits after the sixth are dropped.
    In UTC the year must be from 1 to 9999.
    """
    if INSTANT_PATTERN.fullmatch(text) is None:
        return None
    try:
        instant = datetime.fromisoformat(text)
        if instant.tzinfo is None:
            return instant.replace(tzinfo=UTC)
        instant.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return instant


def format_instant(instant: datetime) -> str:
    """Return a date-time as served: RFC 3339, `Z` for UTC, six fraction digits or none."""
    return instant.isoformat().replace("+00:00", "Z")


def instant_key(text: str) -> str:
    """Return the key of a valid date-time: itself in UTC, without an offset."""
    instant = parse_instant(text)
    if instant is None:
        raise ValueError(text)
    return instant.astimezone(UTC).replace(tzinfo=None).isoformat()


def served_instant_key(text: str) -> str:
    """Return the key of a date-time as it is served. Raises ValueError or OverflowError for another text."""
    instant = datetime.fromisoformat(text)
    return (instant.replace(tzinfo=None) - (instant.utcoffset() or timedelta())).isoformat()


IDENTIFIER: Final = Kind("identifier", str, "Matches the whole value, case-sensitive.")
WORDS: Final = Kind(
    "words", fold, "Matches the whole value, ignoring case, Unicode normalization form and extra white space."
)
POSTAL: Final = Kind(
    "postal", lambda text: fold(text).replace(" ", ""), "Matches the whole value, ignoring case and spaces."
)
NUMBER: Final = Kind("number", number_key, "Matches equal decimals: 43.70 matches 43.7.")
FLAG: Final = Kind(
    "flag",
    lambda text: "1" if parse_flag(text) else "0",
    "Accepts 1, t, y, on, yes, true, 0, f, n, no, off and false, case-insensitive.",
)
INSTANT: Final = Kind("instant", instant_key, "Matches the same instant, a date its whole day in UTC.")
# The texts of hours are long and begin alike: a digest of so many bytes tells them apart, and sorts as two words.
_HOURS_BYTES: Final = 11
HOURS: Final = Kind(
    "hours",
    lambda text: b64encode(blake2b(text.encode(), digest_size=_HOURS_BYTES).digest())[:-1].decode(),
    "Matches the same hours.",
)
DATE: Final = Kind("date", str.strip, "Matches the same date, written as 2019-02-01.")
