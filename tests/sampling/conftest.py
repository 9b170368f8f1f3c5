"""One large sample, shared by all tests, and what it is read by."""

from pathlib import Path

import msgspec
import pytest

from service.model.records import Store
from service.sampling.records import CompanyEntry
from service.sampling.sample_dataset import write_sample


class Sample(msgspec.Struct, frozen=True):
    """The records of a sample's two files."""

    stores: list[Store]
    companies: list[CompanyEntry]


def read_sample(folder: Path) -> Sample:
    """Read a sample written as JSON."""
    return Sample(
        msgspec.json.decode((folder / "stores.json").read_bytes(), type=list[Store]),
        msgspec.json.decode((folder / "companies.json").read_bytes(), type=list[CompanyEntry]),
    )


@pytest.fixture(scope="session")
def large(tmp_path_factory: pytest.TempPathFactory) -> Sample:
    """Return 30,000 stores of 300 companies."""
    folder = tmp_path_factory.mktemp("large")
    write_sample(folder, stores=30_000, companies=300, seed=1)
    return read_sample(folder)
