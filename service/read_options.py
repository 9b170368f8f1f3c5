"""The options for reading data files."""

import shlex
from collections.abc import Iterable
from typing import Final

import msgspec


class ReadOptions(msgspec.Struct, frozen=True):
    """The options for data files; "" where the files decide.

    mapping   the path of a mapping file, or the name of a preset
    encoding  the name of the encoding of CSV files
    """

    mapping: str = ""
    encoding: str = ""

    def __str__(self) -> str:
        """Return the options to append to a command: ` --encoding windows-1252`."""
        declared = (("--mapping", self.mapping), ("--encoding", self.encoding))
        return "".join(f" {option} {shlex.quote(value)}" for option, value in declared if value)

    def arguments(self) -> list[str]:
        """Return the options as arguments of a process, by name: `of_arguments` reads each of them again."""
        return [f"{name}={value}" for name, value in msgspec.structs.asdict(self).items()]

    @classmethod
    def of_arguments(cls, arguments: Iterable[str]) -> "ReadOptions":
        """Return the options that arguments of `arguments` declare."""
        return cls(**dict(each.split("=", 1) for each in arguments))


AS_FOUND: Final = ReadOptions()
