"""What the processes of a run serve, as the one that looks after the source tells it."""

from datetime import datetime
from typing import Annotated

import msgspec

from service.loading.dataset import Totals

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
    totals        how many records it has
    unconfirmed   whether it is the last good copy of a run before, which the source has not confirmed in this run
    fingerprint   of the source when it held what is served
    seen          of the source when it was last looked at: another one where it holds what is refused
    loaded_at     when what is served was loaded
    confirmed_at  when it was last known that the source holds what is served
    """

    generation: int = 0
    file: str = ""
    totals: Totals | None = None
    unconfirmed: bool = False
    fingerprint: str = ""
    seen: str = ""
    loaded_at: Moment | None = None
    confirmed_at: Moment | None = None
    last_reload: Reload | None = None

    @property
    def compared(self) -> Totals | None:
        """What a reload is compared with: what is served, once the source has held it in this run."""
        return None if self.unconfirmed else self.totals
