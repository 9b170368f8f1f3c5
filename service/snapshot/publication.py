"""What the processes of a run serve, as the one that looks after the source tells it."""

from datetime import datetime, timedelta
from typing import Annotated, Final

import msgspec

from service.loading.dataset import Summary, Totals

# Two data sets of a run that are dated closer together than this, or against their order, have one Last-Modified.
_RESOLUTION: Final = timedelta(seconds=1)

Moment = Annotated[datetime, msgspec.Meta(tz=True)]


class Reload(msgspec.Struct, frozen=True):
    """An attempt to load the data: when, whether it succeeded, and what stood in the way."""

    at: Moment
    ok: bool
    error: str | None = None


class Publication(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be served, and how the last attempt to renew it ended.

    generation    counts the data sets of a run from 1; 0 is none
    file          the name of its file
    summary       of the data
    modified      the time of the data, unless Last-Modified would mislead: see `last_modified`
    latest        the latest time of any data of the run, but for times in the future
    unconfirmed   whether it is the last good copy of a run before, which the source has not confirmed in this run
    fingerprint   of the source when it held what is served
    seen          of the source when it was last looked at: another one where it holds what is refused
    loaded_at     when what is served was loaded
    confirmed_at  when it was last known that the source holds what is served
    """

    generation: int = 0
    file: str = ""
    summary: Summary | None = None
    modified: Moment | None = None
    latest: Moment | None = None
    unconfirmed: bool = False
    fingerprint: str = ""
    seen: str = ""
    loaded_at: Moment | None = None
    confirmed_at: Moment | None = None
    last_reload: Reload | None = None

    @property
    def compared(self) -> Totals | None:
        """What a reload is compared with: what is served, once the source has held it in this run."""
        return None if self.unconfirmed or self.summary is None else self.summary.totals


def last_modified(last: Publication, new: Summary, now: datetime) -> datetime | None:
    """Return the time that Last-Modified may give for new data, or None where a client could be misled by it.

    HTTP dates have whole seconds and no order of their own: a client that compares dates would keep earlier data of the
    run if that had the same second, or a later one (RFC 9110 section 8.8.2.2). Nor is a time in the future given.
    """
    generated_at = new.generated_at
    if generated_at is None or generated_at > now:
        return None
    before = last.summary
    if before is not None and (before.version, before.generated_at) == (new.version, generated_at):
        return last.modified
    return generated_at if last.latest is None or generated_at - last.latest >= _RESOLUTION else None
