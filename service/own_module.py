"""Run a module of this package as a process of its own."""

import sys
from pathlib import Path
from typing import Final

import service

# Like `python -m`, but with this very package, not with one of the same name in the working directory.
_START: Final = (
    "import runpy, sys; packages, module = sys.argv[1:3]; del sys.argv[1:3]; "
    "packages in sys.path or sys.path.insert(0, packages); runpy.run_module(module, run_name='__main__')"
)
_PACKAGES: Final = str(Path(service.__file__).parents[1])


def module_command(module: str, *arguments: str) -> tuple[str, ...]:
    """Return the command that runs a module of this package as the main program."""
    return sys.executable, "-P", "-c", _START, _PACKAGES, module, *arguments
