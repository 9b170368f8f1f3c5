"""The settings of `serve`, each declared once.

A field of `Settings` declares name, type, range, default and help text. The command-line option, the environment
variable, the key of the settings file, error messages and `serve --help` are all derived from it.
"""

import os
import re
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Annotated, Any, Final, Literal, TypeAlias

import msgspec
from msgspec import inspect

from service.dataset import InvalidRecords, ReadOptions, Safeguards

ENVIRONMENT_PREFIX: Final = "STORE_DIRECTORY_"
Group: TypeAlias = Literal["Data", "Listening", "Access", "Limits", "HTTP", "Logging"]
_LONGEST: Final = 100  # bits of a number that is quoted
_PARSERS: Final[dict[type[inspect.Type], Callable[[Any], Any]]] = {inspect.IntType: int, inspect.FloatType: float}


class Help(msgspec.Struct, frozen=True):
    """A setting in `--help`: its group, metavar and effect, and a default that no value expresses."""

    group: Group
    metavar: str
    effect: str
    default: str = ""


class Setting(msgspec.Struct, frozen=True):
    """A setting: its name in Python, its type, annotated with ranges and `Help`, and its default."""

    name: str
    type: Any
    default: object

    @property
    def help(self) -> Help:
        """Its description in `--help`."""
        return next(each for each in self.type.__metadata__ if isinstance(each, Help))

    @property
    def key(self) -> str:
        """Key in the settings file: `api-key`."""
        return self.name.replace("_", "-")

    @property
    def option(self) -> str:
        """Command-line option: `--api-key`."""
        return f"--{self.key}"

    @property
    def variable(self) -> str:
        """Environment variable: `STORE_DIRECTORY_API_KEY`."""
        return ENVIRONMENT_PREFIX + self.name.upper()

    @property
    def default_text(self) -> str:
        """The default in words: "8080"; "" for a flag, or if nothing is done by default."""
        if self.help.default or isinstance(self.default, bool | tuple | None):
            return self.help.default
        return f"{self.default:g}" if isinstance(self.default, float) else str(self.default)

    @property
    def types(self) -> tuple[inspect.Type, ...]:
        """The types of value: one, or several of a union; never None."""
        kind = inspect.type_info(self.type)
        kinds = kind.types if isinstance(kind, inspect.UnionType) else (kind,)
        return tuple(each for each in kinds if not isinstance(each, inspect.NoneType))

    @property
    def is_flag(self) -> bool:
        """Whether the setting is true or false."""
        return isinstance(self.types[0], inspect.BoolType)

    @property
    def is_list(self) -> bool:
        """Whether the setting takes several texts."""
        return isinstance(self.types[0], inspect.VarTupleType)

    def mismatch(self, value: object) -> str:
        """Return the error message for a value that is not accepted; it quotes no list, which may hold keys."""
        is_long = isinstance(value, int) and value.bit_length() > _LONGEST  # Python may refuse to convert it
        quotable = isinstance(value, str | int | float) and not self.is_list and not is_long
        quoted = str(value).lower() if isinstance(value, bool) else repr(value) if quotable else ""
        accepted = " or ".join(map(_describe, self.types))
        return f"must be {accepted}" + (f", not {quoted}" if quotable else "")

    def check(self, value: object) -> None:
        """Raise ValueError if a value is not accepted."""
        texts = value if isinstance(value, list) else [value]
        if any("\0" in text for text in texts if isinstance(text, str)):
            raise ValueError("a text cannot contain the character NUL")
        try:
            msgspec.convert(value, self.type)
        except msgspec.ValidationError as error:
            raise ValueError(self.mismatch(value)) from error

    def parse(self, text: Any) -> Any:
        """Return the value of a text, or of a value from the settings file; raise ValueError if it is not accepted."""
        for kind in self.types:
            with suppress(ValueError):
                value = _PARSERS.get(type(kind), str)(text)
                self.check(value)
                return value
        raise ValueError(self.mismatch(text))


def _describe(kind: inspect.Type) -> str:
    match kind:
        case inspect.BoolType():
            words = "true or false"
        case inspect.IntType(ge=least, le=most):
            words = "a whole number" + _describe_range(least, most)
        case inspect.FloatType(gt=above, ge=least, le=most):
            words = "a number" + _describe_range(least, most, above=above)
        case inspect.LiteralType(values=values):
            words = " or ".join(map(repr, values))
        case inspect.EnumType(cls=choices):
            words = " or ".join(repr(choice.value) for choice in choices)
        case inspect.VarTupleType():
            words = 'a list such as ["one", "two"]'
        case _:
            words = "a non-empty text"
    return words


def _describe_range(least: float | None, most: float | None, *, above: float | None = None) -> str:
    start = f"from {least:.0f} to" if above is None else f"above {above:.0f} and up to"
    return f" {start} {most:.0f}"


