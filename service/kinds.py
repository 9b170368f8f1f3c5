"""The kinds of field: how a value is read, and the form in which it is matched and ordered.

Every kind turns a value into a text, its **matched form**, chosen so that two values are the same when their forms are
equal and come in the order of their forms by code point. The rest of the house compares forms and knows no kinds.
"""

import re
import unicodedata
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from typing import Final

import msgspec

NUMBER_PATTERN: Final = re.compile(r"([+-]?)(?:([0-9]+)(?:\.([0-9]*))?|\.([0-9]+))(?:[eE]([+-]?[0-9]{1,3}))?")
INSTANT_PATTERN: Final = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})"
    r"(?:[T ]((?:[01][0-9]|2[0-3]):[0-5][0-9])(?::([0-5][0-9])(?:\.([0-9]+))?)?(Z|[+-][0-9]{2}:[0-9]{2})?)?"
)
TRUE: Final = frozenset({"1", "t", "y", "on", "yes", "true"})
FALSE: Final = frozenset({"0", "f", "n", "no", "off", "false"})

_FIRST_MOMENT: Final = datetime(1, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
_EXPONENT_ZERO: Final = 5 * 10**17  # a text's length bounds its exponent far below this
_NINES: Final = str.maketrans("0123456789", "9876543210")


class Kind(msgspec.Struct, frozen=True):
    """A kind of field: its name, what gives a value's matched form, and when two values match, in a sentence."""

    name: str
    matched: Callable[[str], str]
    rule: str


def fold(text: str) -> str:
    """Return words as they are compared: NFKC, case folded, NFKC again, white space single (Unicode TR15, TR21)."""
    if text.isascii():
        return " ".join(text.lower().split())
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return " ".join(folded.split())


def fold_postal(text: str) -> str:
    """Return a postal code as it is compared: folded, with no white space at all."""
    return fold(text).replace(" ", "")


def rank_number(text: str) -> str:
    """Return a text that orders decimals by value, equal for equal decimals; other texts come after, as they are.

    A decimal becomes its sign, the exponent of its first digit and its digits. Those of a negative number are
    complemented and closed by a character above every digit, so that the larger magnitude comes first.
    """
    match = NUMBER_PATTERN.fullmatch(text.strip())
    if match is None:
        return "3" + text
    sign, whole, part, bare_part, exponent = match.groups()
    whole = whole or ""
    digits = (whole + (part or bare_part or "")).lstrip("0")
    if not digits:
        return "1"
    leading_zeros = len(whole) + len(part or bare_part or "") - len(digits)
    scale = int(exponent or "0") + len(whole) - leading_zeros
    magnitude = f"{_EXPONENT_ZERO + scale:018d}{digits.rstrip('0')}"
    return "0" + magnitude.translate(_NINES) + "~" if sign == "-" else "2" + magnitude


def read_flag(text: str) -> bool | None:
    """Return the truth that a text spells, or None (the spellings of pydantic 2, ASCII case aside)."""
    lowered = text.lower() if text.isascii() else text
    if lowered in TRUE:
        return True
    return False if lowered in FALSE else None


def rank_flag(text: str) -> str:
    """Return false before true."""
    return "1" if read_flag(text) else "0"


def read_instant(text: str) -> datetime | None:
    """Return the date-time of a data file, or None where it is none (RFC 3339, with the additions of our data format).

    A date is midnight UTC; seconds, fraction and offset may be left out; digits past the sixth are cut. The moment lies
    in the years 1 to 9999 of UTC.
    """
    match = INSTANT_PATTERN.fullmatch(text)
    if match is None:
        return None
    date, clock, seconds, fraction, offset = match.groups()
    try:
        moment = datetime.fromisoformat(f"{date}T{clock or '00:00'}:{seconds or '00'}.{(fraction or '')[:6]:0<6}")
        moment = moment.replace(tzinfo=_read_offset(offset))
        moment.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return moment


def _read_offset(offset: str | None) -> timezone:
    if offset is None or offset in ("Z", "+00:00", "-00:00"):
        return UTC
    hours, minutes = int(offset[1:3]), int(offset[4:6])
    if hours > 23 or minutes > 59:  # noqa: PLR2004 - RFC 3339 section 5.6: time-hour, time-minute
        raise ValueError(offset)
    ahead = timedelta(hours=hours, minutes=minutes)
    return timezone(-ahead if offset[0] == "-" else ahead)


def write_instant(moment: datetime) -> str:
    """Return a moment as it is answered: RFC 3339, `Z` for UTC, six digits of fraction or none."""
    return moment.isoformat().replace("+00:00", "Z")


def moment_microseconds(moment: datetime) -> int:
    """Return a moment as microseconds since the first moment of the year 1, UTC."""
    return (moment - _FIRST_MOMENT) // _MICROSECOND


def rank_instant(text: str) -> str:
    """Return a text that orders moments; `text` is one that `read_instant` takes."""
    moment = read_instant(text)
    if moment is None:
        raise ValueError(text)
    return f"{moment_microseconds(moment):018d}"


IDENTIFIER: Final = Kind("identifier", str, "Matches the whole value, to the character.")
WORDS: Final = Kind("words", fold, "Matches the whole value, whatever its case, Unicode form and white space.")
POSTAL: Final = Kind("postal", fold_postal, "Matches the whole value, whatever its case and with or without spaces.")
NUMBER: Final = Kind("number", rank_number, "Matches the same decimal: 43.70 finds 43.7.")
FLAG: Final = Kind("flag", rank_flag, "Takes 1, t, y, on, yes, true, 0, f, n, no, off and false, in any case.")
INSTANT: Final = Kind("instant", rank_instant, "Matches the same moment.")
