"""Fixtures of the engine benchmarks: data sets of several sizes, and distinct queries of each shape."""

from typing import Any

import msgspec
import pytest

from bench.engine.questions import SHAPES, Questions, read_questions
from bench.wire.machine import surroundings
from bench.wire.sample import Sample, make_baked

_SIZES = (10_000, 100_000)
_LARGE = 1_000_000


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option for the largest size, which takes minutes to generate."""
    parser.addoption("--large", action="store_true", help=f"Measure {_LARGE:,} stores too.")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Repeat each benchmark for each size and shape."""
    sizes = [*_SIZES, _LARGE] if metafunc.config.getoption("--large") else _SIZES
    metafunc.parametrize("stores", sizes, scope="session")
    metafunc.parametrize("shape", SHAPES)


@pytest.fixture(scope="session")
def every_question(stores: int) -> dict[str, Questions]:
    """Return the queries of each shape on a synthetic data set of a size."""
    sample = Sample.of(stores, seed=1)
    return read_questions(make_baked(sample), sample)


@pytest.fixture
def questions(every_question: dict[str, Questions], shape: str) -> Questions:
    """Return the queries of one shape."""
    return every_question[shape]


def pytest_benchmark_update_machine_info(machine_info: dict[str, Any]) -> None:
    """Report what the other benchmarks report about the machine, without its name."""
    machine_info.clear()
    machine_info.update(msgspec.structs.asdict(surroundings()))
