"""Numbers of things, as texts."""


def counted(number: int, one: str, several: str = "") -> str:
    """Return a number with its noun: `1 store`, `1,000 stores`. The plural, if not given, has an s."""
    return f"{number:,} {one if number == 1 else several or one + 's'}"
