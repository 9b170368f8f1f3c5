"""The service's responses to a shape: their sizes, and their bodies as files."""

import shutil
from pathlib import Path
from typing import Final

import msgspec

from bench.wire.load import Questions
from bench.wire.servers import Server
from bench.wire.shapes import Shape

# The limit per shape: more than the processor's cache.
_MOST_BYTES: Final = 64 << 20


class Answers(msgspec.Struct, frozen=True):
    """The responses to the first requests of a shape, in order: sizes in bytes, media type, coding, files."""

    status: int
    media_type: str
    coding: str
    sizes: list[int]
    files: list[Path]

    @property
    def mean_bytes(self) -> float:
        """The mean size of a body."""
        return sum(self.sizes) / len(self.sizes)


def collect(server: Server, shape: Shape, folder: Path) -> Answers:
    """Send the first requests of a shape once each and write the bodies to `folder`, emptied before.

    Raises `Failed` if a response has another status or content coding than the shape.
    """
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    sizes: list[int] = []
    files: list[Path] = []
    media_type = ""
    questions = Questions.of(shape, server)
    for number, target in enumerate(questions.targets):
        answer = questions.ask(server, target)
        media_type = answer.media_type
        sizes.append(len(answer.body))
        files.append(folder / f"{number:05}")
        files[-1].write_bytes(answer.body)
        if sum(sizes) > _MOST_BYTES:
            break
    return Answers(shape.status, media_type, shape.coding, sizes, files)
