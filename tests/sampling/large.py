"""Read a sample back from its files."""

from pathlib import Path

import msgspec

from service.model.records import Store
from service.sampling.records import CompanyEntry


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
