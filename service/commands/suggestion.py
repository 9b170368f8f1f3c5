"""What somebody meant who mistyped a name."""

from collections.abc import Iterable
from difflib import get_close_matches


def did_you_mean(name: str, known: Iterable[str], *, prefix: str = "") -> str:
    """Return a question after the nearest name, to go behind a message; "" where none is near.

    All names begin with the prefix, and are given without it.
    """
    return "".join(f"; did you mean {prefix}{near}?" for near in get_close_matches(name, list(known), n=1))
