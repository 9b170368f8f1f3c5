"""Texts for people: safe to print, of bounded length, with counts."""

from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from difflib import get_close_matches
from http import HTTPStatus
from typing import Final
from urllib.parse import SplitResult, urlsplit

_MAX_TEXT: Final = 200  # characters; enough to find a cell by, and reports stay readable


def truncate(text: str) -> str:
    """Return a text, with an ellipsis after 200 characters."""
    return text if len(text) <= _MAX_TEXT else text[:_MAX_TEXT] + "…"


def printable(text: str) -> str:
    """Return a text that is safe to print: unprintable characters, such as escape sequences, as Python escapes them."""
    return "".join(character if character.isprintable() else repr(character)[1:-1] for character in text)


def counted(number: int, one: str, several: str = "") -> str:
    """Return a number with its noun: `1 store`, `1,000 stores`. The plural, if not given, has an s."""
    return f"{number:,} {one if number == 1 else several or one + 's'}"


def repeated(texts: Iterable[str]) -> list[str]:
    """Return the texts that occur more than once."""
    return [text for text, count in Counter(texts).items() if count > 1]


def status_line(status: int) -> str:
    """Return a status of HTTP and its standard phrase: the phrase of an origin could quote secrets of a URL."""
    try:
        return f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        return f"{status}"


def split_url(text: str, *schemes: str) -> SplitResult | None:
    """Return the parts of a URL of one of some schemes, with a host; None for any other text."""
    with suppress(ValueError):  # its message may quote a password
        parts = urlsplit(text)
        if parts.scheme in schemes and parts.hostname and parts.port != 0:
            return parts
    return None


def did_you_mean(name: str, known: Iterable[str], *, prefix: str = "") -> str:
    """Return "; did you mean …?" with the most similar known name, to append to a message; "" if none is similar.

    The suggestion has the prefix; `name` and `known` are without it.
    """
    return "".join(f"; did you mean {prefix}{near}?" for near in get_close_matches(name, list(known), n=1))
