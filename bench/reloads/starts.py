"""The time of a start."""

from collections.abc import Iterable, Iterator

import msgspec

from bench.markdown import table
from bench.reloads.editions import FORMS, Form
from bench.reloads.setting import Setting, median_and_highest
from bench.wire.contender import Contender
from bench.wire.measure import Spread
from bench.wire.sample import make_baked
from bench.wire.servers import running
from bench.wire.service import service


class Start(msgspec.Struct, frozen=True):
    """Seconds from the start of the process until /ready is 200."""

    stores: int
    form: Form
    ready: Spread


def starts(setting: Setting, stores: int) -> Iterator[Start]:
    """Start the service repeatedly."""
    sample = setting.sample(stores)
    baked = make_baked(sample)
    for form, data in zip(FORMS, (sample.folder, baked), strict=True):
        yield Start(stores, form, Spread.of(_ready(setting, service(data)) for _ in range(setting.repeats)))


def _ready(setting: Setting, contender: Contender) -> float:
    with running(contender, *setting.both_cores) as server:
        return server.ready_seconds


def markdown(found: Iterable[Start]) -> str:
    """Return the times as a table."""
    head = ("stores", "from", "start to ready, s")
    return table(head, ((f"{start.stores:,}", start.form, median_and_highest(start.ready)) for start in found))
