"""How much a test tries: little by default, everything in a thorough run.

`make coverage` is one, and `make test ARGS=--hypothesis-profile=thorough`.
"""

from collections.abc import Sequence
from typing import TypeVar

from hypothesis import settings

_Case = TypeVar("_Case")


def is_thorough() -> bool:
    """Return whether the run is thorough."""
    return settings.get_current_profile_name() == "thorough"


def some_of(cases: Sequence[_Case], share: int, first: int = 0) -> Sequence[_Case]:
    """Return all cases in a thorough run, else one of each `share`, from the `first` on."""
    return cases if is_thorough() else cases[first % share :: share]
