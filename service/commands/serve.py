"""`store-directory serve`: the service."""

import shlex
import signal
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import click
import msgspec
import uvloop

from service.bundled import bundled_folder
from service.commands.access_file import STANDARD_OUTPUT, checked_access_log
from service.commands.announcement import Announcement
from service.commands.authentication import (
    check_keys,
    settle_authentication,
    tell_of_keys,
    warn_of_open_address,
)
from service.commands.cache import NoCache, cache_folder, run_workspace
from service.commands.descriptors import TooFewDescriptors, room_for
from service.commands.listen import CannotListen, Listener, bind, split_address
from service.commands.logs import start_log
from service.commands.options import (
    Address,
    Count,
    Seconds,
    Share,
    bad_setting,
    given_as,
    option,
    use_file,
    warn_of_unknown_variables,
)
from service.commands.refusal import refusal
from service.commands.run import Plan, Sockets, run
from service.commands.unix import bind_unix
from service.keys.following import Follower
from service.keys.key import new_key
from service.keys.principal import given_principals
from service.keys.ring import Ring
from service.loading.acceptance import Invalid
from service.replica.seat import lone_seat
from service.replica.workspace import Workspace
from service.settings import HIGHEST_PORT, MOST_MEBIBYTES, Settings, make_settings
from service.source.choice import choose_source
from service.source.source import Rejected
from service.web.auth import anybody, recognising
from service.web.connections.limits import Limits
from service.web.forwarding import read_forwarding
from service.web.policy import Policy, read_origin


@click.command(context_settings={"allow_extra_args": True})
@option(
    "--config",
    type=click.Path(readable=False, path_type=Path),
    callback=use_file,
    is_eager=True,
    expose_value=False,
    help="A TOML file of settings.",
)
@option(
    "--data",
    metavar="DIR|FILE|URL",
    help="Folder of the data set, a baked file, or the URL of one.  [default: the bundled data]",
)
@option("--host", help=f"Address to listen on.  [default: {Settings().host}]")
@option("--port", type=click.IntRange(0, HIGHEST_PORT), help=f"Port; 0 takes a free one.  [default: {Settings().port}]")
@option("--uds", metavar="PATH", help="Listen on a Unix socket at this path, instead of host and port.")
@option("--admin", type=Address(), help="Listen here for /health, /ready and /metrics, and not in public.")
@option("--api-key", multiple=True, help="A key that is let in; may be given again.  [default: made for this run]")
@option("--key-file", metavar="FILE", help="A file of keys that are let in, made by `keys new`; it is followed.")
@option("--no-auth", is_flag=True, default=None, help="Let anybody in.")
@option(
    "--invalid",
    type=click.Choice([each.value for each in Invalid]),
    help="What to do about records at fault.  [default: refuse]",
)
@option(
    "--min-stores",
    metavar="N",
    type=click.IntRange(0),
    help=f"Refuse data with fewer stores.  [default: {Settings().min_stores}]",
)
@option(
    "--max-skipped",
    type=Share(),
    help=f"Refuse data if more than this share of its records would be skipped.  [default: {Settings().max_skipped:g}]",
)
@option(
    "--max-shrink",
    type=Share(),
    help="Refuse a reload that loses more than this share of the stores or of the companies.  "
    f"[default: {Settings().max_shrink:g}]",
)
@option("--workers", type=Count(), help=f"Processes that answer; auto is one a core.  [default: {Settings().workers}]")
@option(
    "--poll",
    type=Seconds(positive=True),
    help=f"Look at the data this often where nothing tells of a change.  [default: {Settings().poll:g}]",
)
@option(
    "--max-stale", type=Seconds(positive=True), help="Answer /ready with 503 where the data is unconfirmed for so long."
)
@option(
    "--drain",
    type=Seconds(),
    help=f"After SIGTERM answer on for so long, /ready with 503.  [default: {Settings().drain:g}]",
)
@option(
    "--cache", metavar="DIR", help="Folder for compiled data and the last good copy of a URL.  [default: the user's]"
)
@option("--cache-control", metavar="VALUE", help=f"Of answers from the data.  [default: {Settings().cache_control}]")
@option("--cors-origin", metavar="ORIGIN", multiple=True, help="Let pages of this origin read answers; * is any.")
@option(
    "--encoded-cache",
    metavar="MIB",
    type=click.IntRange(0, MOST_MEBIBYTES),
    help=f"Compressed answers from the data that each process keeps; 0 is none.  [default: {Settings().encoded_cache}]",
)
@option("--access-log", metavar="FILE", help="Write a line of JSON for each request; - is standard output.")
@option("--log-format", type=click.Choice(["text", "json"]), help=f"Of the log.  [default: {Settings().log_format}]")
@option("--server-timing", is_flag=True, default=None, help="Tell with each answer how long it took.")
@option("--rate-store", metavar="URL", help="A Redis that keeps the rates of keys for all processes.")
@option("--rate-limit-fields", is_flag=True, default=None, help="Tell with answers what is left of a key's rate.")
@option(
    "--trusted-proxy",
    metavar="NETWORK|unix",
    multiple=True,
    help="Believe this proxy about who asks; may be given again; unix is any on a Unix socket.",
)
@option(
    "--max-connections",
    metavar="N",
    type=click.IntRange(1),
    help=f"Take so many connections, each process.  [default: {Limits().connections}, or what descriptors allow]",
)
@click.pass_context
def serve(context: click.Context, /, **given: Any) -> None:
    """Serve a data set over HTTP, and follow its source: on a change, and on SIGHUP.

    An option stands before its environment variable, that before the settings file.
    """
    if context.args:
        raise click.UsageError(f"a data set is given with an option: serve --data {shlex.quote(context.args[0])}")
    settle_authentication(context, given)
    named = ("data", "host", "uds", "key_file", "cache", "cache_control", "access_log", "rate_store")
    if empty := [name for name in named if given[name] == ""]:
        raise bad_setting(empty[0], "it is empty")
    settings = make_settings({name: value for name, value in given.items() if value not in (None, ())})
    check_keys(settings)
    if settings.rate_store:
        _check_rate_store(settings.rate_store)
    settings = _with_room(settings)
    policy = _policy(settings)
    start_log(as_json=settings.log_format == "json")
    warn_of_unknown_variables(context)
    tell_of_keys(settings)
    try:
        cache = cache_folder(settings.cache)
        with _access_log(settings), run_workspace(cache) as work:
            _serve(settings, policy, cache, work)
    except (CannotListen, NoCache) as error:
        raise click.ClickException(str(error)) from error


