"""The rows that a query selects, as if in ascending order of its sort field: three ways to hold them."""

from typing import ClassVar, Final, Protocol

import msgspec
import numpy as np

from service.engine.bitmap import Bitmap
from service.engine.column import Column, Rows


class Selection(Protocol):
    """Selected rows in ascending order: by the value in a field, ties by row, those without a value last."""

    @property
    def valued(self) -> int:
        """How many of them have a value in the field."""

    @property
    def nbytes(self) -> int:
        """How many bytes it holds by itself, about."""

    def __len__(self) -> int:
        """Return how many rows there are."""

    def rows(self, start: int, stop: int) -> Rows:
        """Return those from place `start` up to `stop`."""


# The objects of a selection and of what was asked, whatever is in it.
_OVERHEAD: Final = 1024


class Whole(msgspec.Struct, frozen=True, eq=False):
    """All rows of a table: the order of the column itself."""

    column: Column
    nbytes: ClassVar[int] = _OVERHEAD

    def __len__(self) -> int:
        return len(self.column.order)

    @property
    def valued(self) -> int:
        """How many of them have a value in the field."""
        return self.column.valued

    def rows(self, start: int, stop: int) -> Rows:
        """Return those from place `start` up to `stop`."""
        return self.column.order[start:stop]


class Few(msgspec.Struct, frozen=True, eq=False):
    """A small part of the rows, sorted."""

    sorted_rows: Rows
    valued: int
    nbytes: int

    @classmethod
    def of(cls, column: Column, sorted_rows: Rows) -> "Few":
        """Take rows that are in order by a column."""
        valued = int(np.count_nonzero(column.codes[sorted_rows] < column.absent))
        return cls(sorted_rows, valued, _OVERHEAD + sorted_rows.nbytes)

    def __len__(self) -> int:
        return len(self.sorted_rows)

    def rows(self, start: int, stop: int) -> Rows:
        """Return those from place `start` up to `stop`."""
        return self.sorted_rows[start:stop]


class Many(msgspec.Struct, frozen=True, eq=False):
    """A large part of the rows, by their places in the order of a column."""

    order: Rows
    places: Bitmap
    valued: int
    nbytes: int

    @classmethod
    def of(cls, column: Column, places: Bitmap) -> "Many":
        """Take rows by their places in the order of a column."""
        return cls(column.order, places, places.before(column.valued), _OVERHEAD + places.nbytes)

    def __len__(self) -> int:
        return len(self.places)

    def rows(self, start: int, stop: int) -> Rows:
        """Return those from place `start` up to `stop`."""
        return self.order[self.places.members(start, stop)]
