"""The kinds of field: how a value is read, and the form in which it is matched and ordered.

Every kind turns a value into a text, its **matched form**, chosen so that two values are the same when their forms are
equal and come in the order of their forms by code point. The rest of the house compares forms and knows no kinds.
"""

import re
import unicodedata
from collections.abc import Callable
from datetime import UTC, datetime
from itertools import chain, groupby
from typing import Final

import msgspec

NUMBER_PATTERN: Final = re.compile(r"([+-]?)(?:([0-9]+)(?:\.([0-9]*))?|\.([0-9]+))(?:[eE]([+-]?[0-9]{1,3}))?")
INSTANT_PATTERN: Final = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
    r"(?:[T ](?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9](?:\.[0-9]+)?)?"
    r"(?:Z|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])?)?"
)
TRUE: Final = frozenset({"1", "t", "y", "on", "yes", "true"})
FALSE: Final = frozenset({"0", "f", "n", "no", "off", "false"})

# Python sorts combining marks that follow each other by insertion: many of them would cost the square of their number.
_LONG_RUN: Final = re.compile(r"[^\x00-\x7f]{100,}")

# How many digits stand before the point of a number, as one character; what no character is left for is written out.
_SCALES: Final = {scale: chr(ord("P") + scale) for scale in range(-15, 16)}
_SMALLER, _LARGER = "0", "~"
_ZERO: Final = 5 * 10**17  # the length of a text bounds its scale far below this
_ALPHABET: Final = "".join(sorted({*"0123456789", *_SCALES.values(), _SMALLER, _LARGER}))
_BACKWARDS: Final = str.maketrans(_ALPHABET, _ALPHABET[::-1])
_LAST: Final = "\x7f"


def _start(whole: int) -> str:
    magnitude = f"{_SCALES[len(str(abs(whole)))]}{abs(whole)}"
    return "0" + magnitude.translate(_BACKWARDS) if whole < 0 else "2" + magnitude


_STARTS: Final = {str(whole): _start(whole) for whole in range(-180, 181) if whole}


class Kind(msgspec.Struct, frozen=True):
    """A kind of field: its name, what gives a value's matched form, and when two values match, in a sentence."""

    name: str
    matched: Callable[[str], str]
    rule: str


def fold(text: str) -> str:
    """Return words as they are compared: NFKC, case folded, NFKC again, white space single (Unicode TR15, TR21)."""
    return " ".join(fold_loosely(text).split())


def fold_loosely(text: str) -> str:
    """Return words folded but for their white space; of several lines each is folded as it is alone."""
    if text.isascii():
        return text.lower()
    return _normalize(_normalize(text).casefold())


def _normalize(text: str) -> str:
    """Return text in NFKC, at a cost in proportion to its length."""
    if unicodedata.is_normalized("NFKC", text):
        return text
    return unicodedata.normalize("NFKC", _LONG_RUN.sub(_decompose, text))


def _decompose(run: re.Match[str]) -> str:
    """Return characters in NFKD: each decomposed, then combining marks sorted by class (Unicode TR15, D68 and D109)."""
    decomposed = "".join([unicodedata.normalize("NFKD", character) for character in run[0]])
    alike = groupby(decomposed, key=lambda character: unicodedata.combining(character) > 0)
    return "".join(chain.from_iterable(sorted(group, key=unicodedata.combining) for _, group in alike))


def fold_postal(text: str) -> str:
    """Return a postal code as it is compared: folded, with no white space at all."""
    return fold(text).replace(" ", "")


def rank_number(text: str) -> str:
    """Return a text that orders decimals by value, equal for equal decimals; other texts come after, as they are.

    A decimal becomes its sign, its scale and its digits. Those of a negative number are turned, each character into its
    opposite, and closed by one above all, so that the larger magnitude comes first.
    """
    # Most numbers are degrees: how they start is known by the digits before the point.
    whole, _, part = text.partition(".")
    start, fraction = _STARTS.get(whole), part.rstrip("0")
    if start is not None and fraction.isdecimal() and fraction.isascii():
        return start + fraction if whole[0] != "-" else start + fraction.translate(_BACKWARDS) + _LAST
    return _rank_any_number(text)


def _rank_any_number(text: str) -> str:
    match = NUMBER_PATTERN.fullmatch(text.strip())
    if match is None:
        return "3" + text
    sign, whole, part, bare_part, exponent = match.groups("")
    fraction = part or bare_part
    digits = (whole + fraction).lstrip("0")
    if not digits:
        return "1"
    scale = len(digits) - len(fraction) + (int(exponent) if exponent else 0)
    magnitude = (_SCALES.get(scale) or _spell_scale(scale)) + digits.rstrip("0")
    return "0" + magnitude.translate(_BACKWARDS) + _LAST if sign == "-" else "2" + magnitude


def _spell_scale(scale: int) -> str:
    return f"{_SMALLER if scale < 0 else _LARGER}{_ZERO + scale:018d}"


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
    if INSTANT_PATTERN.fullmatch(text) is None:
        return None
    try:
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is None:
            return moment.replace(tzinfo=UTC)
        moment.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return moment


def write_instant(moment: datetime) -> str:
    """Return a moment as it is answered: RFC 3339, `Z` for UTC, six digits of fraction or none."""
    return moment.isoformat().replace("+00:00", "Z")


def rank_instant(text: str) -> str:
    """Return the moment in UTC, without an offset, which orders as moments do; `text` is one that is an instant."""
    moment = read_instant(text)
    if moment is None:
        raise ValueError(text)
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat()


IDENTIFIER: Final = Kind("identifier", str, "Matches the whole value, to the character.")
WORDS: Final = Kind("words", fold, "Matches the whole value, whatever its case, Unicode form and white space.")
POSTAL: Final = Kind("postal", fold_postal, "Matches the whole value, whatever its case and with or without spaces.")
NUMBER: Final = Kind("number", rank_number, "Matches the same decimal: 43.70 finds 43.7.")
FLAG: Final = Kind("flag", rank_flag, "Takes 1, t, y, on, yes, true, 0, f, n, no, off and false, in any case.")
INSTANT: Final = Kind("instant", rank_instant, "Matches the same moment.")
