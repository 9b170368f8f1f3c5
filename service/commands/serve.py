"""`store-directory serve`: the service."""

import asyncio
import logging
import math
import re
import shlex
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import time
from typing import Any, Final

import click
import msgspec
import uvloop
from click.core import ParameterSource

from service import __version__
from service.access.api_key import PUBLIC_PREFIX, credential, is_mistyped, new_key, redacted, static_principals
from service.access.key_file import KeyEntry, KeyFileError, is_open_to_others, read_content, read_keys
from service.access.keyring import Keyring, unrevoked, valid_count
from service.baking.layout import FORMAT
from service.commands import ENVIRONMENT_PREFIX, options
from service.commands.keys import key_file_error
from service.dataset import Rejected
from service.publishing.cache_folder import NoCache, cache_folder, run_workspace
from service.publishing.choice import choose_source
from service.publishing.local_source import FolderSource
from service.publishing.source import Source, Unavailable
from service.publishing.worker_slots import single_slot
from service.publishing.workspace import Workspace
from service.server import listener
from service.server.console import StartupMessage, service_manager
from service.server.log import checked_access_log, shown_progress, start_log
from service.server.process import ServeSetup, run
from service.settings import IMAGE_TYPES, Settings, parse_origin, tiles_origin
from service.web.http.forwarded import parse_trusted_proxies

_log = logging.getLogger(__name__)

_COLOUR: Final = re.compile(r"#(?:[0-9A-Fa-f]{3}){1,2}")
_READABLE: Final = 4.5  # contrast of a text to what is behind it (WCAG 2.2, 1.4.3)


def _check_key(key: str) -> None:
    if not key.isascii() or not key.isprintable() or key != key.strip():
        raise ValueError("a key is printable ASCII without surrounding spaces: clients send it in a header")
    if key.startswith(PUBLIC_PREFIX):
        raise ValueError("a public key needs the origins of its websites, which a --key-file has")


def _check_rate_store(url: str) -> None:
    from service.access.rate_limiter import RedisLimiter  # noqa: PLC0415 - few runs need it

    try:
        RedisLimiter(url)
    except ImportError as error:
        raise ValueError("this needs the package redis: pip install 'redis>=7,<9'") from error


def _check_field(value: str) -> None:
    if not value.isascii() or not value.isprintable():
        raise ValueError("a header field may contain printable ASCII only")


def _check_logo(file: str) -> None:
    if Path(file).suffix.lower().removeprefix(".") not in IMAGE_TYPES or not Path(file).is_file():
        raise ValueError(f"{file!r} is no file that ends with .svg, .png, .jpg or .webp")


def _check_colour(text: str) -> None:
    if _COLOUR.fullmatch(text) is None:
        raise ValueError(f"{text!r} is no colour: write it as #0f6b5c")


def _contrast_to_white(colour: str) -> float:
    """Return the contrast of a colour to white (WCAG 2.2), without the linear part of black."""
    digits = colour[1:] if len(colour) > len("#rgb") else "".join(2 * digit for digit in colour[1:])
    red, green, blue = (math.pow((channel / 255 + 0.055) / 1.055, 2.4) for channel in bytes.fromhex(digits))
    return 1.05 / (0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05)


# By the name of a setting, what raises ValueError for a text that it does not accept.
_CHECKS: Final[Mapping[str, Callable[[str], object]]] = {
    "admin": listener.split_address,
    "api_key": _check_key,
    "rate_store": _check_rate_store,
    "cors_origin": parse_origin,
    "tiles": tiles_origin,
    "accent": _check_colour,
    "logo": _check_logo,
    "frame_ancestors": lambda text: parse_origin(text, "http", "https"),
    "image_origin": lambda text: parse_origin(text, "https"),
    "trusted_proxy": lambda text: parse_trusted_proxies([text]),
    "cache_control": _check_field,
}


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


