"""Check that requests on a large data set cost little more than on a small one: `python -m bench.growth`.

Two services share one core; each gets requests for the cities of its own data, in turn.
"""

import sys
from typing import Final

import click
import msgspec

from bench.markdown import save, table
from bench.wire.comparison import Comparison, compare
from bench.wire.contender import Contender, same_targets
from bench.wire.cores import split_cores
from bench.wire.load import LoadGenerator
from bench.wire.machine import Surroundings, surroundings
from bench.wire.sample import Sample, make_baked
from bench.wire.servers import running
from bench.wire.service_contender import service
from bench.wire.shapes import Shape, read_shapes

_BOUND: Final = 1.3
_SIZES: Final = (10_000, 1_000_000)


class Growth(msgspec.Struct, frozen=True):
    """The cost of requests at two numbers of stores; the CPU ratio of the comparison is the larger over the smaller."""

    stores: tuple[int, int]
    requests: tuple[int, int]
    surroundings: Surroundings
    comparison: Comparison


@click.command()
@click.option("--small", default=_SIZES[0], show_default=True)
@click.option("--large", default=_SIZES[1], show_default=True)
@click.option("--seed", default=1, show_default=True)
@click.option("--shape", "slug", default="city", show_default=True)
@click.option("--pairs", default=7, show_default=True)
@click.option("--seconds", default=3, show_default=True)
@click.option("--connections", default=16, show_default=True)
def main(*, small: int, large: int, seed: int, slug: str, pairs: int, seconds: int, connections: int) -> None:  # noqa: PLR0913 - one for each option
    """Print the table; exit with 1 if the bound is exceeded. The default sizes and shape update README.md."""
    core, load_core = split_cores()
    contenders, shapes = zip(*(_prepare(Sample.of(stores, seed=seed), slug) for stores in (small, large)), strict=True)
    load = LoadGenerator(load_core, connections, seconds)
    with running(contenders[0], core) as ours, running(contenders[1], core) as theirs:
        (comparison,) = compare(load, shapes[0], ours, (theirs,), pairs)
    counts = (len(shapes[0].requests), len(shapes[1].requests))
    growth = Growth((small, large), counts, surroundings(), comparison)
    print(_markdown(growth))
    if growth.stores == _SIZES and slug == "city":
        save("growth", results=growth, tables=_markdown(growth))
    sys.exit(comparison.cpu_ratio.median > _BOUND)


def _prepare(sample: Sample, slug: str) -> tuple[Contender, Shape]:
    """Return the service over a data set, which gets the requests of its own shape, whichever shape is measured."""
    baked = make_baked(sample)
    shapes = {shape.slug: shape for shape in read_shapes(sample.folder, sample.seed)}
    if slug not in shapes:
        raise click.UsageError(f"the shapes are {', '.join(shapes)}")
    targets = same_targets(shapes[slug])
    name = f"store-directory, {sample.work.name}"
    return msgspec.structs.replace(service(baked), name=name, targets=lambda _: targets), shapes[slug]


def _markdown(growth: Growth) -> str:
    found = growth.comparison
    head, row = ["shape"], [found.shape]
    figures = (growth.stores, growth.requests, found.mean_bytes, found.medians("cpu_microseconds"))
    for stores, count, size, cost in zip(*figures, strict=True):
        head += [f"{stores:,} stores: requests", "mean body", "CPU µs"]
        row += [f"{count:,}", f"{size / 1000:.1f} kB", f"{cost:.1f}"]
    head += ["large over small", "from", "to", "at most"]
    row += [*found.cpu_ratio.cells(), f"{_BOUND:.2f}"]
    return f"{growth.surroundings}\n\n{table(head, [row])}"


if __name__ == "__main__":
    main()
