"""Check that requests on a large data set cost little more than on a small one: `python -m bench.growth`.

Two services share one core; each gets requests for the cities of its own data, in turn.
"""

import sys
from pathlib import Path
from typing import Final

import click
import msgspec

from bench.markdown import save, table
from bench.wire.contender import Contender, same_targets
from bench.wire.cores import split_cores
from bench.wire.load import Driver
from bench.wire.machine import Surroundings, surroundings
from bench.wire.measure import Contest, contest
from bench.wire.sample import Sample, make_baked
from bench.wire.servers import running
from bench.wire.service import service
from bench.wire.shapes import Shape, read_shapes

_BOUND: Final = 1.3
_SIZES: Final = (10_000, 1_000_000)


class Growth(msgspec.Struct, frozen=True):
    """The cost of requests at two numbers of stores; `found` has the larger over the smaller, pair by pair."""

    small: int
    large: int
    requests: tuple[int, int]
    surroundings: Surroundings
    found: Contest
    bound: float

    @property
    def within_bound(self) -> bool:
        """Whether the median of the pairs is within the bound."""
        return self.found.cpu_ratio.median <= self.bound


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
    core, load = split_cores()
    samples = [Sample.of(stores, seed=seed) for stores in (small, large)]
    baked = [make_baked(sample) for sample in samples]
    shapes = [_shape(sample, slug) for sample in samples]
    contenders = list(map(_contender, baked, shapes))
    with running(contenders[0], core) as ours, running(contenders[1], core) as theirs:
        found = contest(Driver(load, connections, seconds), shapes[0], ours=ours, theirs=theirs, pairs=pairs)
    counts = (len(shapes[0].requests), len(shapes[1].requests))
    growth = Growth(small, large, counts, surroundings(), found, _BOUND)
    print(_markdown(growth))
    if (small, large) == _SIZES and slug == "city":
        save("growth", results=growth, tables=_markdown(growth))
    sys.exit(not growth.within_bound)


def _shape(sample: Sample, slug: str) -> Shape:
    shapes = {shape.slug: shape for shape in read_shapes(sample.folder, sample.seed)}
    if slug not in shapes:
        raise click.UsageError(f"the shapes are {', '.join(shapes)}")
    return shapes[slug]


def _contender(data: Path, shape: Shape) -> Contender:
    """Return the service over a data set; it gets the requests of its own shape, whichever shape is measured."""
    targets = same_targets(shape)
    name = f"store-directory, {data.parent.name}"
    return msgspec.structs.replace(service(data), name=name, targets=lambda _: targets)


def _markdown(growth: Growth) -> str:
    ratio = growth.found.cpu_ratio
    sides = (growth.found.ours, growth.found.theirs)
    head = ["shape"]
    row = [growth.found.shape]
    for stores, count, side in zip((growth.small, growth.large), growth.requests, sides, strict=True):
        head += [f"{stores:,} stores: requests", "mean body", "CPU µs"]
        row += [f"{count:,}", f"{side.mean_bytes / 1000:.1f} kB", f"{side.cpu_microseconds.median:.1f}"]
    head += ["large over small", "from", "to", "at most"]
    row += [f"**{ratio.median:.2f}**", f"{ratio.lowest:.2f}", f"{ratio.highest:.2f}", f"{growth.bound:.2f}"]
    return f"{growth.surroundings}\n\n{table(head, [row])}"


if __name__ == "__main__":
    main()
