"""The publication: what the leader of a run publishes to all processes."""

from datetime import datetime, timedelta
from typing import Annotated, Final

import msgspec

from service.data_set import Summary, Totals
from service.files.status import Signature

# HTTP dates have whole seconds: of two data sets closer together than this only one has a Last-Modified.
_RESOLUTION: Final = timedelta(seconds=1)

Moment = Annotated[datetime, msgspec.Meta(tz=True)]


class Reload(msgspec.Struct, frozen=True):
    """An attempt to load the data: when, whether it succeeded, else the error."""

    at: Moment
    ok: bool
    error: str | None = None


class Publication(msgspec.Struct, frozen=True, kw_only=True):
    """The data to serve, and the outcome of the last attempt to renew it.

    generation    number of the data set in the run, from 1; 0 is none
    file          name of its baked file, or the path of one in place
    signature     of a baked file in place: another file that has its path by now was not verified
    summary       of the data
    modified      time of the data, if it may be given as Last-Modified: see `last_modified`
    latest        latest time of any data of the run, except times in the future
    unconfirmed   whether it is the last good copy of an earlier run, and the source has not confirmed it in this run
    fingerprint   of the source when it held this data
    known         fingerprint of the source at the last attempt; differs while the source holds refused data
    loaded_at     when the data was loaded
    confirmed_at  when the source last held this data
    """

    generation: int = 0
    file: str = ""
    signature: Signature | None = None
    summary: Summary | None = None
    modified: Moment | None = None
    latest: Moment | None = None
    unconfirmed: bool = False
    fingerprint: str = ""
    known: str = ""
    loaded_at: Moment | None = None
    confirmed_at: Moment | None = None
    last_reload: Reload | None = None

    @property
    def baseline(self) -> Totals | None:
        """The totals that a reload is compared with: those of the served data, if the source held it in this run."""
        return None if self.unconfirmed or self.summary is None else self.summary.totals


def last_modified(last: Publication, new: Summary, now: datetime) -> datetime | None:
    """Return the Last-Modified of new data, or None if it could mislead a client.

    HTTP dates have whole seconds. If earlier data of the run had the same second or a later one, a client that compares
    dates would keep it (RFC 9110, section 8.8.2.2). Times in the future are not given either.
    """
    generated_at = new.generated_at
    if generated_at is None or generated_at > now:
        return None
    before = last.summary
    if before is not None and (before.version, before.generated_at) == (new.version, generated_at):
        return last.modified
    return generated_at if last.latest is None or generated_at - last.latest >= _RESOLUTION else None
