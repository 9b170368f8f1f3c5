"""`store-directory serve`: the service."""

import logging
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click
import uvloop
from click.core import ParameterSource

from service.commands.refusal import refusal
from service.commands.run import CannotListen, run
from service.replica import Invalid, Refused
from service.settings import BadSettings, Settings, environment_name, make_settings, read_settings

_Command = TypeVar("_Command", bound=Callable[..., object])


def _use_file(context: click.Context, _: click.Parameter, file: Path | None) -> None:
    """Let a settings file stand behind the options and the environment."""
    if file is not None:
        try:
            context.default_map = read_settings(file)
        except BadSettings as error:
            raise click.UsageError(str(error)) from error


def _option(*names: str, **attributes: Any) -> Callable[[_Command], _Command]:
    """Return an option that is an environment variable too."""
    return click.option(*names, envvar=environment_name(names[0].lstrip("-")), show_envvar=True, **attributes)


@click.command()
@_option(
    "--config",
    type=click.Path(readable=False, path_type=Path),
    callback=_use_file,
    is_eager=True,
    expose_value=False,
    help="A TOML file of settings.",
)
@_option(
    "--data",
    type=click.Path(readable=False),
    help="Folder of the data set, or a baked file.  [default: the bundled data]",
)
@_option("--host", help=f"Address to listen on.  [default: {Settings().host}]")
@_option("--port", type=click.IntRange(0, 65535), help=f"Port; 0 takes a free one.  [default: {Settings().port}]")
@_option("--api-key", multiple=True, help="A key that is let in; may be given again.  [default: made for this run]")
@_option("--no-auth", is_flag=True, default=None, help="Let anybody in.")
@_option(
    "--invalid",
    type=click.Choice([each.value for each in Invalid]),
    help="What to do about records at fault.  [default: refuse]",
)
@click.pass_context
def serve(context: click.Context, /, **given: Any) -> None:
    """Serve a data set over HTTP.

    An option stands before its environment variable, that before the settings file.
    """
    _settle_authentication(context, given)
    if empty := [name for name in ("data", "host") if given[name] == ""]:
        raise click.UsageError(f"--{empty[0]}: it is empty")
    settings = make_settings({name: value for name, value in given.items() if value not in (None, ())})
    _check_keys(settings)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s", stream=sys.stderr)
    try:
        uvloop.run(run(settings))
    except Refused as refused:
        raise refusal(settings.data, refused) from refused
    except CannotListen as error:
        raise click.ClickException(str(error)) from error


def _settle_authentication(context: click.Context, given: dict[str, Any]) -> None:
    """Of keys and no authentication let the one stand that comes from nearer by: option, environment, file."""
    if given["no_auth"] and given["api_key"]:
        ranks = {name: context.get_parameter_source(name) for name in ("no_auth", "api_key")}
        if ranks["no_auth"] is ranks["api_key"]:
            raise click.UsageError("--no-auth lets anybody in: give it or --api-key, not both")
        farther = max(ranks, key=lambda name: list(ParameterSource).index(ranks[name] or ParameterSource.DEFAULT))
        given[farther] = None


def _check_keys(settings: Settings) -> None:
    for key in settings.api_key:
        if not key or not key.isascii() or not key.isprintable() or key != key.strip():
            raise click.UsageError("--api-key: a key is printable ASCII with no space at its ends: it goes in a header")