def _serve(settings: Settings, policy: Policy, cache: Path, work: Workspace) -> None:
    try:
        source = choose_source(_data(settings), invalid=settings.invalid, cache=cache)
    except ValueError as error:
        raise bad_setting("data", error) from error
    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # until there is something to take anew
    several = settings.processes > 1
    admin = bind(*split_address(settings.admin), shared=several, admin=True) if settings.admin else Listener()
    public = bind_unix(settings.uds) if settings.uds else bind(settings.host, settings.port, shared=several)
    if settings.no_auth:
        warn_of_open_address(public)
    made_key = None if settings.no_auth or settings.api_key or settings.key_file else new_key()
    ring = Ring(given_principals((made_key,) if made_key else settings.api_key))
    follower = Follower(Path(settings.key_file), work.keys, ring) if settings.key_file else None
    tells = Announcement(
        public=public.place,
        admin=admin.place,
        url=public.url,
        made_key=made_key,
        open_to_all=settings.no_auth,
        aside=settings.access_log == STANDARD_OUTPUT,
    )
    plan = Plan(
        settings=settings,
        source=source,
        workspace=work,
        authenticate=anybody if settings.no_auth else recognising(ring),
        follower=follower,
        policy=msgspec.structs.replace(policy, keys_sound=follower.is_sound) if follower is not None else policy,
        announcement=tells,
    )
    try:
        if several:
            from service.commands.workers import run_workers  # noqa: PLC0415 - one process needs no gunicorn

            run_workers(plan, public, admin)
        else:
            uvloop.run(run(plan, lone_seat(), Sockets(public.sockets, admin.sockets)))
    except Rejected as rejected:
        raise refusal(source.name, rejected, rejected.cause) from rejected
    finally:
        public.leave()


@contextmanager
def _access_log(settings: Settings) -> Iterator[None]:
    with ExitStack() as held:
        try:
            held.enter_context(checked_access_log(settings.access_log))
        except OSError as error:
            raise click.ClickException(f"{given_as('access_log')}: {settings.access_log}: {error.strerror}") from error
        yield


def _data(settings: Settings) -> str:
    return settings.data or str(bundled_folder())


def _with_room(settings: Settings) -> Settings:
    try:
        return msgspec.structs.replace(settings, max_connections=room_for(settings.max_connections))
    except TooFewDescriptors as error:
        raise bad_setting("max_connections", error) from error


def _policy(settings: Settings) -> Policy:
    if not settings.cache_control.isascii() or not settings.cache_control.isprintable():
        raise bad_setting("cache_control", "a header field takes printable ASCII only")
    try:
        origins = frozenset(map(read_origin, settings.cors_origin))
    except ValueError as error:
        raise bad_setting("cors_origin", error) from error
    try:
        forwarding = read_forwarding(settings.trusted_proxy)
    except ValueError as error:
        raise bad_setting("trusted_proxy", error) from error
    return Policy(
        cache_control=settings.cache_control,
        origins=origins,
        needs_key=not settings.no_auth,
        encoded_bytes=settings.encoded_cache << 20,
        server_timing=settings.server_timing,
        rates=bool(settings.key_file),
        rate_fields=settings.rate_limit_fields,
        rate_store=settings.rate_store,
        processes=settings.processes,
        forwarding=forwarding,
    )


def _check_rate_store(url: str) -> None:
    from service.rates.store import Store  # noqa: PLC0415 - of few runs

    try:
        Store(url)
    except ValueError as error:
        raise bad_setting("rate_store", error) from error
    except ImportError as error:
        raise bad_setting("rate_store", "it needs a package: pip install 'redis>=7,<8'") from error
