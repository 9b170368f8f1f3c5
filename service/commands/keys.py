"""`store-directory keys`: create, list and revoke the keys of a key file."""

import os
import re
import shlex
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Final

import click
import msgspec
from msgspec import UNSET

from service.access.api_key import KEY_PREFIX, PUBLIC_PREFIX, digest, new_key, parse_website
from service.access.key_file import (
    NAME_PATTERN,
    Change,
    KeyEntry,
    KeyFileError,
    KeyFileMissing,
    add_key,
    change_keys,
    read_content,
    read_keys,
    revoke_key,
    whole_seconds,
)
from service.access.token_bucket import MAX_REQUESTS, parse_rate
from service.commands import ENVIRONMENT_PREFIX
from service.model.kinds import format_instant, parse_instant

_key_file: Final = click.option(
    "--key-file",
    metavar="FILE",
    envvar=f"{ENVIRONMENT_PREFIX}KEY_FILE",
    show_envvar=True,
    required=True,
    type=click.Path(readable=False, path_type=Path),
    help="Key file: it holds the keys' hashes.",
)


_COLUMNS: Final = (
    *("name", "id", "state", "rate", "burst", "created_at", "expires_at", "revoked_at", "per_client", "origins"),
)
# The default rate of each client of a public key, and no rate.
_PER_CLIENT, _NONE = "120/min", "none"


def key_file_error(file: Path, why: KeyFileError) -> click.ClickException:
    """Return the error for a key file that is missing or damaged."""
    command = f"store-directory keys new --key-file {shlex.quote(str(file))} --name NAME"
    what_to_do = f"repair it, or move it away and create one with `{command}`"
    if isinstance(why, KeyFileMissing):
        folder = Path(os.path.realpath(file)).parent
        make_folder = "" if folder.is_dir() else f"mkdir -p -m 700 {shlex.quote(str(folder))} && "
        what_to_do = f"create one with `{make_folder}{command}`"
    return click.ClickException(f"the key file {file}: {why}; {what_to_do}")


def _parse_expiry(_context: click.Context, _option: click.Parameter, text: str | None) -> datetime | None:
    """Return the date-time in UTC, midnight for a date; raise a usage error if it is invalid or in the past."""
    if text is None:
        return None
    time = parse_instant(text)
    if time is None:
        raise click.BadParameter("not a date (2027-01-01) or date-time (2027-01-01T12:00:00Z)")
    if time <= datetime.now(UTC):
        raise click.BadParameter("this is in the past")
    return whole_seconds(time.astimezone(UTC))


def _check_name(_context: click.Context, _param: click.Parameter, name: str) -> str:
    """Return the name of a key; raise a usage error if it is invalid."""
    if re.match(NAME_PATTERN, name) is None:
        raise click.BadParameter(
            "not a valid name: up to 64 ASCII letters, digits, . _ @ or -, the first a letter or digit; not sd_…"
        )
    return name


def _parse_origins(_context: click.Context, _option: click.Parameter, texts: tuple[str, ...]) -> tuple[str, ...]:
    """Return the origins as browsers write them; raise a usage error if one is invalid."""
    try:
        return tuple(dict.fromkeys(map(parse_website, texts)))
    except ValueError as error:
        raise click.BadParameter(str(error)) from error


@click.group()
def keys() -> None:
    """Create, list and revoke the API keys of a file, for `serve --key-file FILE`.

    The file contains only hashes of the keys. A running service applies a change within a second.
    """


