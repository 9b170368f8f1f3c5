"""The upper bound: a bare aiohttp and uvloop handler that gets the same requests."""

import sys
from pathlib import Path

import aiohttp
import msgspec

from bench.peers.bare import Plan
from bench.wire.answers import Answers
from bench.wire.contender import Contender, same_targets
from bench.wire.shapes import COMPANY_PATH, STORES_PATH, Shape


def ceiling(shape: Shape, answers: Answers, folder: Path) -> Contender:
    """Return the bare handler for one shape, with bodies of the sizes that the service answers."""
    by_id = shape.requests[0].path.startswith(COMPANY_PATH)
    route = f"{COMPANY_PATH}{{company_id}}" if by_id else STORES_PATH
    file = folder / f"plan-{shape.slug}.json"
    fields = {"Content-Type": answers.media_type, "Content-Encoding": answers.coding}
    plan = Plan(route, answers.status, {name: value for name, value in fields.items() if value}, answers.sizes)
    file.write_bytes(msgspec.json.encode(plan))
    return Contender(
        name="bare aiohttp",
        version=aiohttp.__version__,
        command=lambda port: [sys.executable, "-m", "bench.peers.bare", str(port), str(file)],
        ready=shape.requests[0].target,
        targets=same_targets,
    )
