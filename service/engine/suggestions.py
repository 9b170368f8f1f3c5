"""Suggestions for misspelt names: those that are one edit away, in sorted names.

One edit inserts, deletes or replaces a character, or swaps two neighbours. It leaves one half of a text as it is,
unless it swaps the characters between the halves: names with the first half are next to each other in sorted names,
and those with the second in the sorted reversed ones. Of many, only those are looked up that differ at one place.
"""

from collections.abc import Iterator
from typing import Final

from service.engine.columns.column import StringArray
from service.engine.columns.row_budget import spend

_FEW: Final = 24  # names compared one by one, which takes as long as to look a dozen up
# To look a name up takes as long as to look at so many rows.
_FINDING: Final = 200


def one_edit_away(text: str, names: StringArray, backwards: StringArray) -> set[str]:
    """Return the names one edit away from a text; `backwards` are the reversed ones."""
    half = len(text) // 2
    found = set(_changed(text, names, half))
    found |= {name[::-1] for name in _changed(text[::-1], backwards, len(text) - half)}
    swapped = _swapped(text, half - 1)
    return found | ({swapped} if swapped != text and _has(names, swapped) else set())


def is_one_edit(text: str, name: str) -> bool:
    """Return whether a name is one edit away from another text."""
    at = next((place for place, pair in enumerate(zip(text, name, strict=False)) if pair[0] != pair[1]), None)
    if at is None:
        return abs(len(text) - len(name)) == 1
    rest = name[at:]
    return text[at + 1 :] in (rest, rest[1:]) or text[at:] == rest[1:] or _swapped(text, at)[at:] == rest


def _changed(text: str, names: StringArray, start: int) -> Iterator[str]:
    """Yield the names that are one edit away after their first `start` characters, which are those of the text."""
    for at in range(start, len(text) + 1):
        head, tail = text[:at], text[at:]
        having = _beginning(names, head)
        if len(having) <= _FEW:
            spend(_FINDING * len(having) // 2)
            yield from (name for name in (names[each].decode() for each in having) if is_one_edit(text, name))
            return
        changed = {head + tail[1:], _swapped(text, at)} if tail else set[str]()
        for character in _following(names, len(head), having):
            changed |= {head + character + tail, head + character + tail[1:]}
        yield from (name for name in changed if name != text and _has(names, name))


def _following(names: StringArray, length: int, having: range) -> Iterator[str]:
    """Yield the different characters that follow the first `length` ones, which are the same, in a range of names."""
    first = having.start
    while first < having.stop:
        name = names[first].decode()
        if len(name) == length:
            first += 1
        else:
            yield name[length]
            first = _beginning(names, name[: length + 1]).stop


def _beginning(names: StringArray, text: str) -> range:
    spend(_FINDING)
    return names.beginning(text)


def _has(names: StringArray, name: str) -> bool:
    spend(_FINDING)
    return names.find(name) is not None


def _swapped(text: str, at: int) -> str:
    """Return a text with the characters at a place and after it swapped."""
    return text[:at] + text[at + 1 : at + 2] + text[at : at + 1] + text[at + 2 :]
