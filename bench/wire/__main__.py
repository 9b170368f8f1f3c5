"""Measure the service over HTTP, with its upper bounds and its peers: `python -m bench.wire --stores 100000`."""

import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import click

from bench.markdown import save
from bench.wire.bench import PEERS, Bench, Found, log
from bench.wire.choice import choose_shapes, peers_of
from bench.wire.cores import split_cores
from bench.wire.load import Driver
from bench.wire.machine import surroundings
from bench.wire.report import Report, ShapeFacts, markdown
from bench.wire.sample import Sample, bake, make, make_csv
from bench.wire.servers import Failed
from bench.wire.shapes import Shape

_NO_PEER: Final = "none"


@click.command()
@click.option("--stores", default=100_000, show_default=True)
@click.option("--companies", type=int, help="[default: one per 50 stores]")
@click.option("--seed", default=1, show_default=True)
@click.option("--data", type=click.Path(exists=True, path_type=Path), help="Serve this form of the same data set.")
@click.option("--baked", is_flag=True, help="Bake the data set and serve the file.")
@click.option("--seconds", default=3, show_default=True, help="Length of a run.")
@click.option(
    "--pairs", default=5, show_default=True, help="Rounds of runs per shape with the upper bounds, or with the log."
)
@click.option("--peer-pairs", default=2, show_default=True, help="Pairs of runs with a peer per shape.")
@click.option("--connections", default=16, show_default=True, help="Connections of wrk.")
@click.option(
    "--peer", "peers", multiple=True, type=click.Choice([*PEERS, _NO_PEER]), help="Run only this; repeatable."
)
@click.option("--shape", "slugs", multiple=True, help="Only this; repeatable.")
def main(  # noqa: PLR0913 - one for each option
    *,
    stores: int,
    companies: int | None,
    seed: int,
    data: Path | None,
    baked: bool,
    seconds: int,
    pairs: int,
    peer_pairs: int,
    connections: int,
    peers: tuple[str, ...],
    slugs: tuple[str, ...],
) -> None:
    """Print the tables; exit with 1 if a bound is missed. A run with all shapes and peers updates README.md.

    With fewer than 1,000,000 stores, places, words and facets, and the peers for these alone, are left out unless a
    shape is named.
    """
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))  # so that the servers are stopped too
    core, load = split_cores()
    sample = Sample.of(stores, companies=companies, seed=seed)
    log(f"generate {sample.stores:,} stores of {sample.companies:,} companies in {sample.folder}, or reuse them")
    make(sample)
    if baked:
        bake(sample)
    served = (data or (sample.baked if baked else sample.folder)).resolve()
    others = [] if slugs else _other_forms(sample, served)
    bench = Bench(sample, served, others, core, Driver(load, connections, seconds), pairs, peer_pairs)
    try:
        shapes = choose_shapes(sample.folder, slugs, stores=stores, seed=seed)
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    report = _measured(bench, shapes, [name for name in peers or peers_of(shapes) if name != _NO_PEER])
    print(markdown(report))
    if not peers and not slugs:
        save(str(stores), results=report, tables=markdown(report))
    sys.exit(bool(report.missed))


def _other_forms(sample: Sample, served: Path) -> list[Path]:
    make_csv(sample)
    return [form for form in (sample.folder, sample.csv) if form != served]


def _measured(bench: Bench, shapes: Sequence[Shape], peers: Sequence[str]) -> Report:
    try:
        return _report(bench, shapes, bench.run(shapes, peers))
    except Failed as failed:
        raise click.ClickException(str(failed)) from failed


def _report(bench: Bench, shapes: Sequence[Shape], found: Found) -> Report:
    sample, driver = bench.sample, bench.driver
    return Report(
        stores=sample.stores,
        companies=sample.companies,
        seed=sample.seed,
        seconds=driver.seconds,
        connections=driver.connections,
        surroundings=surroundings(),
        shapes=[
            ShapeFacts(
                *(shape.slug, shape.title, len(shape.requests), found.answers[shape.slug].mean_bytes),
                *(shape.least, shape.most, shape.most_cpu),
            )
            for shape in shapes
            if shape.slug in found.answers
        ],
        loadings=found.loadings,
        ceilings=found.ceilings,
        low_level=found.low_level,
        logged=found.logged,
        peers=found.peers,
        lacks=found.lacks,
    )


if __name__ == "__main__":
    main()
