"""What is attacked: the service over a small data set."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import msgspec

from bench.wire.sample import Sample, make_baked
from bench.wire.servers import Server, running
from bench.wire.service import service

_SAMPLE: Final = Sample.of(10_000, seed=1)


@contextmanager
def served(core: int, *options: str, name: str = "store-directory") -> Iterator[Server]:
    """Give the service with some options, on a core; its log has a name."""
    contender = msgspec.structs.replace(service(make_baked(_SAMPLE), *options), name=f"hostile, {name}")
    with running(contender, core) as server:
        yield server
