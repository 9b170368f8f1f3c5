"""A benchmark over HTTP: the service, its upper bounds and its peers, shape by shape."""

import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path
from typing import Final

import msgspec

from bench.peers.ceiling import bare, low_level
from bench.peers.datasette import datasette
from bench.peers.fastapi import fastapi
from bench.peers.nginx import nginx
from bench.peers.redis import redis
from bench.peers.roapi import roapi, roapi_by_offset
from bench.peers.tipg import tipg
from bench.wire.agreement import check_same
from bench.wire.answers import Answers, collect
from bench.wire.contender import Cannot, Contender, NotInstalled
from bench.wire.load import Driver
from bench.wire.measure import Contest, contest, contests
from bench.wire.report import Loading
from bench.wire.sample import Sample
from bench.wire.servers import Failed, Server, running
from bench.wire.service import service
from bench.wire.shapes import Shape
from bench.wire.variants import check_kept, tagged

# Those that are measured on places alone.
PLACE_PEERS: Final = ("tipg", "redis")
PEERS: Final = ("roapi", "roapi-offset", "fastapi", "nginx", "datasette", *PLACE_PEERS)


def log(text: str) -> None:
    """Print progress to standard error."""
    print(f"{time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)


class Found(msgspec.Struct, frozen=True):
    """The results: responses, start-up of each server, contests, and what could not be measured."""

    answers: dict[str, Answers]
    loadings: list[Loading]
    ceilings: list[Contest]
    low_level: list[Contest]
    logged: list[Contest]
    peers: list[Contest]
    lacks: list[str]


class Bench(msgspec.Struct, frozen=True):
    """What to measure and how: the data set, the form to serve, the servers' core, the load, the pairs.

    `others` are further forms of the data set; only their loading is measured.
    """

    sample: Sample
    data: Path
    others: Sequence[Path]
    core: int
    driver: Driver
    pairs: int
    peer_pairs: int

    def run(self, shapes: Sequence[Shape], peers: Sequence[str]) -> Found:
        """Measure everything, peers on plain shapes. Raises `Failed` if the service or an upper bound fails."""
        found = Found({}, [], [], [], [], [], [])
        for other in self.others:
            with self._started(service(other), found):
                pass
        with self._started(service(self.data), found) as ours:
            asked = [tagged(ours, shape) for shape in shapes]
            for shape in asked:
                (self._beside_logged if shape.most else self._beside_ceilings)(ours, shape, found)
            for name in peers:
                try:
                    with self._started(self._peer(name, found.answers), found) as theirs:
                        self._against(ours, theirs, [shape for shape in asked if shape.plain], found)
                except (NotInstalled, Failed) as lack:
                    log(str(lack))
                    found.lacks.append(f"{lack}.")
            spared = [shape.title for shape in asked if not shape.plain]
            if peers and spared:
                found.lacks.append(f"No peer is asked: {'; '.join(spared)}.")
        return found

    @contextmanager
    def _started(self, contender: Contender, found: Found) -> Iterator[Server]:
        log(f"start {contender.name}")
        with running(contender, self.core) as server:
            log(f"{contender.name} was ready after {server.ready_seconds:.2f} s")
            found.loadings.append(
                Loading(contender.name, contender.version, server.ready_seconds, server.loaded, contender.notes)
            )
            yield server

    def _beside_ceilings(self, ours: Server, shape: Shape, found: Found) -> None:
        """Measure the service, or one with the options of the shape, after checking each response."""
        own = running(service(self.data, *shape.options), self.core) if shape.options else nullcontext(ours)
        with own as asked:
            answers = found.answers[shape.slug] = self._collected(asked, shape)
            ceilings = [make(shape, answers, self.sample.work) for make in (bare, low_level)]
            log(f"{', '.join(each.name for each in ceilings)}: {shape.slug}")
            with ExitStack() as stack:
                others = [stack.enter_context(running(each, self.core)) for each in ceilings]
                rounds = self.peer_pairs if shape.minor else self.pairs
                made = contests(self.driver, shape, ours=asked, others=others, rounds=rounds)
        found.ceilings.append(made[0])
        found.low_level.append(made[1])

    def _beside_logged(self, ours: Server, shape: Shape, found: Found) -> None:
        """Measure the service and one with the options of the shape, after checking each response."""
        logged = service(self.data, *shape.options)
        log(f"{logged.name}: {shape.slug}")
        with running(logged, self.core) as theirs:
            found.answers[shape.slug] = self._collected(theirs, shape)
            found.logged.append(contest(self.driver, shape, ours=ours, theirs=theirs, pairs=self.pairs))

    def _collected(self, server: Server, shape: Shape) -> Answers:
        """Send the requests of a shape once each; check and return the responses."""
        answers = collect(server, shape, self._answers / shape.slug)
        check_kept(shape, answers)
        return answers

    def _peer(self, name: str, answers: Mapping[str, Answers]) -> Contender:
        """Prepare the data of a peer and return the peer. Raises `NotInstalled`, `Failed`."""
        data, work = self.sample.folder, self.sample.work
        log(f"prepare the data of {name}")
        return {
            "roapi": lambda: roapi(data, work),
            "roapi-offset": lambda: roapi_by_offset(data, work),
            "fastapi": lambda: fastapi(data, work),
            "nginx": lambda: nginx(answers, root=self._answers, work=work),
            "datasette": lambda: datasette(data, work),
            "tipg": lambda: tipg(data, work),
            "redis": lambda: redis(data, work),
        }[name]()

    def _against(self, ours: Server, theirs: Server, shapes: Sequence[Shape], found: Found) -> None:
        """Measure the service and a peer on each shape that the peer supports."""
        only, name = theirs.contender.only, theirs.contender.name
        unable: dict[str, list[str]] = {}
        for shape in shapes if not only else [shape for shape in shapes if shape.slug in only]:
            log(f"{name}: {shape.slug}")
            try:
                check_same(shape, ours=ours, theirs=theirs)
                found.peers.append(contest(self.driver, shape, ours=ours, theirs=theirs, pairs=self.peer_pairs))
            except Cannot as cannot:
                unable.setdefault(str(cannot), []).append(shape.title)
            except Failed as failed:
                found.lacks.append(f"{name} failed on {shape.title}: {failed}.")
        found.lacks.extend(f"{name} cannot do {'; '.join(titles)}: {why}." for why, titles in unable.items())

    @property
    def _answers(self) -> Path:
        return self.sample.work / "answers"
