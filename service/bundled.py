"""The data set that ships with the program."""

from pathlib import Path


def bundled_folder() -> Path:
    """Return the folder of the bundled data set: inside an installed package, beside it in a checkout."""
    package = Path(__file__).parent
    installed = package / "datasets"
    return installed if installed.is_dir() else package.parent / "datasets"
