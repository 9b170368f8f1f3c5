"""The upper bounds: aiohttp handlers that get the same requests and send bytes of the same sizes."""

import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from statistics import fmean
from typing import Final

import aiohttp
import msgspec

from bench.peers.byte_handlers import Responses
from bench.wire.contender import ROOT, Contender, peer_program, peer_version
from bench.wire.load import Workload
from bench.wire.servers import Server
from bench.wire.shapes import COMPANY_PATH, Shape

# The limits per shape: more than the processor's cache, and as many as show the sizes.
_MAX_BYTES: Final = 64 << 20
_MAX_RESPONSES: Final = 4000
_FLOORS: Final = ("httptools", "bytes")


def record(server: Server, shape: Shape, folder: Path) -> Responses:
    """Send the first requests of a shape to the service once each, and write the bodies to `folder`, emptied before.

    Raises `Failed` if a response has another status or content coding than the shape.
    """
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    workload, sizes, media_type = Workload.of(shape, server), list[int](), ""
    for number, target in enumerate(workload.targets):
        response = workload.fetch(target)
        media_type = response.media_type
        sizes.append(len(response.body))
        (folder / f"{number:05}").write_bytes(response.body)
        if sum(sizes) > _MAX_BYTES or len(sizes) == _MAX_RESPONSES:
            break
    fields = {"Content-Type": media_type, "Content-Encoding": shape.coding}
    path = shape.requests[0].path
    route = f"{COMPANY_PATH}{{company_id}}" if path.startswith(COMPANY_PATH) else path
    return Responses(route, shape.status, {name: value for name, value in fields.items() if value}, sizes)


def upper_bound(name: str, shape: Shape, responses: Responses, folder: Path) -> Contender:
    """Return the "bare" or the "low-level" handler, with bodies of the sizes of the service's own responses."""
    file = folder / f"responses-{shape.slug}.json"
    file.write_bytes(msgspec.json.encode(responses))
    return Contender(
        name=f"{name} aiohttp",
        version=aiohttp.__version__,
        command=lambda port: [sys.executable, "-m", "bench.peers.byte_handlers", name, str(port), str(file)],
        ready=shape.requests[0].target,
    )


def floors(shape: Shape, responses: Responses) -> list[Contender]:
    """Return uvloop that sends bodies of the mean size: after httptools parsed a request, and without parsing.

    Raises `NotInstalled`.
    """
    program, script = peer_program("python"), str(ROOT / "bench" / "peers" / "floors.py")
    size, version = (
        str(round(fmean(responses.sizes))),
        f"{peer_version('uvloop')}, httptools {peer_version('httptools')}",
    )

    def command(name: str) -> Callable[[int], list[str]]:
        return lambda port: [program, script, name, str(port), size]

    return [Contender(name, version, command(name), shape.requests[0].target) for name in _FLOORS]
