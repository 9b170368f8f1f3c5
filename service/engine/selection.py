"""The rows that a query selects, as if in ascending order of its sort field: three ways to hold them."""

from typing import Final, Protocol

import msgspec
import numpy as np

from service.engine.bitmap import Bitmap
from service.engine.column import Column, Rows


class Selection(Protocol):
    """Selected rows in ascending order: by the value in a field, ties by row, those without a value last."""

    def __len__(self) -> int:
        """Return how many rows there are."""

    def valued(self) -> int:
        """Return how many of them have a value in the field."""

    def rows(self, start: int, stop: int) -> Rows:
        """Return those from place `start` up to `stop`."""

    @property
    def nbytes(self) -> int:
        """The bytes that it holds by itself, about."""


# The objects of a selection and of what was asked, whatever is in it.
_OVERHEAD: Final = 1024


class Whole(msgspec.Struct, frozen=True, eq=False):
    """All rows of a table: the order of the column itself."""

    column: Column

    def __len__(self) -> int:
        return len(self.column.order)

    def valued(self) -> int:
        """Return how many of them have a value in the field."""
        return self.column.valued

    def rows(self, start: int, stop: int) -> Rows:
        """Return those from place `start` up to `stop`."""
        return self.column.order[start:stop]

    @property
    def nbytes(self) -> int:
        """The bytes that it holds by itself, about."""
        return _OVERHEAD


class Few(msgspec.Struct, frozen=True, eq=False):
    """A small part of the rows, sorted."""

    column: Column
    sorted_rows: Rows

    @classmethod
    def of(cls, column: Column, rows: Rows) -> "Few":
        """Sort rows, which are given ascending."""
        return cls(column, rows[np.argsort(column.codes[rows], kind="stable")])

    def __len__(self) -> int:
        return len(self.sorted_rows)

    def valued(self) -> int:
        """Return how many of them have a value in the field."""
        return int(np.count_nonzero(self.column.codes[self.sorted_rows] < self.column.absent))

    def rows(self, start: int, stop: int) -> Rows:
        """Return those from place `start` up to `stop`."""
        return self.sorted_rows[start:stop]

    @property
    def nbytes(self) -> int:
        """The bytes that it holds by itself, about."""
        return _OVERHEAD + self.sorted_rows.nbytes


class Many(msgspec.Struct, frozen=True, eq=False):
    """A large part of the rows, by their places in the order of the column."""

    column: Column
    places: Bitmap

    def __len__(self) -> int:
        return len(self.places)

    def valued(self) -> int:
        """Return how many of them have a value in the field."""
        return self.places.before(self.column.valued)

    def rows(self, start: int, stop: int) -> Rows:
        """Return those from place `start` up to `stop`."""
        return self.column.order[self.places.members(start, stop)]

    @property
    def nbytes(self) -> int:
        """The bytes that it holds by itself, about."""
        return _OVERHEAD + self.places.nbytes