def warn_about_keys(settings: Settings) -> None:
    """Log warnings about mistyped, missing and public keys, and the mode of the key file.

    Raises ClickException for a damaged key file.
    """
    entries: Sequence[KeyEntry] = ()
    for number, key in enumerate(settings.api_key, start=1):
        if is_mistyped(key):
            source = options.setting_source("api_key")
            _log.warning("%s: key %d looks like a key of `keys new` but is mistyped or truncated", source, number)
    if settings.key_file:
        file = Path(settings.key_file)
        try:
            entries = read_keys(read_content(file))
            if is_open_to_others(file):
                _log.warning(
                    "the key file %s is accessible to every user of this machine: restrict it with chmod o=", file
                )
        except KeyFileError as bad:
            raise key_file_error(file, bad) from bad
        if not valid_count(unrevoked(entries), time()):
            _log.warning("the key file %s has no valid key: create one with `store-directory keys new`", file)
    if settings.explorer_key and not settings.no_auth:
        of_page = unrevoked(entries).get(credential(settings.explorer_key))
        if of_page is None or of_page.expires_at <= time() or not of_page.origins:
            _log.warning("the public page shows no stores: its --explorer-key is no valid public key of --key-file")


def warn_about_contrast(accent: str) -> None:
    """Log a warning if texts in the colour of the public page, or on it, are hard to read."""
    if accent and (contrast := _contrast_to_white(accent)) < _READABLE:
        _log.warning("--accent: the contrast of %s to white is %.1f, texts need %s", accent, contrast, _READABLE)


@click.command(
    cls=options.SectionedCommand,
    params=[
        click.Option(
            ["--config"],
            metavar="FILE",
            type=click.Path(readable=False, path_type=Path),
            callback=options.load_settings_file,
            is_eager=True,
            expose_value=False,
            help="Read settings from this TOML file.",
        ),
        click.Option(
            ["--check"],
            is_flag=True,
            allow_from_autoenv=False,
            help="Check settings, addresses, keys and data, and end without serving.",
        ),
        *options.SETTINGS.values(),
    ],
    context_settings={"allow_extra_args": True, "auto_envvar_prefix": ENVIRONMENT_PREFIX.rstrip("_")},
)
@click.pass_context
def serve(context: click.Context, /, *, check: bool, **values: Any) -> None:
    """Serve a data set over HTTP. Reload it when its source changes, and on SIGHUP.

    Each option can also be set as an environment variable, STORE_DIRECTORY_PORT for --port, and as a key of the
    settings file. Precedence: command-line option, environment variable, settings file.
    """
    if context.args:
        raise click.UsageError(
            f"unexpected argument: use an option for the data set, serve --data {shlex.quote(context.args[0])}"
        )
    resolve_authentication(context, values)
    settings = options.make_settings(values)
    _check(settings)
    with options.setting_errors("max_connections", listener.TooFewDescriptors):
        settings = msgspec.structs.replace(
            settings, max_connections=listener.raise_descriptor_limit(settings.max_connections)
        )
    start_log(as_json=settings.log_format == "json")
    _log.info("store-directory %s, which reads baked files of the format %r", __version__, FORMAT)
    options.warn_of_unknown_variables(context)
    with _logged_errors(settings):
        warn_about_keys(settings)
        warn_about_contrast(settings.accent)
        cache = cache_folder(settings.cache)
        try:
            checked = checked_access_log(settings.access_log)
        except OSError as error:
            source = options.setting_source("access_log")
            raise click.ClickException(f"{source}: {settings.access_log}: {error.strerror}") from error
        with checked, run_workspace(cache) as work:
            _serve(settings, cache, work, is_trial=check)


@contextmanager
def _logged_errors(settings: Settings) -> Iterator[None]:
    """Turn errors of the start into those of the command; if the log is JSON, into a line of it."""
    try:
        try:
            yield
        except (listener.CannotListen, NoCache, Unavailable) as error:
            raise click.ClickException(str(error)) from error
    except click.ClickException as error:
        if settings.log_format != "json":
            raise
        _log.critical("%s", redacted(error.message))
        raise SystemExit(error.exit_code) from error


