"""The settings of `serve`: from options, then the environment, then a TOML file."""

import os
import sys
from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, TypeAlias, get_type_hints

import msgspec
from msgspec import inspect

from service.loading.acceptance import Invalid, Safeguards

ENVIRONMENT_PREFIX: Final = "STORE_DIRECTORY_"
HIGHEST_PORT: Final = 65535
TEXT: Final = "a text"

# A setting of the environment or of a file is no less checked than an option.
LONGEST_SECONDS: Final = 366 * 86_400
Seconds: TypeAlias = Annotated[float, msgspec.Meta(ge=0, le=LONGEST_SECONDS)]
MOST_MEBIBYTES: Final = 1 << 20
PositiveSeconds: TypeAlias = Annotated[float, msgspec.Meta(gt=0, le=LONGEST_SECONDS)]
Share: TypeAlias = Annotated[float, msgspec.Meta(ge=0, le=1)]


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """What `serve` is told. Without keys and with a key needed, one is made for this run.

    data       a folder, a baked file, or the URL of one; the bundled data where it is empty
    uds        path of the Unix socket to listen on instead of host and port
    admin      HOST:PORT of the listener for probes and metrics; where it is empty, they are public
    key_file   the file with the hashes of keys
    min_stores, max_skipped, max_shrink  the limits of `Safeguards`
    workers    how many processes answer; as many as there are cores with "auto"
    poll       how often the source is looked at, in seconds, where nothing tells of a change
    max_stale  for how many seconds the source may be out of reach before /ready answers 503
    drain      for how many seconds requests are answered on after SIGTERM
    cache      folder of compiled data, and of the last good copy of a URL; the user's cache where it is empty

    cache_control  that of answers from the data
    cors_origin    whose pages may read answers
    encoded_cache  up to how many MiB of compressed answers from the data each process keeps

    access_log     the file that tells of each request, "-" for standard output; none where it is empty
    log_format     how the lines of the log are written
    server_timing  whether answers tell how long they took

    rate_store         the URL of a Redis that keeps the rates of keys for all processes; each keeps its share without
    rate_limit_fields  whether answers tell what is left of the rate of a key
    trusted_proxy  which proxies are believed about who asks: addresses, networks, `unix`
    max_connections  at most, of each process; as many as the system allows, within bounds, where it is not given
    """

    data: str = ""
    host: str = "127.0.0.1"
    port: Annotated[int, msgspec.Meta(ge=0, le=HIGHEST_PORT)] = 8080
    uds: str = ""
    admin: str = ""
    api_key: tuple[str, ...] = ()
    key_file: str = ""
    no_auth: bool = False
    invalid: Invalid = Invalid.REFUSE
    min_stores: Annotated[int, msgspec.Meta(ge=0)] = Safeguards().min_stores
    max_skipped: Share = Safeguards().max_skipped
    max_shrink: Share = Safeguards().max_shrink
    workers: Annotated[int, msgspec.Meta(ge=1)] | Literal["auto"] = 1
    poll: PositiveSeconds = 10.0
    max_stale: PositiveSeconds | None = None
    drain: Seconds = 0.0
    cache: str = ""
    cache_control: str = "private, no-cache"
    cors_origin: tuple[str, ...] = ()
    encoded_cache: Annotated[int, msgspec.Meta(ge=0, le=MOST_MEBIBYTES)] = 32
    access_log: str = ""
    log_format: Literal["text", "json"] = "text"
    server_timing: bool = False
    rate_store: str = ""
    rate_limit_fields: bool = False
    trusted_proxy: tuple[str, ...] = ()
    max_connections: Annotated[int, msgspec.Meta(ge=1)] | None = None

    @property
    def safeguards(self) -> Safeguards:
        """The limits that a data set must keep to be served."""
        return Safeguards(min_stores=self.min_stores, max_skipped=self.max_skipped, max_shrink=self.max_shrink)

    @property
    def look_seconds(self) -> float:
        """How often the source is looked at: often enough not to seem stale in between."""
        return self.poll if self.max_stale is None else min(self.poll, self.max_stale / 3)

    @property
    def processes(self) -> int:
        """How many processes answer."""
        return self.workers if isinstance(self.workers, int) else _cores()


def _cores() -> int:
    """Return on how many cores this process may run."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


def environment_name(option: str) -> str:
    """Return the environment variable of an option, itself written as `api-key` or `api_key`."""
    return ENVIRONMENT_PREFIX + option.upper().replace("-", "_")


def option_name(setting: str) -> str:
    """Return the option of a setting: `--api-key` of `api_key`."""
    return f"--{setting.replace('_', '-')}"


def make_settings(values: Mapping[str, Any]) -> Settings:
    """Return settings of the values given by name; raise msgspec's ValidationError where one has the wrong type."""
    return msgspec.convert(values, Settings)


def describe_values(name: str) -> str:
    """Return which values a setting takes, in words, such as "a whole number from 0 to 65535"; of a text `TEXT`."""
    kind = inspect.type_info(get_type_hints(Settings, include_extras=True)[name])
    kinds = kind.types if isinstance(kind, inspect.UnionType) else (kind,)
    return " or ".join(_describe(each) for each in kinds if not isinstance(each, inspect.NoneType))


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
            words = TEXT
    return words


def _describe_range(least: float | None, most: float | None, *, above: float | None = None) -> str:
    end = "" if most is None else f" to {most:.0f}"
    if above is not None:
        return f" above {above:.0f}" + end.replace(" to", " and up to")
    if least is None:
        return ""
    return f" from {least:.0f}{end}" if end else f" of {least:.0f} or more"
