"""This service, as a contender."""

import sys
from pathlib import Path

from bench.wire.contender import HOME, Contender
from bench.wire.shapes import KEY
from service import __version__


def service(data: Path, *options: str) -> Contender:
    """Return the service over a data set: anything that `serve --data` accepts; with more options."""
    serve = [sys.executable, "-m", "service", "serve", "--data", str(data), "--api-key", KEY, "--host", "127.0.0.1"]
    serve += ["--cache", str(HOME / "cache")]
    return Contender(
        name=", ".join(("store-directory", _form(data), *([" ".join(options)] if options else []))),
        version=__version__,
        command=lambda port: [*serve, "--port", str(port), *options],
        ready="/ready",
    )


def _form(data: Path) -> str:
    if not data.is_dir():
        return "one file"
    return "CSV files" if (data / "stores.csv").exists() else "JSON files"
