"""`store-directory keys`: the keys of a key file."""

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Final

import click
import msgspec

from service.access.api_key import digest, new_key
from service.access.key_entries import (
    NAME_PATTERN,
    KeyEntry,
    KeyFileError,
    KeyFileMissing,
    State,
    add_key,
    read_keys,
    revoke_key,
    whole_seconds,
)
from service.access.key_file import Change, change_keys, read_content, read_signature
from service.access.request_rate import MAX_REQUESTS, parse_rate
from service.commands.options import option
from service.commands.refusal import bad_key_file
from service.model.kinds import read_instant, write_instant
from service.web.auth import KEY_HEADER

_key_file: Final = option(
    "--key-file",
    metavar="FILE",
    required=True,
    type=click.Path(readable=False, path_type=Path),
    help="The file with the hashes of keys.",
)


class _Told(msgspec.Struct, frozen=True):
    """What is told of a key."""

    name: str
    id: str
    state: State
    rate: str | None
    burst: int | None
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None


_HEADER: Final = tuple(field.upper().removesuffix("_AT") for field in _Told.__struct_fields__)


class _Expiry(click.ParamType[datetime]):
    """A date or a moment."""

    name = "DATE|MOMENT"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        """Return the moment in UTC; fail with a usage error where it is none, or past."""
        moment = value if isinstance(value, datetime) else read_instant(value)
        if moment is None:
            self.fail("it is no date (2027-01-01) or moment (2027-01-01T12:00:00Z)", param, ctx)
        if moment <= datetime.now(UTC):
            self.fail("it is past", param, ctx)
        return whole_seconds(moment.astimezone(UTC))


class _Name(click.ParamType[str]):
    """The name of a key."""

    name = "NAME"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the name; fail with a usage error where it is none."""
        if re.match(NAME_PATTERN, value) is None:
            self.fail(
                "it is no name: up to 64 ASCII letters, digits, . _ @ or -, a letter or digit first, not sd_",
                param,
                ctx,
            )
        return str(value)


@click.group()
def keys() -> None:
    """Make, list and revoke the keys of a file, for `serve --key-file FILE`.

    The file holds their hashes alone. A service that follows it heeds a change within a second.
    """


@keys.command()
@_key_file
@click.option("--name", type=_Name(), required=True, help="Whose key it is, for logs and lists.")
@click.option(
    "--rate", metavar="N/PERIOD", help="How much it may ask: 100/s, with one of s, min, h, d.  [default: any]"
)
@click.option(
    "--burst", type=click.IntRange(1, MAX_REQUESTS), help="How much of that at once.  [default: that of a period]"
)
@click.option("--expires", type=_Expiry(), help="From when on it is not let in; of a date that is its midnight, UTC.")
def new(key_file: Path, name: str, rate: str | None, burst: int | None, expires: datetime | None) -> None:
    """Make a key, and print it on standard output, once: only its hash is kept.

    The file is made where there is none.
    """
    _check_rate(rate, burst)
    key, now = new_key(), whole_seconds(datetime.now(UTC))
    entry = KeyEntry(name=name, sha256=digest(key).hex(), created_at=now, expires_at=expires, rate=rate, burst=burst)
    _change(key_file, partial(add_key, entry=entry))
    try:
        click.echo(key)
    except OSError as error:
        raise click.ClickException(f"{error.strerror}: the key could not be shown, so revoke {name}") from error
    click.echo(f"This is the key {name}, shown once. Send it in the header {KEY_HEADER}.", err=True)


@keys.command("list")
@_key_file
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
def list_keys(key_file: Path, *, as_json: bool) -> None:
    """List the keys of a file, the revoked ones, too."""
    try:
        entries = read_keys(read_content(key_file)[0])
    except KeyFileError as bad:
        raise bad_key_file(key_file, bad) from bad
    now = datetime.now(UTC)
    told = [_told(entry, now) for entry in entries]
    click.echo(msgspec.json.encode(told) if as_json else "\n".join(_lines(told)))


@keys.command()
@_key_file
@click.argument("name", type=_Name())
def revoke(key_file: Path, name: str) -> None:
    """Let the key NAME in no more. It stays in the list, and its name is free again."""
    try:
        read_signature(key_file)
    except KeyFileMissing as none:
        raise bad_key_file(key_file, none) from none
    _change(key_file, partial(revoke_key, name=name))
    click.echo(f"{name} is revoked")


def _check_rate(rate: str | None, burst: int | None) -> None:
    if rate is None and burst is not None:
        raise click.UsageError("--burst: it needs a --rate")
    try:
        if rate is not None:
            parse_rate(rate, burst)
    except ValueError as error:
        raise click.UsageError(f"--rate: {error}") from error


def _change(file: Path, change: Change) -> None:
    try:
        change_keys(file, change)
    except KeyFileMissing as none:  # not even a folder
        raise bad_key_file(file, none) from none
    except KeyFileError as bad:
        raise click.ClickException(f"the key file {file} stays as it was: {bad}") from bad


def _told(entry: KeyEntry, now: datetime) -> _Told:
    burst = entry.limit.burst if entry.limit is not None else None
    state, moments = entry.state(now), (entry.created_at, entry.expires_at, entry.revoked_at)
    return _Told(entry.name, entry.id, state, entry.rate, burst, *moments)


def _lines(told: Iterable[_Told]) -> Iterator[str]:
    """Return a table for a person."""
    rows = [_HEADER, *(tuple(map(_shown, msgspec.structs.astuple(each))) for each in told)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def _shown(value: object) -> str:
    if isinstance(value, datetime):
        return write_instant(value)
    return "-" if value is None else str(value)
