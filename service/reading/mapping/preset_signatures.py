"""Find the preset whose source a file is from, by the names of its columns."""

from collections.abc import Iterable
from typing import Final

from service.reading.by_name import column_key

# A preset -> columns that the files of its source have, and hardly any others.
SIGNATURES: Final = {
    "all-the-places": ("@spider", "ref"),
    "overture": ("names.primary", "addresses.0.locality", "sources.0.dataset"),
    "openstreetmap": ("@id", "shop"),
    "google-business-profile": ("Store code", "Business name"),
}


def find_preset(names: Iterable[str]) -> str | None:
    """Return the preset of a file with some columns, None if there is none for it."""
    keys = set(map(column_key, names))
    return next(
        (preset for preset, signature in SIGNATURES.items() if keys.issuperset(map(column_key, signature))), None
    )
