"""The benchmark over HTTP: the service, its upper bounds and its peers, shape by shape."""

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path
from statistics import fmean
from typing import Final

import msgspec

from bench.peers.byte_handlers import Responses
from bench.peers.fastapi import fastapi
from bench.peers.nginx import nginx
from bench.peers.redis import redis
from bench.peers.roapi import roapi
from bench.peers.tipg import tipg
from bench.peers.upper_bounds import floors, record, upper_bound
from bench.wire.comparison import compare, compare_with_peer
from bench.wire.contender import Contender, NotInstalled, Unsupported
from bench.wire.http_report import Loading, Report, ShapeFacts
from bench.wire.load import LoadGenerator
from bench.wire.sample import Sample
from bench.wire.servers import Failed, Server, running
from bench.wire.service_contender import service
from bench.wire.shapes import Shape
from bench.wire.variants import NO_CACHE, check_cached, with_entity_tags

# Each from the folder of the data set and a folder to work in.
_PEERS: Final[Mapping[str, Callable[[Path, Path], Contender]]] = {
    "roapi": roapi,
    "fastapi": fastapi,
    "nginx": lambda _, work: nginx(work / "responses", work),
    "tipg": tipg,
    "redis": redis,
}
PEERS: Final = tuple(_PEERS)
# Measured on places only.
PLACE_PEERS: Final = ("tipg", "redis")


def log(text: str) -> None:
    """Print progress to standard error."""
    print(f"{time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)


def peers_of(shapes: Iterable[Shape]) -> Sequence[str]:
    """Return the peers that are measured on some of the shapes."""
    return PEERS if any(shape.is_located for shape in shapes) else [name for name in PEERS if name not in PLACE_PEERS]


class Bench(msgspec.Struct, frozen=True):
    """The configuration of a benchmark: the data set, the form to serve, the servers' core, the load, the rounds."""

    sample: Sample
    data: Path
    core: int
    load: LoadGenerator
    rounds: int
    peer_rounds: int

    def run(self, shapes: Sequence[Shape], peers: Sequence[str], other_forms: Sequence[Path], report: Report) -> None:
        """Add everything to a report: the loading of other forms of the data set, the shapes, peers on plain shapes.

        Raises `Failed` if the service or an upper bound fails.
        """
        for form in other_forms:
            with self._started(service(form), report):
                pass
        with self._started(service(self.data), report) as ours:
            shapes = [with_entity_tags(ours, shape) for shape in shapes]
            for shape in shapes:
                log(shape.slug)
                (self._compare_logged if shape.is_logged else self._compare_upper_bounds)(ours, shape, report)
        with running(service(self.data, *NO_CACHE), self.core) as ours:
            for name in peers:
                log(f"prepare the data of {name}")
                try:
                    contender = _PEERS[name](self.sample.folder, self.sample.work)
                    with self._started(contender, report) as peer:
                        self._compare_peer(ours, peer, [shape for shape in shapes if shape.is_plain], report)
                except (NotInstalled, Failed) as error:
                    log(str(error))
                    report.not_measured.append(f"{error}.")

    @contextmanager
    def _started(self, contender: Contender, report: Report) -> Iterator[Server]:
        with running(contender, self.core) as server:
            log(f"{contender.name} was ready after {server.ready_seconds:.2f} s")
            report.loadings.append(
                Loading(contender.name, contender.version, server.ready_seconds, server.loaded, contender.notes)
            )
            yield server

    def _compare_upper_bounds(self, ours: Server, shape: Shape, report: Report) -> None:
        """Compare the service, or one with the options of the shape, after checking each response."""
        own = running(service(self.data, *shape.options), self.core) if shape.options else nullcontext(ours)
        with own as asked, ExitStack() as stack:
            responses = self._record(asked, shape, report)
            contenders = [upper_bound(name, shape, responses, self.sample.work) for name in ("bare", "low-level")]
            contenders += self._floors(shape, responses, report) if shape.has_floors else []
            others = [stack.enter_context(running(each, self.core)) for each in contenders]
            rounds = self.peer_rounds if shape.is_minor else self.rounds
            bare, low_level, *floor = compare(self.load, shape, asked, others, rounds)
        report.bare.append(msgspec.structs.replace(bare, other="bare", bound=shape.bound))
        report.low_level.append(low_level)
        report.floors.extend(floor)

    def _floors(self, shape: Shape, responses: Responses, report: Report) -> list[Contender]:
        try:
            return [*floors(shape, responses), nginx(self.sample.work / "responses", self.sample.work)]
        except NotInstalled as error:
            report.not_measured.append(f"{error}.")
            return []

    def _compare_logged(self, ours: Server, shape: Shape, report: Report) -> None:
        """Compare the service with one that has the options of the shape, after checking each response."""
        with running(service(self.data, *shape.options), self.core) as logged:
            self._record(logged, shape, report)
            (made,) = compare(self.load, shape, ours, (logged,), self.rounds)
        report.logged.append(msgspec.structs.replace(made, other="logged", bound=shape.bound))

    def _record(self, server: Server, shape: Shape, report: Report) -> Responses:
        responses = record(server, shape, self.sample.work / "responses" / shape.slug)
        check_cached(shape, sum(responses.sizes))
        report.shapes.append(ShapeFacts(shape.slug, shape.title, len(shape.requests), fmean(responses.sizes)))
        return responses

    def _compare_peer(self, ours: Server, peer: Server, shapes: Sequence[Shape], report: Report) -> None:
        """Compare the service and a peer on each shape that the peer supports."""
        name = peer.contender.name
        unsupported: dict[str, list[str]] = {}
        for shape in shapes:
            log(f"{name}: {shape.slug}")
            try:
                report.peers.append(compare_with_peer(self.load, shape, ours, peer, self.peer_rounds))
            except Unsupported as error:
                unsupported.setdefault(str(error), []).append(shape.title)
            except Failed as error:
                report.not_measured.append(f"{name} failed on {shape.title}: {error}.")
        reasons = ((why, titles) for why, titles in unsupported.items() if why)
        report.not_measured.extend(f"{name} does not support {'; '.join(titles)}: {why}." for why, titles in reasons)
