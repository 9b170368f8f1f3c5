"""Find the preset whose source a file is from, by the names of its columns."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from service.reading.fields.by_name import column_key

# A preset -> sets of columns; the files of its source have all of one set, and hardly any others do.
SIGNATURES: Final[Mapping[str, Sequence[Sequence[str]]]] = {
    "all-the-places": [("@spider",)],
    "overture": [("names.primary", "addresses.0.locality", "sources.0.dataset")],
    "openstreetmap": [("@id", "shop"), ("@id", "addr:street"), ("shop", "addr:street")],
    "google-business-profile": [("Store code", "Business name")],
}


def find_preset(names: Iterable[str]) -> str | None:
    """Return the preset of a file with some columns, None if there is none for it."""
    keys = set(map(column_key, names))
    found = (
        preset
        for preset, signatures in SIGNATURES.items()
        if any(keys.issuperset(map(column_key, signature)) for signature in signatures)
    )
    return next(found, None)
