"""The upper bounds: handlers on aiohttp and uvloop that get the same requests and do nothing but send bytes."""

import sys
from pathlib import Path

import aiohttp
import msgspec

from bench.peers.plan import Plan
from bench.wire.answers import Answers
from bench.wire.contender import Contender, same_targets
from bench.wire.shapes import COMPANY_PATH, Shape


def bare(shape: Shape, answers: Answers, folder: Path) -> Contender:
    """Return an application of one route for one shape, with bodies of the sizes that the service answers."""
    return _contender("bare", shape, answers, folder)


def low_level(shape: Shape, answers: Answers, folder: Path) -> Contender:
    """Return the same on aiohttp's low-level server, without its router and its responses."""
    return _contender("low_level", shape, answers, folder)


def _contender(program: str, shape: Shape, answers: Answers, folder: Path) -> Contender:
    path = shape.requests[0].path
    route = f"{COMPANY_PATH}{{company_id}}" if path.startswith(COMPANY_PATH) else path
    file = folder / f"plan-{shape.slug}.json"
    fields = {"Content-Type": answers.media_type, "Content-Encoding": answers.coding}
    plan = Plan(route, answers.status, {name: value for name, value in fields.items() if value}, answers.sizes)
    file.write_bytes(msgspec.json.encode(plan))
    return Contender(
        name=f"{program.replace('_', '-')} aiohttp",
        version=aiohttp.__version__,
        command=lambda port: [sys.executable, "-m", f"bench.peers.{program}", str(port), str(file)],
        ready=shape.requests[0].target,
        targets=same_targets,
    )
