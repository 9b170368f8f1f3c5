"""The settings of authentication: API keys, key file, or none."""

import logging
from collections.abc import Iterable
from pathlib import Path
from time import time
from typing import Any

import click
from click.core import ParameterSource

from service.access.api_key import is_mistyped
from service.access.key_entries import KeyFileError, read_keys
from service.access.key_file import is_open_to_others, read_content
from service.access.keyring import unrevoked, valid_count
from service.commands.command_errors import key_file_error
from service.commands.options import setting_source
from service.server.listener import Listener
from service.settings import Settings

_log = logging.getLogger(__name__)


def resolve_authentication(context: click.Context, values: dict[str, Any]) -> None:
    """Unset the keys or `no_auth`, whichever has lower precedence; raise a usage error if both have the same."""
    keys = [name for name in ("api_key", "key_file") if values[name]]
    if values["no_auth"] and keys:
        order = list(ParameterSource)  # the strongest first
        ranks = {name: order.index(context.get_parameter_source(name) or order[-1]) for name in ("no_auth", *keys)}
        best = min(ranks[name] for name in keys)
        if ranks["no_auth"] == best:
            raise click.UsageError(
                "--no-auth accepts requests without a key: use it or --api-key and --key-file, not both"
            )
        values |= dict.fromkeys(keys if ranks["no_auth"] < best else ["no_auth"])


def check_keys(keys: Iterable[str]) -> None:
    """Raise ValueError for a key that cannot be sent in a header."""
    for key in keys:
        if not key or not key.isascii() or not key.isprintable() or key != key.strip():
            raise ValueError("a key is printable ASCII without surrounding spaces: clients send it in a header")


def warn_about_keys(settings: Settings) -> None:
    """Log warnings about mistyped keys and a key file's mode. Raises ClickException for a damaged key file."""
    for number, key in enumerate(settings.api_key, start=1):
        if is_mistyped(key):
            _log.warning(
                "%s: key %d looks like a key of `keys new` but is mistyped or truncated",
                setting_source("api_key"),
                number,
            )
    if settings.key_file:
        file = Path(settings.key_file)
        try:
            entries = read_keys(read_content(file)[0])
            if is_open_to_others(file):
                _log.warning(
                    "the key file %s is accessible to every user of this machine: restrict it with chmod o=", file
                )
        except KeyFileError as bad:
            raise key_file_error(file, bad) from bad
        if not valid_count(unrevoked(entries), time()):
            _log.warning("the key file %s has no valid key: create one with `store-directory keys new`", file)


def warn_of_open_address(public: Listener) -> None:
    """Log a warning if the service needs no key on an address that other machines can reach."""
    if not public.is_local:
        _log.warning("--no-auth: any client that can reach %s can read the data without a key", public.address)
