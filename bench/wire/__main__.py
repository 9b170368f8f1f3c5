"""Measure the service over HTTP, with its upper bounds and its peers: `python -m bench.wire --stores 100000`."""

import signal
import sys
from pathlib import Path
from typing import Final

import click

from bench.markdown import save
from bench.wire.bench import PEERS, Bench, log, peers_of
from bench.wire.cores import split_cores
from bench.wire.http_report import Report, markdown
from bench.wire.load import LoadGenerator
from bench.wire.machine import surroundings
from bench.wire.sample import Sample, bake, make, make_csv
from bench.wire.servers import Failed
from bench.wire.variants import choose_shapes

_NO_PEER: Final = "none"


@click.command()
@click.option("--stores", default=100_000, show_default=True)
@click.option("--companies", type=int, help="[default: one per 50 stores]")
@click.option("--seed", default=1, show_default=True)
@click.option("--data", type=click.Path(exists=True, path_type=Path), help="Serve this form of the same data set.")
@click.option("--baked", is_flag=True, help="Compile the data set and serve the file.")
@click.option("--seconds", default=2, show_default=True, help="Length of a run.")
@click.option("--pairs", default=3, show_default=True, help="Rounds of runs per shape with a bound.")
@click.option("--peer-pairs", default=2, show_default=True, help="Rounds of runs per other shape, and with a peer.")
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
    core, load_core = split_cores()
    sample = Sample.of(stores, companies=companies, seed=seed)
    log(f"generate {sample.stores:,} stores of {sample.companies:,} companies in {sample.folder}, or reuse them")
    make(sample)
    if baked:
        bake(sample)
    served, other_forms = (data or (sample.baked if baked else sample.folder)).resolve(), list[Path]()
    if not slugs:
        make_csv(sample)
        other_forms = [form for form in (sample.folder, sample.csv) if form != served]
    try:
        shapes = choose_shapes(sample.folder, slugs, stores=stores, seed=seed)
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    bench = Bench(sample, served, core, LoadGenerator(load_core, connections, seconds), pairs, peer_pairs)
    report = Report(sample.stores, sample.companies, seed, seconds, connections, surroundings())
    try:
        bench.run(shapes, [name for name in peers or peers_of(shapes) if name != _NO_PEER], other_forms, report)
    except Failed as failed:
        raise click.ClickException(str(failed)) from failed
    print(markdown(report))
    if not peers and not slugs:
        save(str(stores), results=report, tables=markdown(report))
    sys.exit(bool(report.missed))


if __name__ == "__main__":
    main()
