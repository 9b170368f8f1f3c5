"""What a service does with the data in a bucket: it serves it, and follows its replacement."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import orjson

from tests.program import Running, eventually, serving
from tests.run.generations import Generation

FIRST: Final = Generation(1)
SECOND: Final = Generation(2)
BAKED: Final = "stores.baked"
Put = Callable[[Mapping[str, bytes]], object]


def baked(generation: Generation, folder: Path) -> Mapping[str, bytes]:
    """Return a data set as one file, by its name."""
    folder.mkdir(exist_ok=True)
    return {BAKED: generation.bake(folder).read_bytes()}


def served(service: Running) -> str:
    """Return the name of the served records."""
    body: Any = orjson.loads(service.get("/stores").body)
    (name,) = {record["name"] for record in body["data"]}
    return str(name)


def follow(url: str, put: Put, editions: tuple[Mapping[str, bytes], ...], work: Path, *options: str) -> str:
    """Serve what is put first, and see it replaced by what is put next; return the log."""
    work.mkdir(exist_ok=True)
    log = work / "service.log"
    put(editions[0])
    common = ("--data", url, "--cache", work / "cache", "--poll", "0.1", "--no-auth")
    with serving(*common, *options, log=log) as service:
        assert served(service) == FIRST.name
        put(editions[1])
        assert eventually(lambda: served(service) == SECOND.name)
        assert service.end() == 0
    return log.read_text()
