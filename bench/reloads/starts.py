"""The time of a start."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

import msgspec

from bench.markdown import table
from bench.reloads.setup import Setup, median_and_maximum
from bench.wire.comparison import Spread
from bench.wire.contender import Contender
from bench.wire.sample import make_baked
from bench.wire.servers import running
from bench.wire.service_contender import service

_BAKED: Final = ("baked", ()), ("baked, in place", ("--no-copy",))


class Start(msgspec.Struct, frozen=True):
    """Seconds from the start of the process until /ready is 200."""

    stores: int
    form: str
    ready: Spread


def starts(setup: Setup, stores: int) -> Iterator[Start]:
    """Start the service repeatedly: on files, on a baked file that it verified before, and on one that it did not."""
    sample = setup.sample(stores)
    baked = make_baked(sample)
    yield Start(stores, "files", Spread.of(_ready(setup, service(sample.folder)) for _ in range(setup.repeats)))
    for form, options in _BAKED:
        contender = service(baked, *options)
        new = Spread.of(_ready(setup, contender, new=baked) for _ in range(setup.repeats))
        yield Start(stores, f"{form}, not known", new)
        yield Start(stores, form, Spread.of(_ready(setup, contender) for _ in range(setup.repeats)))


def _ready(setup: Setup, contender: Contender, *, new: Path | None = None) -> float:
    if new is not None:
        new.touch()  # another signature
    with running(contender, *setup.both_cores) as server:
        return server.ready_seconds


def markdown(found: Iterable[Start]) -> str:
    """Return the times as a table."""
    head = ("stores", "from", "start to ready, s")
    rows = ((f"{each.stores:,}", each.form, median_and_maximum(msgspec.structs.astuple(each.ready))) for each in found)
    return table(head, rows)
