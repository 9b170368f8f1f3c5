"""The program of the first upper bound: an aiohttp handler that sends a copy of a random part of a large buffer.

`python -m bench.peers.bare PORT PLAN`.
"""

import uvloop
from aiohttp import web

from bench.peers.plan import Plan, random_bytes, read_arguments


def application(plan: Plan) -> web.Application:
    """Return an application of one route."""
    buffer, places = random_bytes(), plan.places()
    status, fields = plan.status, plan.fields

    async def answer(_: web.Request) -> web.Response:
        return web.Response(body=buffer[next(places)], status=status, headers=fields)

    app = web.Application()
    app.router.add_get(plan.route, answer)
    return app


def main() -> None:
    """Serve until stopped."""
    port, plan = read_arguments()
    loop = uvloop.new_event_loop()
    web.run_app(application(plan), host="127.0.0.1", port=port, access_log=None, print=None, loop=loop)


if __name__ == "__main__":
    main()
