"""The texts of the cells of a sheet, as CSV would have them."""

from collections.abc import Callable, Iterable, Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Final, TypeAlias

Value: TypeAlias = int | float | str | bool | time | date | datetime | timedelta

_EXACT: Final = 2**53  # the first integer whose successor is no double
_HOUR: Final = timedelta(hours=1)


def row_texts(cells: Iterable[Value]) -> list[str]:
    """Return the texts of the cells of a row."""
    return [cell if cell.__class__ is str else _TEXTS[cell.__class__](cell) for cell in cells]


def _number(number: float) -> str:
    """Return the shortest decimal that is a number, without an exponent."""
    if number.is_integer():
        return str(int(number)) if abs(number) < _EXACT else f"{Decimal(repr(number)):f}".removesuffix(".0")
    text = repr(number)
    return text if "e" not in text else f"{Decimal(text):f}"


def _duration(duration: timedelta) -> str:
    """Return a duration as a spreadsheet shows it: hours, which may be more than 24, minutes and seconds."""
    hours, rest = divmod(duration, _HOUR)
    return f"{hours:02}{str(rest)[1:]}"


def _instant(instant: datetime) -> str:
    """Return a date with a time; at midnight a date, as a whole number of days may be either."""
    return instant.date().isoformat() if instant.time() == time() else instant.isoformat()


_TEXTS: Final[Mapping[type, Callable[..., str]]] = {
    float: _number,
    int: str,
    bool: lambda flag: "true" if flag else "false",
    date: date.isoformat,
    datetime: _instant,
    time: time.isoformat,
    timedelta: _duration,
}
