"""Measure the service over HTTP, with the floors and its peers: `python -m bench.wire --stores 100000`."""

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path
from statistics import fmean
from typing import Final

import click
import msgspec

from bench.load import Comparison, LoadGenerator, Workload, compare
from bench.peers.contenders import PEERS, floor, found_by, nginx, record
from bench.report import finish, keep, save, surroundings
from bench.samples import Sample, make, make_baked
from bench.servers import Contender, Failed, Server, Unsupported, running, service, split_cores
from bench.shapes import Bound, Shape
from bench.wire.http_report import PLAN_PAGE, Loading, Report, ShapeFacts, markdown, plan
from bench.wire.variants import NO_CACHE, choose_shapes, with_entity_tags

_NO_PEER: Final = "none"
COMPARED_RESPONSES: Final = 100
_ROUNDS: Final = 2
# Requests per second of the service over those of a peer, for places and words.
_SEARCHES: Final = Bound("rate_ratio", 10)


@click.command()
@click.option("--stores", default=100_000, show_default=True)
@click.option("--seconds", default=2, show_default=True, help="Length of a run.")
@click.option("--pairs", default=3, show_default=True, help="Rounds of runs per shape with a bound; of others 2.")
@click.option("--connections", default=16, show_default=True, help="Connections of wrk.")
@click.option("--peer", "peers", multiple=True, type=click.Choice([*PEERS, _NO_PEER]), help="Only this; repeatable.")
@click.option("--shape", "slugs", multiple=True, help="Only this; repeatable.")
def main(  # noqa: PLR0913 - one for each option
    *, stores: int, seconds: int, pairs: int, connections: int, peers: tuple[str, ...], slugs: tuple[str, ...]
) -> None:
    """Print the tables; exit with 1 if a bound is missed. A run with all shapes and peers updates README.md.

    With fewer than 1,000,000 stores, places, words and facets are left out unless a shape is named.
    """
    core, load_core = split_cores()
    sample = Sample.of(stores)
    _log(f"generate {sample.stores:,} stores of {sample.companies:,} companies in {sample.folder}, or reuse them")
    make(sample)
    try:
        shapes = choose_shapes(sample.folder, slugs, stores=stores, seed=sample.seed)
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    report = Report(stores, sample.companies, sample.seed, seconds, connections, surroundings())
    bench = Bench(sample, make_baked(sample), core, LoadGenerator(load_core, connections, seconds), pairs, report)
    bench.run(shapes, [name for name in peers or PEERS if name != _NO_PEER])
    is_full = not peers and not slugs
    if is_full:
        keep(str(stores), report)
    if is_full and report.is_large:
        save("plan", plan(report), page=PLAN_PAGE)
    finish(str(stores), markdown(report), is_full=is_full, missed=report.missed)


class Bench(msgspec.Struct, frozen=True):
    """The configuration of a benchmark: the data set, the form to serve, the servers' core, the load, the rounds."""

    sample: Sample
    data: Path
    core: int
    load: LoadGenerator
    rounds: int
    report: Report

    def run(self, shapes: Sequence[Shape], peers: Sequence[str]) -> None:
        """Measure shapes, and peers on plain shapes. Raises `Failed` if the service or a floor fails."""
        with self._started(service(self.data)) as ours:
            shapes = [with_entity_tags(ours, shape) for shape in shapes]
            for shape in shapes:
                _log(shape.slug)
                self._compare_floors(ours, shape)
        with running(service(self.data, *NO_CACHE), self.core) as ours:
            for name in peers:
                _log(f"prepare the data of {name}")
                try:
                    with self._started(PEERS[name](self.sample.folder, self.sample.work)) as peer:
                        self._compare_peer(ours, peer, [shape for shape in shapes if shape.is_plain])
                except Failed as error:
                    self._not_measured(f"{error}.")

    @contextmanager
    def _started(self, contender: Contender) -> Iterator[Server]:
        with running(contender, self.core) as server:
            _log(f"{contender.name} was ready after {server.ready_seconds:.2f} s")
            self.report.loadings.append(
                Loading(contender.name, contender.version, server.ready_seconds, server.loaded, contender.notes)
            )
            yield server

    def _compare_floors(self, ours: Server, shape: Shape) -> None:
        """Compare the service, or one with the options of the shape, with what sends its bytes."""
        own = running(service(self.data, *shape.options), self.core) if shape.options else nullcontext(ours)
        with own as asked, ExitStack() as stack:
            sizes = record(asked, shape, self.sample.work)
            self.report.shapes.append(ShapeFacts(shape.slug, shape.title, len(shape.requests), fmean(sizes)))
            names = ["bare", *(["bytes"] if shape.has_floors else [])]
            contenders = [*(floor(each, shape, self.sample.work) for each in names), *self._nginx(shape)]
            others = [stack.enter_context(running(each, self.core)) for each in contenders]
            bare, *floors = compare(self.load, shape, asked, others, self.rounds if shape.bound else _ROUNDS)
        self.report.bare.append(msgspec.structs.replace(bare, bound=shape.bound))
        self.report.floors.extend(floors)

    def _nginx(self, shape: Shape) -> list[Contender]:
        try:
            return [nginx(self.sample.folder, self.sample.work)] if shape.has_floors else []
        except Failed as error:
            self._not_measured(f"{error}.")
            return []

    def _compare_peer(self, ours: Server, peer: Server, shapes: Sequence[Shape]) -> None:
        """Compare the service and a peer on each shape that the peer supports, if it finds the same stores."""
        name, unsupported = peer.contender.name, dict[str, None]()
        for shape in shapes:
            _log(f"{name}: {shape.slug}")
            try:
                self.report.peers.append(self._comparison(ours, peer, shape))
            except Unsupported as error:
                unsupported[str(error)] = None
            except Failed as error:
                self._not_measured(f"{name} failed on {shape.title}: {error}.")
        if unsupported:
            self._not_measured(f"{name}, where it has no figures: {'; '.join(unsupported)}.")

    def _comparison(self, ours: Server, peer: Server, shape: Shape) -> Comparison:
        if shape.is_located:
            check_same_stores(Workload.of(shape, ours), Workload.of(shape, peer))
        (made,) = compare(self.load, shape, ours, (peer,), _ROUNDS)
        return msgspec.structs.replace(made, bound=_SEARCHES if shape.is_located else None)

    def _not_measured(self, why: str) -> None:
        _log(why)
        self.report.not_measured.append(why)


def check_same_stores(ours: Workload, theirs: Workload) -> None:
    """Compare the first responses to a location or text search. Raises `Failed` if one has other stores."""
    pairs = list(zip(ours.targets, theirs.targets, strict=True))[:COMPARED_RESPONSES]
    differing = [mine for mine, other in pairs if found_by(ours.fetch(mine).body) != found_by(theirs.fetch(other).body)]
    if differing:
        raise Failed(f"{len(differing)} of {COMPARED_RESPONSES} responses have other stores, first {differing[0]}")


def _log(text: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
