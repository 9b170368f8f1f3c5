"""Manifests with the time of the data."""

from hashlib import sha256
from pathlib import Path

import orjson


def date(folder: Path, generated_at: str | None) -> Path:
    """Rewrite the manifest of a folder of JSON files, with the time of the data."""
    files = {}
    for path in (folder / "stores.json", folder / "companies.json"):
        content = path.read_bytes()
        files[path.name] = {"sha256": sha256(content).hexdigest(), "records": len(orjson.loads(content))}
    manifest = {"files": files} if generated_at is None else {"generated_at": generated_at, "files": files}
    (folder / "manifest.json").write_bytes(orjson.dumps(manifest))
    return folder
