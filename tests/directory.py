"""Small data sets for tests, written as real files."""

from collections.abc import Iterable, Mapping
from pathlib import Path

import orjson

Record = Mapping[str, object]


def store(store_id: str, **fields: object) -> dict[str, object]:
    """Return a sound store of company `acme`, changed by `fields`."""
    sound = {"company_id": "acme", "address_1": "1 Main St", "city": "Toronto", "country": "CA"}
    return {"store_id": store_id, **sound, **fields}


def company(company_id: str = "acme", **fields: object) -> dict[str, object]:
    """Return a sound company, changed by `fields`."""
    return {"company_id": company_id, "name": company_id.title(), **fields}


def write_directory(folder: Path, stores: Iterable[Record], companies: Iterable[Record] = (company(),)) -> Path:
    """Write the two files of a data set, as JSON, into a new folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "stores.json").write_bytes(orjson.dumps(list(stores)))
    (folder / "companies.json").write_bytes(orjson.dumps(list(companies)))
    return folder
