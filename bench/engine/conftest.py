"""Fixtures of the engine benchmarks: data sets of several sizes, distinct queries of each shape, a connection."""

from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from bench.engine import test_engine, test_request_steps
from bench.engine.engine_queries import SHAPES, Directory, Queries, read_directory, read_queries
from bench.engine.loopback import Loopback, loopback
from bench.engine.request_pipeline import Pipeline, make_pipeline
from bench.wire.machine import surroundings
from bench.wire.sample import Sample, make_baked

_SIZES = (10_000, 100_000)
_LARGE = 1_000_000
_REQUEST_SIZE = 100_000
REQUEST_SHAPES = ("company", *(shape for shape in SHAPES if shape != "city-open"))


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option for the largest size, which takes minutes to generate."""
    parser.addoption("--large", action="store_true", help=f"Measure {_LARGE:,} stores too.")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Repeat each benchmark for each size and shape; most steps of a request do not depend on the size."""
    sizes = [*_SIZES, _LARGE] if metafunc.config.getoption("--large") else _SIZES
    is_engine = "queries" in metafunc.fixturenames
    metafunc.parametrize("stores", sizes if is_engine else [_REQUEST_SIZE], scope="session")
    metafunc.parametrize("step", test_engine.STEPS if is_engine else test_request_steps.STEPS)
    metafunc.parametrize("shape", SHAPES if is_engine else REQUEST_SHAPES)


@pytest.fixture(scope="session")
def directory(stores: int) -> Directory:
    """Return a synthetic data set of a size, and the shapes of requests for it."""
    sample = Sample.of(stores, seed=1)
    return read_directory(make_baked(sample), sample)


@pytest.fixture(scope="session")
def every_query(directory: Directory) -> dict[str, Queries]:
    """Return the queries of each shape on a data set."""
    return read_queries(directory)


@pytest.fixture
def pipeline(directory: Directory, shape: str) -> Pipeline:
    """Return the requests of one shape, and the parts of a service that answers them."""
    return make_pipeline(directory.dataset, directory.shapes[shape].requests)


@pytest.fixture
def connection(pipeline: Pipeline) -> Iterator[Loopback]:
    """Yield a connection to the service of the pipeline."""
    with loopback(pipeline.app) as made:
        yield made


@pytest.fixture
def queries(every_query: dict[str, Queries], shape: str) -> Queries:
    """Return the queries of one shape."""
    return every_query[shape]


def pytest_benchmark_update_machine_info(machine_info: dict[str, Any]) -> None:
    """Report what the other benchmarks report about the machine, without its name."""
    machine_info.clear()
    machine_info.update(msgspec.structs.asdict(surroundings()))
