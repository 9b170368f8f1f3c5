"""One large sample, shared by all tests."""

import pytest

from service.sampling.sample_dataset import write_sample
from tests.sampling.large import Sample, read_sample


@pytest.fixture(scope="session")
def large(tmp_path_factory: pytest.TempPathFactory) -> Sample:
    """Return 30,000 stores of 300 companies."""
    folder = tmp_path_factory.mktemp("large")
    write_sample(folder, stores=30_000, companies=300, seed=1)
    return read_sample(folder)
