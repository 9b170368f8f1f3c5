"""`store-directory serve`: the service."""

import logging
import signal
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import click
import uvloop
from click.core import ParameterSource

from service.commands.announcement import announced, say
from service.commands.cache import NoCache, cache_folder
from service.commands.listen import CannotListen, listen, split_address
from service.commands.refusal import refusal
from service.commands.run import Plan, Sockets, run
from service.commands.workers import run_workers
from service.loading.acceptance import Invalid
from service.replica.seat import lone_seat
from service.replica.workspace import Workspace, workspace
from service.settings import BadSettings, Settings, environment_name, make_settings, read_settings
from service.source.choice import choose_source
from service.source.source import Rejected
from service.web.auth import anybody, keyring, new_key

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


def _seconds(name: str, text: str) -> Callable[[_Command], _Command]:
    return _option(name, type=click.FloatRange(0), metavar="SECONDS", help=text)


class _Count(click.ParamType[Any]):
    """A number of processes, or "auto"."""

    name = "N|auto"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number, or "auto"; fail with a usage error otherwise."""
        return value if value == "auto" else click.IntRange(1).convert(value, param, ctx)


class _Address(click.ParamType[str]):
    """HOST:PORT."""

    name = "HOST:PORT"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the text as it is; fail with a usage error where it is no address."""
        try:
            split_address(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)
        return str(value)


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
    metavar="DIR|FILE|URL",
    help="Folder of the data set, a baked file, or the URL of one.  [default: the bundled data]",
)
@_option("--host", help=f"Address to listen on.  [default: {Settings().host}]")
@_option("--port", type=click.IntRange(0, 65535), help=f"Port; 0 takes a free one.  [default: {Settings().port}]")
@_option("--admin", type=_Address(), help="Listen here for /health, /ready and /metrics, and not in public.")
@_option("--api-key", multiple=True, help="A key that is let in; may be given again.  [default: made for this run]")
@_option("--no-auth", is_flag=True, default=None, help="Let anybody in.")
@_option(
    "--invalid",
    type=click.Choice([each.value for each in Invalid]),
    help="What to do about records at fault.  [default: refuse]",
)
@_option(
    "--workers", type=_Count(), help=f"Processes that answer; auto is one a core.  [default: {Settings().workers}]"
)
@_seconds("--poll", f"Look at the data this often where nothing tells of a change.  [default: {Settings().poll:g}]")
@_seconds("--max-stale", "Answer /ready with 503 where the data could not be confirmed for so long.")
@_seconds("--drain", f"After SIGTERM answer on for so long, /ready with 503.  [default: {Settings().drain:g}]")
@_option(
    "--cache", metavar="DIR", help="Folder for compiled data and the last good copy of a URL.  [default: the user's]"
)
@click.pass_context
def serve(context: click.Context, /, **given: Any) -> None:
    """Serve a data set over HTTP, and follow its source: on a change, and on SIGHUP.

    An option stands before its environment variable, that before the settings file.
    """
    _settle_authentication(context, given)
    if empty := [name for name in ("data", "host", "cache") if given[name] == ""]:
        raise click.UsageError(f"--{empty[0]}: it is empty")
    settings = make_settings({name: value for name, value in given.items() if value not in (None, ())})
    _check_keys(settings)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s", stream=sys.stderr)
    logging.getLogger("watchfiles").setLevel(logging.WARNING)
    try:
        with workspace(cache_folder(settings.cache)) as work:
            _serve(settings, work)
    except CannotListen as error:
        raise click.ClickException(str(error)) from error
    except NoCache as error:
        raise click.ClickException(f"{error}; --cache names another folder") from error
    except Rejected as rejected:
        raise refusal(settings.data, rejected, of_records=rejected.of_records) from rejected


def _serve(settings: Settings, work: Workspace) -> None:
    try:
        source = choose_source(settings.data, invalid=settings.invalid, cache=work.folder.parent)
    except ValueError as error:
        raise click.UsageError(f"--data: {error}") from error
    for number in (signal.SIGINT, signal.SIGTERM):  # until whoever answers listens to them
        signal.signal(number, lambda *_: sys.exit())
    public = listen(settings.host, settings.port)
    admin = listen(*split_address(settings.admin)) if settings.admin else None
    say(f"Listening on {public.url}")
    if admin is not None:
        say(f"Probes and metrics on {admin.url}")
    made_key = None if settings.no_auth or settings.api_key else new_key()
    authenticate = anybody if settings.no_auth else keyring(settings.api_key or (made_key or "",))
    announce = partial(announced, address=public.url, made_key=made_key, open_to_all=settings.no_auth)
    plan = Plan(settings=settings, source=source, workspace=work, authenticate=authenticate, announce=announce)
    if settings.processes > 1:
        run_workers(plan, public, admin)
    else:
        sockets = Sockets(public.sockets, admin.sockets if admin else ())
        uvloop.run(run(plan, lone_seat(), sockets))


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
