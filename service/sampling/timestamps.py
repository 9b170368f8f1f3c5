"""Timestamps: when records were created and updated, in the formats that real files have."""

from datetime import date, timedelta
from typing import Final

from msgspec import UNSET, UnsetType

from service.sampling.seeded_random import Draw, Weighted, pick

_LAST_CREATED_DAY: Final = 6940
# A timestamp two days later is later whatever the offsets of both, and even if one of them is a bare date.
_MIN_DAYS_BETWEEN: Final = 2
_DAYS: Final = tuple(
    str(date(2006, 11, 1) + timedelta(days=number)) for number in range(_LAST_CREATED_DAY + _MIN_DAYS_BETWEEN + 1)
)
_FORMATS: Final = Weighted.of(
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
# Probabilities.
_UNCHANGED: Final = 0.12
_CREATED_UNKNOWN: Final = 0.04
_UPDATED_UNKNOWN: Final = 0.1


def _timestamp(day: int, offsets: tuple[str, ...], draw: Draw) -> str:
    """Return a random time of a day, in a random format, with one of the offsets."""
    second = int(draw() * 86_400)
    return _FORMATS.pick(draw).format(
        day=_DAYS[day],
        clock=f"{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}",
        fraction=f"{int(draw() * 1_000_000):06}",
        offset=pick(offsets, draw),
    )


def draw_created_at(offsets: tuple[str, ...], draw: Draw) -> str | UnsetType:
    """Return a random creation time, UNSET if unknown."""
    return _unless_unknown(_timestamp(int(draw() * _LAST_CREATED_DAY), offsets, draw), _CREATED_UNKNOWN, draw)


def draw_timestamps(offsets: tuple[str, ...], draw: Draw) -> tuple[str | UnsetType, str | UnsetType]:
    """Return a random creation time and a random time of the last update, not before it; UNSET if unknown."""
    day = int(draw() * _LAST_CREATED_DAY)
    created = updated = _timestamp(day, offsets, draw)
    if draw() >= _UNCHANGED:
        updated = _timestamp(day + _MIN_DAYS_BETWEEN + int(draw() * (_LAST_CREATED_DAY - day)), offsets, draw)
    return _unless_unknown(created, _CREATED_UNKNOWN, draw), _unless_unknown(updated, _UPDATED_UNKNOWN, draw)


def _unless_unknown(text: str, probability: float, draw: Draw) -> str | UnsetType:
    return UNSET if draw() < probability else text
