"""Vary: the request fields that select a representation (RFC 9110 section 12.5.5)."""

from service.model.operation import KEY_HEADER, VERSION_HEADER


def vary_of_data(*names: str, needs_key: bool) -> str:
    """Return the value of Vary for answers about data: these fields, and those that concern all of them."""
    return ", ".join((*names, "Prefer", VERSION_HEADER, *([KEY_HEADER] if needs_key else ())))
