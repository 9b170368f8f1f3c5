"""The event loop of the tests of connections."""

import asyncio
from collections.abc import Callable, Mapping

import pytest
import uvloop


def pytest_asyncio_loop_factories(item: pytest.Item) -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    """Run the tests marked `uvloop` on the event loop that the service runs on, the others on Python's.

    Before 3.12.9 and 3.13.2 asyncio's own loop does not pause a protocol after `writelines` (CVE-2024-12254).
    """
    if item.get_closest_marker("uvloop"):
        return {"uvloop": uvloop.new_event_loop}
    return {"asyncio": asyncio.new_event_loop}
