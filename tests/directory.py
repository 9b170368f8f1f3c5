"""Small data sets for tests, written as real files."""

from collections.abc import Iterable, Mapping
from hashlib import sha256
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


def write_manifest(folder: Path, generated_at: str | None = None) -> Path:
    """Write the manifest of a folder that `write_directory` wrote, with the time of the data if there is one."""
    files = {}
    for name in ("stores.json", "companies.json"):
        content = (folder / name).read_bytes()
        files[name] = {"sha256": sha256(content).hexdigest(), "records": len(orjson.loads(content))}
    dated = {} if generated_at is None else {"generated_at": generated_at}
    (folder / "manifest.json").write_bytes(orjson.dumps({**dated, "files": files}))
    return folder
