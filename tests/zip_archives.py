"""Zip archives, made of files in memory."""

import io
import zipfile
from collections.abc import Iterable, Mapping


def zipped(files: Mapping[str, bytes] | Iterable[tuple[str, bytes]], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """Return an archive of files by name, in order; names may be repeated."""
    pairs = files.items() if isinstance(files, Mapping) else files
    stored = io.BytesIO()
    with zipfile.ZipFile(stored, "w", method) as archive:
        for name, content in pairs:
            archive.writestr(zipfile.ZipInfo(name), content, method)
    return stored.getvalue()
