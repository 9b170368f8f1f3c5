"""The folders of the project that are part of the package: the bundled data set, and the documentation."""

from pathlib import Path
from typing import Final

_PACKAGE: Final = Path(__file__).parent


def bundled_folder(name: str, *, package: Path = _PACKAGE) -> Path:
    """Return one of them by name: inside an installed package, beside it in a checkout."""
    installed = package / name
    return installed if installed.is_dir() else package.parent / name