def _serve(settings: Settings, cache: Path, work: Workspace, *, is_trial: bool) -> None:
    data = settings.data or str(options.bundled_folder("datasets"))
    with options.setting_errors("data"):
        source = choose_source(data, settings, cache)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # until there is a source to reload
    public, admin = _listen(settings, source)
    if settings.no_auth and not public.is_local:
        _log.warning("--no-auth: any client that can reach %s can read the data without a key", public.address)
    made_key = None if settings.no_auth or settings.api_key or settings.key_file else new_key()
    static = static_principals((made_key,) if made_key else settings.api_key)
    setup = ServeSetup(
        settings=settings,
        source=source,
        workspace=work,
        keyring=Keyring(static, Path(settings.key_file), work.key_backup),
        announcement=StartupMessage(settings=settings, public=public, admin=admin, made_key=made_key),
        manager=service_manager(),
    )
    try:
        if is_trial:
            asyncio.run(_try(source, settings, work))
        elif settings.processes > 1:
            from service.server.workers import run_workers  # noqa: PLC0415 - one process needs no gunicorn

            run_workers(setup, public, admin)
        else:
            uvloop.run(run(setup, single_slot(), public, admin))
    except Rejected as rejected:
        raise options.dataset_error(source.name, rejected) from rejected
    finally:
        public.clean_up()


async def _try(source: Source, settings: Settings, work: Workspace) -> None:
    """Fetch and check the data as at a start, and print what would be served. Raises `Rejected` and `Unavailable`."""
    with shown_progress() as progress:
        fetched = await source.fetch(work.new_file(), known="", check=settings.safeguards.check, progress=progress)
    if fetched is not None:
        for note in fetched.notes:
            _log.warning("%s", note)
        totals = fetched.summary.totals
        click.echo(f"Settings and data are valid: {totals.stores:,} stores, {totals.companies:,} companies")


def _listen(settings: Settings, source: Source) -> tuple[listener.Listener, listener.Listener]:
    """Bind the public and the admin address. Raises `CannotListen` for both at once, and for data that is missing."""
    several, problems = settings.processes > 1, list[str]()
    public = admin = listener.Listener()
    try:
        if settings.admin:
            host, port = listener.split_address(settings.admin)
            admin = listener.bind((host,), port, shared=several, admin=True)
    except listener.CannotListen as error:
        problems.append(str(error))
    try:
        public = (
            listener.bind_unix(settings.uds)
            if settings.uds
            else listener.bind(settings.host, settings.port, shared=several)
        )
    except listener.CannotListen as error:
        problems.append(str(error))
    if problems:
        public.clean_up()
        raise listener.CannotListen("\n".join((*problems, *_unreadable(source))))
    return public, admin


def _unreadable(source: Source) -> Iterator[str]:
    """Yield the error of data files that cannot be opened, as loading them would report it."""
    from service.reading.diagnostics import FileError  # noqa: PLC0415 - as above
    from service.reading.files.container import open_container  # noqa: PLC0415 - to serve they are read by another process

    if isinstance(source, FolderSource):
        try:
            with options.data_errors(Path(source.name)):
                open_container(Path(source.name))
        except FileError as error:
            yield options.dataset_error(source.name, Rejected(str(error.diagnostic(source.name)))).message
        except click.ClickException as error:  # of temporary files for a large archive
            yield error.message


def _check(settings: Settings) -> None:
    """Raise a usage error for a text that a setting does not accept."""
    for name, check in _CHECKS.items():
        with options.setting_errors(name):
            value = getattr(settings, name)
            for text in (value,) if isinstance(value, str) and value else value:
                check(text)
    with options.setting_errors("tiles"):
        if settings.tiles and not settings.tiles_attribution:
            raise ValueError("tiles need --tiles-attribution, the source to name on the map")
    with options.setting_errors("explorer"):
        own = (settings.explorer_key, settings.title, settings.logo, settings.accent, settings.frame_ancestors)
        if settings.explorer != "public" and any(own):
            raise ValueError("a key, a title, a logo, an accent and frames are for --explorer public")
        has_key = settings.no_auth or settings.explorer_key.startswith(PUBLIC_PREFIX)
        if settings.explorer == "public" and not has_key:
            raise ValueError("the public page needs --explorer-key, a public key of this service's own origin")
