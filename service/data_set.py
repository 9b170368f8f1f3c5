"""A data set that is served: its tables, totals and summary; and why another one is not."""

from datetime import date, datetime
from typing import TYPE_CHECKING

import msgspec

from service.model.attributes import NO_ATTRIBUTES, Schema
from service.texts import counted, printable

if TYPE_CHECKING:  # totals and rejections alone need not import numpy
    from service.engine.table import Table


class Totals(msgspec.Struct, frozen=True):
    """The number of served stores and companies, and of skipped and repeated records of both kinds."""

    stores: int
    companies: int
    skipped: int
    repeated: int


class Summary(msgspec.Struct, frozen=True):
    """A data set without its tables; `attributes` are the names of those of stores and of companies."""

    version: str
    generated_at: datetime | None
    totals: Totals
    attributes: tuple[str, ...] = ()


class Dataset(msgspec.Struct, frozen=True, eq=False, weakref=True):
    """The tables of stores and companies, the time of the data if the manifest has it, the version and the totals.

    as_of   the day that closing dates were compared with; None if there are none
    schema  the fields of its records, with the attributes that its mapping declares
    """

    stores: "Table"
    companies: "Table"
    generated_at: datetime | None
    version: str
    totals: Totals
    as_of: date | None = None
    schema: Schema = NO_ATTRIBUTES

    def __str__(self) -> str:
        return f"{counted(len(self.stores), 'store')} of {counted(len(self.companies), 'company', 'companies')}"

    @property
    def summary(self) -> Summary:
        """The data set without its tables."""
        resources = (self.schema.stores, self.schema.companies)
        attributes = tuple(f"{each.name}.{field.name}" for each in resources for field in each.attributes)
        return Summary(self.version, self.generated_at, self.totals, attributes)

    @property
    def assumed(self) -> tuple[str, ...]:
        """Assumptions about the data as a whole, in lines: the day with which closing dates were compared."""
        return describe_as_of(self.as_of)


def describe_as_of(day: date | None) -> tuple[str, ...]:
    """Return with what day closing dates were compared, as a line if there are any."""
    return () if day is None else (f"stores with a closing date before {day} are closed",)


class Rejection(msgspec.Struct, frozen=True, tag=True):
    """Why a data set is not served.

    why          the reason, safe to print
    hint         the command or option that helps; "" if the reason names it
    fingerprint  of the content of the source; "" if unknown
    """

    why: str
    hint: str = ""
    fingerprint: str = ""


class Rejected(Exception):
    """The data set is not served. There is no point in loading it again until its source changes."""

    def __init__(self, why: str, *, hint: str = "", fingerprint: str = "") -> None:
        self.rejection = Rejection(printable(why), hint, fingerprint)
        super().__init__(self.rejection.why)

    @classmethod
    def by(cls, rejection: Rejection, *, fingerprint: str | None = None) -> "Rejected":
        """Return the exception of a rejection; of a source with this fingerprint, if one is given."""
        known = rejection.fingerprint if fingerprint is None else fingerprint
        return cls(rejection.why, hint=rejection.hint, fingerprint=known)