HIGHEST_PORT: Final = 65535
# Open connections of one process, unless its descriptor limit is lower.
MAX_CONNECTIONS: Final = 10_000
_YEAR_SECONDS: Final = 366 * 86_400

_MAX_CONNECTIONS: Final = f"{MAX_CONNECTIONS}, or fewer if the descriptor limit is lower"

Text: TypeAlias = Annotated[str, msgspec.Meta(min_length=1)]
Texts: TypeAlias = tuple[str, ...]
Count: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=10**9)]
PositiveCount: TypeAlias = Annotated[int, msgspec.Meta(ge=1, le=10**9)]
Port: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=HIGHEST_PORT)]
Mebibytes: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=1 << 20)]
Share: TypeAlias = Annotated[float, msgspec.Meta(ge=0, le=1)]
Seconds: TypeAlias = Annotated[float, msgspec.Meta(ge=0, le=_YEAR_SECONDS)]
PositiveSeconds: TypeAlias = Annotated[float, msgspec.Meta(gt=0, le=_YEAR_SECONDS)]


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """The settings of a run. "", () and None mean: not set."""

    data: Annotated[
        Text,
        Help(
            "Data",
            "DIR|FILE|URL",
            "Serve this folder, data file, zip archive or baked file, or the URL (http, https, s3, gs, az) of a baked "
            "file, or of a folder with a manifest: URL/.",
            "the bundled data",
        ),
    ] = ""
    mapping: Annotated[
        Text,
        Help("Data", "FILE|PRESET", "Map columns to fields by this file or preset.", "mapping.toml in the folder"),
    ] = ""
    encoding: Annotated[
        Text, Help("Data", "NAME", "Read CSV files in this encoding, such as windows-1252.", "UTF-8")
    ] = ""
    invalid: Annotated[
        InvalidRecords, Help("Data", "refuse|skip", "Reject a data set with invalid records, or skip those records.")
    ] = InvalidRecords.REFUSE
    min_stores: Annotated[Count, Help("Data", "N", "Reject data with fewer stores.")] = Safeguards().min_stores
    max_skipped: Annotated[
        Share, Help("Data", "SHARE", "Reject data if more than this share of its records (0 to 1) is skipped.")
    ] = Safeguards().max_skipped
    max_shrink: Annotated[
        Share, Help("Data", "SHARE", "Reject a reload that loses more than this share (0 to 1) of stores or companies.")
    ] = Safeguards().max_shrink
    poll: Annotated[
        PositiveSeconds, Help("Data", "SECONDS", "Check the source this often, in addition to file system events.")
    ] = 10.0
    no_copy: Annotated[
        bool,
        Help(
            "Data",
            "",
            "Map a baked file in place, which must only be replaced by rename: truncating it kills the service, "
            "overwriting it changes responses but not their entity tags.",
        ),
    ] = False
    compile_timeout: Annotated[
        PositiveSeconds, Help("Data", "SECONDS", "Abort compiling data files after this long and retry later.")
    ] = 900.0
    max_stale: Annotated[
        PositiveSeconds | None,
        Help("Data", "SECONDS", "Return 503 from /ready when the data is unconfirmed for this long.", "never"),
    ] = None
    cache: Annotated[
        Text, Help("Data", "DIR", "Keep compiled data and copies of URLs in this folder.", "the user's cache folder")
    ] = ""

    host: Annotated[Text, Help("Listening", "HOST", "Listen on this address.")] = "127.0.0.1"
    port: Annotated[Port, Help("Listening", "PORT", "Listen on this port; 0 picks a free one.")] = 8080
    uds: Annotated[Text, Help("Listening", "PATH", "Listen on this Unix socket instead of host and port.")] = ""
    admin: Annotated[
        Text, Help("Listening", "HOST:PORT", "Serve /health, /ready and /metrics on this address only.")
    ] = ""
    trusted_proxy: Annotated[
        Texts,
        Help("Listening", "NETWORK|unix", "Trust client addresses from this proxy; unix is any on --uds. Repeatable."),
    ] = ()
    workers: Annotated[
        PositiveCount | Literal["auto"], Help("Listening", "N|auto", "Run N worker processes; auto: one per CPU core.")
    ] = 1
    drain: Annotated[
        Seconds, Help("Listening", "SECONDS", "Keep serving for this long after SIGTERM; /ready returns 503 meanwhile.")
    ] = 0.0

    api_key: Annotated[Texts, Help("Access", "KEY", "Accept this API key. Repeatable.", "a new key for this run")] = ()
    key_file: Annotated[
        Text, Help("Access", "FILE", "Accept the keys of this file (see `keys new`), and follow its changes.")
    ] = ""
    no_auth: Annotated[bool, Help("Access", "", "Accept requests without an API key.")] = False

    max_connections: Annotated[
        PositiveCount | None,
        Help("Limits", "N", "Accept N connections per process; reject others with 503.", _MAX_CONNECTIONS),
    ] = None
    response_cache: Annotated[
        Mebibytes, Help("Limits", "MIB", "Cache this many MiB of responses per process; 0 disables it.")
    ] = 64
    rate_store: Annotated[Text, Help("Limits", "URL", "Share request rate limits across processes in this Redis.")] = ""
    rate_limit_fields: Annotated[
        bool, Help("Limits", "", "Send RateLimit headers with what is left of the key's request rate limit.")
    ] = False

    cache_control: Annotated[Text, Help("HTTP", "VALUE", "Send this Cache-Control header with data.")] = (
        "private, no-cache"
    )
    cors_origin: Annotated[
        Texts, Help("HTTP", "ORIGIN", "Let web pages of this origin read responses; * allows any. Repeatable.")
    ] = ()
    no_explorer: Annotated[bool, Help("HTTP", "", "Do not serve /explorer, the page for people.")] = False
    tiles: Annotated[
        Text, Help("HTTP", "URL", "Show map tiles of this URL in /explorer: https://host/{z}/{x}/{y}.png.")
    ] = ""
    tiles_attribution: Annotated[Text, Help("HTTP", "TEXT", "Name the source of the tiles on the map.")] = ""
    server_timing: Annotated[bool, Help("HTTP", "", "Send each response's latency in a Server-Timing header.")] = False

    access_log: Annotated[
        Text, Help("Logging", "FILE", "Write one line of JSON per request to this file; - is standard output.")
    ] = ""
    log_format: Annotated[
        Literal["text", "json"], Help("Logging", "text|json", "Write the log as text or as JSON.")
    ] = "text"

    @property
    def safeguards(self) -> Safeguards:
        """The limits that a data set must keep to be served."""
        return Safeguards(min_stores=self.min_stores, max_skipped=self.max_skipped, max_shrink=self.max_shrink)

    @property
    def read_options(self) -> ReadOptions:
        """How data files are read."""
        return ReadOptions(mapping=self.mapping, encoding=self.encoding)

    @property
    def poll_seconds(self) -> float:
        """How often the source is checked: at least three times within `max_stale`."""
        return self.poll if self.max_stale is None else min(self.poll, self.max_stale / 3)

    @property
    def processes(self) -> int:
        """Number of worker processes."""
        return self.workers if isinstance(self.workers, int) else _cores()