@keys.command()
@_key_file
@click.option(
    "--name", metavar="NAME", callback=_check_name, required=True, help="Name of the key's owner, for logs and lists."
)
@click.option("--rate", metavar="N/PERIOD", help="Accept N requests per s, min, h or d: 100/s.  [default: unlimited]")
@click.option(
    "--burst", metavar="N", type=click.IntRange(1, MAX_REQUESTS), help="Accept N at once.  [default: N of --rate]"
)
@click.option(
    "--expires",
    metavar="DATE",
    callback=_parse_expiry,
    help="Expire the key at this date (midnight UTC) or date-time.  [default: never]",
)
@click.option("--public", is_flag=True, help="Create a public key: it is only for pages of its origins.")
@click.option(
    "--origin",
    "origins",
    metavar="ORIGIN",
    multiple=True,
    callback=_parse_origins,
    help="Accept the public key from this website: https://shop.example, or https://*.shop.example. Repeatable.",
)
@click.option(
    "--per-client",
    metavar="N/PERIOD|none",
    help=f"Accept N requests per period from each address with the public key.  [default: {_PER_CLIENT}]",
)
def new(  # noqa: PLR0913 - an argument for each option
    *,
    key_file: Path,
    name: str,
    rate: str | None,
    burst: int | None,
    expires: datetime | None,
    public: bool,
    origins: tuple[str, ...],
    per_client: str | None,
) -> None:
    """Create a key and print it on standard output. It is shown only once: the file has only its hash.

    The file is created if it does not exist.
    """
    from service.model.operation import KEY_HEADER, KEY_PARAMETER  # noqa: PLC0415 - other commands do without its imports

    _check_rate("--rate", rate, burst)
    if public != bool(origins) or (per_client and not public):
        raise click.UsageError("--public needs --origin, and only a public key has --origin and --per-client")
    per_client = per_client or (_PER_CLIENT if public else _NONE)
    if per_client != _NONE:
        _check_rate("--per-client", per_client)
    key, now = new_key(PUBLIC_PREFIX if public else KEY_PREFIX), whole_seconds(datetime.now(UTC))
    entry = KeyEntry(
        name=name,
        sha256=digest(key).hex(),
        created_at=now,
        expires_at=expires,
        rate=rate,
        burst=burst,
        origins=origins or UNSET,
        per_client=UNSET if per_client == _NONE else per_client,
    )
    _change(key_file, partial(add_key, entry=entry))
    try:
        click.echo(key)
    except OSError as error:
        raise click.ClickException(f"{error.strerror}: the key could not be printed, so revoke {name}") from error
    place = f"parameter {KEY_PARAMETER}: anyone can read it in your pages" if public else f"header {KEY_HEADER}"
    click.echo(f"This is the key of {name}; it is shown only once. Send it in the {place}.", err=True)


@keys.command("list")
@_key_file
@click.option("--json", "as_json", is_flag=True, help="Print the list as JSON.")
def list_keys(key_file: Path, *, as_json: bool) -> None:
    """List the keys of a file, including revoked ones."""
    try:
        entries = read_keys(read_content(key_file))
    except KeyFileError as bad:
        raise key_file_error(key_file, bad) from bad
    now = datetime.now(UTC)
    listed = [_listed(entry, now) for entry in entries]
    click.echo(msgspec.json.encode(listed) if as_json else "\n".join(_lines(listed)))


@keys.command()
@_key_file
@click.argument("name", callback=_check_name)
def revoke(key_file: Path, name: str) -> None:
    """Revoke the key NAME. It remains in the list, and a new key may have its name."""
    _change(key_file, partial(revoke_key, name=name), exists=True)
    click.echo(f"{name} is revoked")


def _check_rate(option: str, rate: str | None, burst: int | None = None) -> None:
    if rate is None and burst is not None:
        raise click.UsageError("--burst needs --rate")
    try:
        if rate is not None:
            parse_rate(rate, burst)
    except ValueError as error:
        raise click.UsageError(f"{option}: {error}") from error


def _change(file: Path, change: Change, *, exists: bool = False) -> None:
    try:
        if exists:
            read_content(file)
        change_keys(file, change)
    except KeyFileMissing as none:
        raise key_file_error(file, none) from none
    except KeyFileError as bad:
        raise click.ClickException(f"the key file {file} was not changed: {bad}") from bad


def _listed(entry: KeyEntry, now: datetime) -> dict[str, object]:
    burst = entry.limit.burst if entry.limit is not None else None
    unset = {"per_client": entry.per_client or None, "origins": entry.origins or ()}
    return {name: getattr(entry, name) for name in _COLUMNS} | {"state": entry.state(now), "burst": burst} | unset


def _lines(keys: Iterable[dict[str, object]]) -> Iterator[str]:
    header = tuple(name.upper().removesuffix("_AT") for name in _COLUMNS)
    rows = [header, *(tuple(map(_cell, key.values())) for key in keys)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def _cell(value: object) -> str:
    if isinstance(value, datetime):
        return format_instant(value)
    if isinstance(value, tuple):
        return ",".join(value) or "-"
    return "-" if value is None else str(value)
