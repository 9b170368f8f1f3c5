"""Time what one answer costs in the engine, without HTTP, on made-up data: `python bench/engine.py --stores 100000`."""

import platform
import resource
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from random import Random
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

import click
import msgspec
import numpy as np

from service import __version__
from service.engine.page import page
from service.engine.table import Table
from service.envelope import wrap
from service.loading.dataset import load
from service.query import Query, Reader
from service.records import STORES
from service.sampling.sample import write_sample

_READER = Reader(STORES)
Pairs = list[tuple[str, str]]


class Store(msgspec.Struct, frozen=True):
    """What the shapes draw their questions from."""

    city: str
    country: str
    company_id: str


def shapes(stores: Sequence[Store], random: Random) -> dict[str, Callable[[], Pairs]]:
    """Return for each shape of question what makes one."""

    def one() -> Store:
        return random.choice(stores)

    pages = max(len(stores) // 1000, 1)
    return {
        "city, 50": lambda: [("city", one().city), ("limit", "50")],
        "city and open, 50": lambda: [("city", one().city), ("is_open", "true"), ("limit", "50")],
        "all, 1,000 of a page": lambda: [("page_num", str(random.randint(1, pages)))],
        "country and open by name, 50, pages 1 to 40": lambda: [
            ("country", one().country),
            ("is_open", "true"),
            ("sort_by", "name"),
            ("limit", "50"),
            ("page_num", str(random.randint(1, 40))),
        ],
        "company by updated_at, up to 1,000": lambda: [("company_id", one().company_id), ("sort_by", "updated_at")],
    }


def seconds_each(table: Table, queries: Sequence[Query]) -> Iterator[float]:
    """Yield how long each answer takes to compose."""
    for query in queries:
        started = perf_counter()
        found = page(table, query)
        wrap(query, total_count=found.total_count, rows=found.rows)
        yield perf_counter() - started


def questions(make: Callable[[], Pairs], count: int) -> list[Query]:
    """Return distinct questions of a shape, as many as there are up to `count`."""
    made = (tuple(make()) for _ in range(count * 4))
    distinct = islice(dict.fromkeys(made), count)
    return [_READER.read(pairs, strict=True) for pairs in distinct]


@click.command()
@click.option("--stores", default=100_000, show_default=True)
@click.option("--companies", default=1000, show_default=True)
@click.option("--queries", default=2000, show_default=True, help="Distinct questions of each shape.")
@click.option("--seed", default=1, show_default=True)
def main(*, stores: int, companies: int, queries: int, seed: int) -> None:
    """Print a Markdown table of the time of an answer by shape, and of loading."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        write_sample(folder, stores=stores, companies=companies, seed=seed)
        records = msgspec.json.decode((folder / "stores.json").read_bytes(), type=list[Store])
        started = perf_counter()
        dataset = load(folder).dataset
        loading = perf_counter() - started
    if dataset is None:
        raise click.ClickException("the made-up data set was refused")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"store-directory {__version__}, Python {platform.python_version()}, numpy {np.__version__}")
    print(f"{stores:,} stores: loaded in {loading:.1f} s, {peak:,.0f} MiB at the peak of this process\n")
    print("| shape | questions | median µs | slowest µs |\n| --- | --- | --- | --- |")
    for shape, make in shapes(records, Random(seed)).items():
        asked = questions(make, queries)
        took = [1e6 * each for each in seconds_each(dataset.stores, asked)]
        print(f"| {shape} | {len(took):,} | {median(took):,.0f} | {max(took):,.0f} |")


if __name__ == "__main__":
    main()
