"""Slugs: names as parts of identifiers and domains."""

import re
import unicodedata
from typing import Final

from service.sampling.reference_data import read_toml

# Letters without a decomposition into a Latin letter and a mark.
_LETTERS: Final = str.maketrans({"ß": "ss", "ł": "l", "Ł": "L", "ı": "i", "ø": "o", "æ": "ae", "'": None, "’": None})  # noqa: RUF001 - Turkish has a dotless i
_ROMAJI: Final = read_toml("romaji.toml", dict[str, str])
_JAPANESE: Final = re.compile("|".join(sorted(_ROMAJI, key=len, reverse=True)))
_SEPARATORS: Final = re.compile("[^a-z0-9]+")


def slug(name: str) -> str:
    """Return a name in lower-case Latin letters, digits and hyphens: `Bäckerei Groß & Co` → `backerei-gross-co`."""
    latin = _JAPANESE.sub(lambda match: f" {_ROMAJI[match[0]]} ", name).translate(_LETTERS)
    ascii_only = unicodedata.normalize("NFKD", latin).encode("ascii", "ignore").decode()
    return _SEPARATORS.sub("-", ascii_only.lower()).strip("-")
