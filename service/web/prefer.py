"""The Prefer header (RFC 7240)."""

from collections.abc import Iterable
from typing import Final

APPLIED: Final = {"Preference-Applied": "handling=strict"}


def is_strict(headers: Iterable[str]) -> bool:
    """Tell whether Prefer headers ask for `handling=strict`; of a preference that stands twice the first counts."""
    for header in headers:
        for preference in header.split(","):
            token, _, value = preference.split(";", 1)[0].partition("=")
            if token.strip().lower() == "handling":
                return value.strip().strip('"') == "strict"
    return False
