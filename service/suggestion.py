"""Suggestions for mistyped names."""

from collections.abc import Iterable
from difflib import get_close_matches


def did_you_mean(name: str, known: Iterable[str], *, prefix: str = "") -> str:
    """Return "; did you mean …?" with the most similar known name, to append to a message; "" if none is similar.

    The suggestion has the prefix; `name` and `known` are without it.
    """
    return "".join(f"; did you mean {prefix}{near}?" for near in get_close_matches(name, list(known), n=1))
