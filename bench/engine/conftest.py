"""Fixtures of the engine benchmarks: a data set, requests of each shape, a connection."""

from collections.abc import Iterator

import pytest

from bench.engine.request_pipeline import Loopback, Pipeline, loopback, make_pipeline
from bench.engine.test_request_steps import STEPS
from bench.samples import Sample, make_baked
from bench.shapes import Shape, read_shapes
from service.baking.baked_file import load_baked
from service.dataset import Dataset

_STORES = 100_000
SHAPES = ("company", "city", "page", "dense", "scattered")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Repeat the benchmark for each step and shape."""
    metafunc.parametrize("shape", SHAPES)
    metafunc.parametrize("step", STEPS)


@pytest.fixture(scope="session")
def directory() -> tuple[Dataset, dict[str, Shape]]:
    """Return a synthetic data set, and the shapes of requests for it."""
    sample = Sample.of(_STORES)
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