def make_settings(values: Mapping[str, Any]) -> Settings:
    """Return settings of values by name; those that are None or () are not set. Raises msgspec's ValidationError."""
    return msgspec.convert({name: value for name, value in values.items() if value not in (None, ())}, Settings)


def _cores() -> int:
    """Return the number of CPU cores that this process may use."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


SETTINGS: Final = {
    field.name: Setting(field.name, field.type, field.default) for field in msgspec.structs.fields(Settings)
}


ANY_ORIGIN: Final = "*"
_HIGHEST_PORT: Final = 65535
_DEFAULT_PORTS: Final = {"http": 80, "https": 443}
# An origin as browsers write it: a scheme, a host and an optional port (RFC 6454 section 6.2).
_HOST: Final = r"[a-z0-9._~!$&'()+;=%-]+|\[[0-9a-f:.]+\]"
_ORIGIN: Final = re.compile(rf"(?P<scheme>[a-z][a-z0-9+.-]*)://({_HOST})(:(?P<port>[0-9]{{1,5}}))?")
# In the path of a tile. The host has no character that ends a directive of Content-Security-Policy.
_OF_A_TILE: Final = ("{z}", "{x}", "{y}")
_TILES: Final = re.compile(r"(?P<origin>https?://[A-Za-z0-9.:\[\]-]+)(?P<path>/.*)")


def tiles_origin(url: str) -> str:
    """Return the origin of a URL of map tiles. Raises `ValueError` with the reason."""
    written = _TILES.fullmatch(url)
    if written is None or not all(part in written["path"] for part in _OF_A_TILE):
        raise ValueError(f"{url!r} is not a URL of tiles: write https://host/{{z}}/{{x}}/{{y}}.png")
    return parse_origin(written["origin"])


def parse_origin(text: str) -> str:
    """Parse an origin, and return it as browsers write it, or `*`. Raises `ValueError` with the reason."""
    origin = text.lower()
    if origin == ANY_ORIGIN:
        return origin
    written = _ORIGIN.fullmatch(origin)
    if written is None or int(written["port"] or 0) > _HIGHEST_PORT:
        raise ValueError(f"{text!r} is not an origin: write https://shop.example, without a path, or *")
    default = _DEFAULT_PORTS.get(written["scheme"])
    return origin.removesuffix(f":{default}") if default and written["port"] else origin
