"""Moments: when records were made and changed, in the spellings that real files have."""

from datetime import date, timedelta
from typing import Final

from msgspec import UNSET, UnsetType

from service.sampling.seeded_random import Draw, Weighted, pick

_LAST_CREATED: Final = 6940
# Two days after any other, a moment is later whatever the offsets of both and even if one of them is a bare date.
_APART: Final = 2
_DAYS: Final = tuple(str(date(2006, 11, 1) + timedelta(days=number)) for number in range(_LAST_CREATED + _APART + 1))
_FORMS: Final = Weighted.of(
    [
        ("{day}T{clock}Z", 40),
        ("{day}T{clock}{offset}", 25),
        ("{day}", 9),
        ("{day}T{clock}.{fraction:.3}Z", 9),
        ("{day}T{clock}.{fraction}{offset}", 7),
        ("{day} {clock}", 6),
        ("{day}T{clock:.5}{offset}", 2),
        ("{day} {clock}.{fraction:.1}", 2),
    ]
)
_UNCHANGED: Final = 0.12
_CREATED_UNKNOWN: Final = 0.04
_UPDATED_UNKNOWN: Final = 0.1


def moment(day: int, offsets: tuple[str, ...], draw: Draw) -> str:
    """Return a moment of a day, in any spelling, its offset one of some."""
    second = int(draw() * 86_400)
    return _FORMS.pick(draw).format(
        day=_DAYS[day],
        clock=f"{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}",
        fraction=f"{int(draw() * 1_000_000):06}",
        offset=pick(offsets, draw),
    )


def creation(offsets: tuple[str, ...], draw: Draw) -> str | UnsetType:
    """Return when a record was made, where known."""
    return _known(moment(int(draw() * _LAST_CREATED), offsets, draw), _CREATED_UNKNOWN, draw)


def history(offsets: tuple[str, ...], draw: Draw) -> tuple[str | UnsetType, str | UnsetType]:
    """Return when a record was made and when it last changed, not before that, where known."""
    day = int(draw() * _LAST_CREATED)
    created = updated = moment(day, offsets, draw)
    if draw() >= _UNCHANGED:
        updated = moment(day + _APART + int(draw() * (_LAST_CREATED - day)), offsets, draw)
    return _known(created, _CREATED_UNKNOWN, draw), _known(updated, _UPDATED_UNKNOWN, draw)


def _known(text: str, unknown: float, draw: Draw) -> str | UnsetType:
    return UNSET if draw() < unknown else text
