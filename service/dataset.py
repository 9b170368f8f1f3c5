"""A served data set: its totals, its tables, how its files are read, and why another is rejected."""

import shlex
from collections.abc import Iterator
from datetime import date, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Final

import msgspec

from service.model.attributes import NO_ATTRIBUTES, Schema
from service.texts import counted, printable

if TYPE_CHECKING:  # totals and rejections alone need not import numpy
    from service.engine.places import Places
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
    listed  the digest of the list of places; "" without one
    """

    stores: "Table"
    companies: "Table"
    places: "Places"
    generated_at: datetime | None
    version: str
    totals: Totals
    as_of: date | None = None
    schema: Schema = NO_ATTRIBUTES
    listed: str = ""

    def __str__(self) -> str:
        return f"{counted(len(self.stores), 'store')} of {counted(len(self.companies), 'company', 'companies')}"

    @property
    def summary(self) -> Summary:
        """The data set without its tables."""
        resources = (self.schema.stores, self.schema.companies)
        attributes = tuple(f"{each.name}.{field.name}" for each in resources for field in each.attributes)
        return Summary(self.version, self.generated_at, self.totals, attributes)

    def prepare(self) -> None:
        """Make the indexes by which values and words are found, so that no request has to."""
        for table in (self.stores, self.companies, self.places):
            table.prepare()

    @property
    def assumed(self) -> tuple[str, ...]:
        """Assumptions about the data as a whole, in lines: the day with which dates were compared."""
        return describe_as_of(self.as_of)


def describe_as_of(day: date | None) -> tuple[str, ...]:
    """Return with what day closing dates, and dates without a year, were compared, as a line if there are any."""
    return () if day is None else (f"dates are compared with {day}: stores with a closing date before it are closed",)


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


class InvalidRecords(StrEnum):
    """The policy for invalid records: reject the whole data set, or skip them."""

    REFUSE = "refuse"
    SKIP = "skip"


class Safeguards(msgspec.Struct, frozen=True, kw_only=True):
    """Limits that keep an empty or truncated file from replacing a good data set.

    min_stores   minimum number of stores
    max_skipped  maximum share of skipped records, of all stores and companies read: 0 to 1
    max_shrink   maximum share of the stores, and of the companies, that a reload may remove: 0 to 1
    """

    min_stores: int = 1
    max_skipped: float = 0.5
    max_shrink: float = 0.5

    def check(self, totals: Totals, served: Totals | None = None) -> None:
        """Raise `Rejected` if the data set exceeds a limit; `served` are the totals of the one served now, if any."""
        if found := list(self._breaches(totals, served)):
            breaches, options = zip(*found, strict=True)
            raise Rejected("; ".join((*breaches, f"{' '.join(options)} allows that")))

    def _breaches(self, totals: Totals, served: Totals | None) -> Iterator[tuple[str, str]]:
        """Yield each exceeded limit, and the option that allows it."""
        if totals.stores < self.min_stores:
            yield f"{totals.stores:,} stores, at least {self.min_stores:,} needed", f"--min-stores {totals.stores}"
        read = totals.stores + totals.companies + totals.skipped + totals.repeated
        if read and totals.skipped / read > self.max_skipped:
            breach = f"{totals.skipped:,} of {read:,} records skipped, {100 * totals.skipped / read:.3g} %"
            yield breach, f"--max-skipped {_share(totals.skipped, read):g}"
        before = served or Totals(0, 0, 0, 0)
        kinds = ((totals.stores, before.stores, "stores"), (totals.companies, before.companies, "companies"))
        lost = [(left, had, kind) for left, had, kind in kinds if had and (had - left) / had > self.max_shrink]
        if lost:
            breaches = (
                f"{left:,} of {had:,} {kind} left, {100 * (had - left) / had:.3g} % fewer than served now"
                for left, had, kind in lost
            )
            yield "; ".join(breaches), f"--max-shrink {max(_share(had - left, had) for left, had, _ in lost):g}"


def _share(part: int, whole: int) -> float:
    """Return the share of a part, rounded up to two decimals, so that it is a limit that allows the part."""
    return -(-100 * part // whole) / 100


class ReadOptions(msgspec.Struct, frozen=True):
    """The options for data files; "" where the files decide.

    mapping   the path of a mapping file, or the name of a preset
    encoding  the name of the encoding of CSV files
    places    the path of a list of places
    """

    mapping: str = ""
    encoding: str = ""
    places: str = ""

    def __str__(self) -> str:
        """Return the options to append to a command: ` --encoding windows-1252`."""
        declared = (("--mapping", self.mapping), ("--encoding", self.encoding), ("--places", self.places))
        return "".join(f" {option} {shlex.quote(value)}" for option, value in declared if value)


AS_FOUND: Final = ReadOptions()
