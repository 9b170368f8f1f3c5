"""Fixtures of the engine benchmarks: data sets of several sizes, requests of each shape, a connection."""

from collections.abc import Iterator

import pytest

from bench.engine.request_pipeline import Loopback, Pipeline, loopback, make_pipeline
from bench.engine.test_request_steps import ALL_STEPS, SIZED, STEPS
from bench.samples import Sample, make_baked
from bench.shapes import Shape, read_shapes
from service.baking.baked_file import load_baked
from service.dataset import Dataset

_SIZES = (100_000, 10_000)  # first those with all steps, in their order
_LARGE = 1_000_000
SHAPES = ("company", "city", "page", "dense", "scattered")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option for the largest size, which takes minutes to generate."""
    parser.addoption("--large", action="store_true", help=f"Measure {_LARGE:,} stores too.")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Repeat each benchmark for each size and shape; most steps of a request do not depend on the size."""
    sizes = [*_SIZES, _LARGE] if metafunc.config.getoption("--large") else _SIZES
    cases = [(size, step) for size in sizes for step in (STEPS if size == ALL_STEPS else SIZED)]
    metafunc.parametrize("shape", SHAPES)
    metafunc.parametrize(("stores", "step"), cases, scope="session")


@pytest.fixture(scope="session")
def directory(stores: int) -> tuple[Dataset, dict[str, Shape]]:
    """Return a synthetic data set of a size, and the shapes of requests for it."""
    sample = Sample.of(stores)
    dataset = load_baked(make_baked(sample))
    return dataset, {shape.slug: shape for shape in read_shapes(sample.folder, sample.seed)}


@pytest.fixture
def pipeline(directory: tuple[Dataset, dict[str, Shape]], shape: str) -> Pipeline:
    """Return the requests of one shape, and the parts of a service that answers them."""
    dataset, shapes = directory
    return make_pipeline(dataset, shapes[shape].requests)


@pytest.fixture
def connection(pipeline: Pipeline) -> Iterator[Loopback]:
    """Yield a connection to the service of the pipeline."""
    with loopback(pipeline.app) as made:
        yield made
