"""The time of a start."""

from collections.abc import Iterable, Iterator

import msgspec

from bench.markdown import table
from bench.reloads.published_data import FORMS, Form
from bench.reloads.setup import Setup, median_and_maximum
from bench.wire.comparison import Spread
from bench.wire.contender import Contender
from bench.wire.sample import make_baked
from bench.wire.servers import running
from bench.wire.service_contender import service


class Start(msgspec.Struct, frozen=True):
    """Seconds from the start of the process until /ready is 200."""

    stores: int
    form: Form
    ready: Spread


def starts(setup: Setup, stores: int) -> Iterator[Start]:
    """Start the service repeatedly."""
    sample = setup.sample(stores)
    baked = make_baked(sample)
    for form, data in zip(FORMS, (sample.folder, baked), strict=True):
        yield Start(stores, form, Spread.of(_ready(setup, service(data)) for _ in range(setup.repeats)))


def _ready(setup: Setup, contender: Contender) -> float:
    with running(contender, *setup.both_cores) as server:
        return server.ready_seconds


def markdown(found: Iterable[Start]) -> str:
    """Return the times as a table."""
    head = ("stores", "from", "start to ready, s")
    rows = ((f"{each.stores:,}", each.form, median_and_maximum(msgspec.structs.astuple(each.ready))) for each in found)
    return table(head, rows)
