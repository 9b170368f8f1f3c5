"""Who `serve` is told to let in."""

import logging
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from service.access.api_key import is_mistyped
from service.access.key_entries import KeyFileError, read_keys
from service.access.key_file import is_open_to_others, read_content
from service.access.keyring import active_keys
from service.commands.options import bad_setting, setting_source
from service.commands.refusal import bad_key_file
from service.server.listener import Listener
from service.settings import Settings

_log = logging.getLogger(__name__)


def resolve_authentication(context: click.Context, given: dict[str, Any]) -> None:
    """Of keys and no authentication let what comes from nearer by stand: option, environment, file."""
    keys = [name for name in ("api_key", "key_file") if given[name]]
    if given["no_auth"] and keys:
        ranks = {name: _distance(context, name) for name in ("no_auth", *keys)}
        nearest = min(ranks[name] for name in keys)
        if ranks["no_auth"] == nearest:
            raise click.UsageError("--no-auth lets anybody in: give it or keys (--api-key, --key-file), not both")
        given |= dict.fromkeys(keys if ranks["no_auth"] < nearest else ["no_auth"])


def _distance(context: click.Context, name: str) -> int:
    return list(ParameterSource).index(context.get_parameter_source(name) or ParameterSource.DEFAULT)


def check_keys(settings: Settings) -> None:
    """Fail with a usage error where a key cannot stand in a header."""
    for key in settings.api_key:
        if not key or not key.isascii() or not key.isprintable() or key != key.strip():
            raise bad_setting("api_key", "a key is printable ASCII with no space at its ends: it goes in a header")


def warn_about_keys(settings: Settings) -> None:
    """Warn of keys that may not be what they were meant to be. Raises ClickException where a key file is damaged."""
    for number, key in enumerate(settings.api_key, start=1):
        if is_mistyped(key):
            _log.warning(
                "%s: key %d looks like one of `keys new`, but is mistyped or cut", setting_source("api_key"), number
            )
    if settings.key_file:
        file = Path(settings.key_file)
        try:
            entries = read_keys(read_content(file)[0])
            if is_open_to_others(file):
                _log.warning("the key file %s is open to everybody on this machine: chmod o= takes that away", file)
        except KeyFileError as bad:
            raise bad_key_file(file, bad) from bad
        if not active_keys(entries).principals:
            _log.warning("the key file %s has no living key: `store-directory keys new` makes one", file)


def warn_of_open_address(public: Listener) -> None:
    """Warn where no key is needed at an address that other machines may reach."""
    if not public.is_local:
        _log.warning("--no-auth: any client that can reach %s can read the data without a key", public.place)
