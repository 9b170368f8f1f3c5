"""Bake and serve with several Pythons, and compare: `python -m tests.pythons [--data DIR]... PYTHON...`.

Each PYTHON bakes the data sets, those of DIR and one in many scripts, and serves what each of the others baked. There
must be one file, one version and one answer to each of some hundred requests. The service is installed for each PYTHON:
after `python3.13 -m venv v && v/bin/pip install -e .` it is `v/bin/python`.
"""

import subprocess
import sys
import unicodedata
from collections.abc import Iterator, Sequence
from hashlib import sha256
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final
from urllib.parse import urlencode

import click
import msgspec
import orjson

from service.model.records import COMPANIES, STORES
from tests.baking.scripts import write_scripts
from tests.program import Running, run, serving

_VALUES: Final = 12  # about so many of each filter
_ALLOWED: Final = ("--min-stores", "0", "--max-skipped", "1")
_WORK: Final = "import sys, tests.pythons as it; it.work(*sys.argv[1:])"


class Found(msgspec.Struct, frozen=True):
    """Equal in all Pythons: SHA-256 of the file, version of the data, number of requests, SHA-256 of the answers."""

    file: str
    version: str
    requests: int
    answers: str


@click.command()
@click.option("--data", multiple=True, type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.argument("pythons", metavar="PYTHON...", nargs=-1, required=True)
def main(data: Sequence[Path], pythons: Sequence[str]) -> None:
    """Print what each pair of Pythons found, and end with 1 where two differ."""
    with TemporaryDirectory() as scratch:
        sets = [write_scripts(Path(scratch, "scripts")), *data]
        found = [
            {_find(each, *pair, Path(scratch, "set.baked")) for pair in product(pythons, pythons)} for each in sets
        ]
    sys.exit(any(len(different) > 1 for different in found))


def _find(data: Path, baker: str, server: str, file: Path) -> Found:
    _with(baker, "bake", data, file)
    found = msgspec.json.decode(_with(server, "answer", file), type=Found)
    versions = (_with(each, "release").strip() for each in (baker, server))
    click.echo("{}: baked by {}, served by {}: {}".format(data.name, *versions, found))
    return found


def _with(python: str, *work: str | Path) -> str:
    return subprocess.run([python, "-c", _WORK, *map(str, work)], stdout=subprocess.PIPE, text=True, check=True).stdout


def work(what: str, *files: str) -> None:
    """Run in this Python: `bake DATA FILE`, `answer FILE` or `release`."""
    match what:
        case "bake":
            ended = run("bake", *files, "--invalid", "skip", *_ALLOWED)
            assert ended.returncode == 0, ended.stderr
        case "answer":
            click.echo(msgspec.json.encode(_answers(Path(*files))))
        case _:
            click.echo(f"{sys.version.split()[0]} (Unicode {unicodedata.unidata_version})")


def _answers(file: Path) -> Found:
    digest = sha256()
    with serving("--data", file, "--no-auth", *_ALLOWED) as service:
        asked = list(_targets(service))
        for target in asked:
            answer = service.get(target)
            digest.update(f"{target} {answer.status}".encode() + answer.body)
        version = service.ready()["version"]
    return Found(sha256(file.read_bytes()).hexdigest()[:16], version, len(asked), digest.hexdigest()[:16])


def _targets(service: Running) -> Iterator[str]:
    """Yield requests: every order, and some values of every filter, in several spellings."""
    for resource in (STORES, COMPANIES):
        orders = product(resource.sort_keys, ("asc", "desc"))
        yield from (f"/{resource.name}?sort_by={field}&sort_order={order}&limit=500" for field, order in orders)
        records = orjson.loads(service.get(f"/{resource.name}").body)["data"]
        for name in (field.name for field in resource.filters):
            values = list(dict.fromkeys(str(record[name]) for record in records if record[name] is not None))
            for value in values[:: len(values) // _VALUES + 1]:
                spellings = {value, value.swapcase(), unicodedata.normalize("NFD", value), f" {value} "}
                yield from (f"/{resource.name}?{urlencode({name: each})}" for each in sorted(spellings))


if __name__ == "__main__":
    main()
