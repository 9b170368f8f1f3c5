"""The interface of a source, the outcomes of a fetch, and the messages of the compiler process."""

import shlex
from collections.abc import Callable
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import ParamSpec, Protocol, TypeAlias, TypeVar

import msgspec

from service.background import Progress
from service.dataset import AS_FOUND, ReadOptions, Rejection, Summary, Totals
from service.files import Signature

Check: TypeAlias = Callable[[Totals], None]


class Fetched(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """A successful fetch.

    fingerprint   of the content of the source; equal fingerprints mean equal data
    summary       of the data
    file          the absolute path of a baked file that is mapped where it is; "" if it was copied
    signature     of that, when it was verified
    assumed       lines about the data for the log: what was assumed
    notes         lines about the data for the log: warnings
    confirmed_at  of the last good copy: when the origin last confirmed it; served at once while the origin is polled
    """

    fingerprint: str
    summary: Summary
    file: str = ""
    signature: Signature | None = None
    assumed: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    confirmed_at: datetime | None = None


class Unavailable(Exception):
    """The source cannot be fetched now, but may be later. The message says why, without secrets."""


class Source(Protocol):
    """Where data comes from."""

    @property
    def name(self) -> str:
        """The name for messages, without secrets."""

    def look(self) -> str:
        """Return a text that differs once files of the source on this machine have changed; "" if it has none."""

    async def fetch(self, to: Path, *, known: str, check: Check, progress: Progress) -> Fetched | None:
        """Write the data of the source into a new baked file, complete and verified, or verify one in place.

        known  a fingerprint; returns None, and writes nothing, if the source still has it. "" forces a fetch
        check  raises `Rejected` for numbers of records that must not be served

        Raises `Rejected` if the content must not be served, `Unavailable` if it cannot be fetched now. The caller
        removes what a failed attempt leaves at `to`.
        """


_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")


async def run_to_end(
    work: Callable[_Arguments, _Result], *args: _Arguments.args, **kwargs: _Arguments.kwargs
) -> _Result:
    """Run work in a thread and wait for its end, even when cancelled: a thread cannot be cancelled.

    So no file is closed or removed while a thread still works on it.
    """
    import asyncio  # noqa: PLC0415 - the compiler imports this module and has no event loop

    working = asyncio.get_running_loop().run_in_executor(None, partial(work, *args, **kwargs))
    try:
        return await asyncio.shield(working)
    except asyncio.CancelledError:
        await asyncio.wait([working])
        raise


def bake_first(data: str, options: ReadOptions = AS_FOUND) -> str:
    """Return the command that bakes data files, which are called `data` here."""
    baked = shlex.quote(f"{data.partition('.')[0]}.baked")
    command = f"store-directory bake {shlex.quote(data)} {baked}{options}"
    return (
        f"a URL must be that of a baked file, or of a folder with a manifest: bake the data first, `{command}`, and "
        f"give the URL of {baked}"
    )


class Step(msgspec.Struct, frozen=True, tag=True):
    """The progress of one step."""

    name: str
    done: int
    total: int


class Failed(msgspec.Struct, frozen=True, tag=True):
    """The file could not be written."""

    why: str


Outcome: TypeAlias = Fetched | Rejection | Failed
Message: TypeAlias = Step | Outcome
