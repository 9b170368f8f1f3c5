"""The program of the upper bound: an aiohttp handler that sends a copy of bytes from a random place of a large buffer.

`python -m bench.peers.bare PORT PLAN`; PLAN is a JSON file, a `Plan`.
"""

import os
import sys
from itertools import cycle
from pathlib import Path
from random import Random
from typing import Final

import msgspec
import uvloop
from aiohttp import web

_BUFFER_BYTES: Final = 50_000_000
_PLACES: Final = 100_000


class Plan(msgspec.Struct, frozen=True):
    """The responses: their route, status, header fields, and sizes of bodies."""

    route: str
    status: int
    fields: dict[str, str]
    sizes: list[int]


def application(plan: Plan) -> web.Application:
    """Return an application of one route."""
    buffer = os.urandom(_BUFFER_BYTES)
    random = Random(1)
    # Drawn in advance, so that a request costs only the copy.
    starts = [(random.randrange(_BUFFER_BYTES - size), size) for size in random.choices(plan.sizes, k=_PLACES)]
    places = cycle([slice(start, start + size) for start, size in starts])
    status, fields = plan.status, plan.fields

    async def answer(_: web.Request) -> web.Response:
        return web.Response(body=buffer[next(places)], status=status, headers=fields)

    app = web.Application()
    app.router.add_get(plan.route, answer)
    return app


def main() -> None:
    """Serve until stopped."""
    port, plan = sys.argv[1:]
    app = application(msgspec.json.decode(Path(plan).read_bytes(), type=Plan))
    web.run_app(app, host="127.0.0.1", port=int(port), access_log=None, print=None, loop=uvloop.new_event_loop())


if __name__ == "__main__":
    main()
