"""Write texts as TOML that is safe to print."""

from collections.abc import Iterable, Mapping


def quoted(text: str) -> str:
    """Return a text as a basic string; what is not printable is escaped."""
    return f'"{"".join(map(_escape, text))}"'


def array(texts: Iterable[str]) -> str:
    """Return an array of texts."""
    return f"[{', '.join(map(quoted, texts))}]"


def inline_table(values: Mapping[str, str]) -> str:
    """Return a table on one line, of keys and values in TOML."""
    return f"{{ {', '.join(f'{key} = {value}' for key, value in values.items())} }}"


def _escape(character: str) -> str:
    if character in '"\\':
        return f"\\{character}"
    return character if character.isprintable() else f"\\U{ord(character):08X}"
