"""The error for a URL of data files: bake them first."""

import shlex

from service.read_options import AS_FOUND, ReadOptions


def bake_first(data: str, options: ReadOptions = AS_FOUND) -> str:
    """Return the command that bakes data files, which are called `data` here."""
    baked = shlex.quote(f"{data.partition('.')[0]}.baked")
    command = f"store-directory bake {shlex.quote(data)} {baked}{options}"
    return (
        f"a URL must be that of a baked file, or of a folder with a manifest: bake the data first, `{command}`, and "
        f"give the URL of {baked}"
    )
