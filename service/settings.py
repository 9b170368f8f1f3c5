"""The settings of `serve`, each declared once.

A field of `Settings` declares name, type, range, default and help text. The command-line option, the environment
variable, the key of the settings file, error messages and `serve --help` are all derived from it.
"""

import os
import sys
from typing import Annotated, Final, Literal, TypeAlias

from msgspec import Meta, Struct

from service.access.api_key import origin_of
from service.dataset import InvalidRecords, ReadOptions, Safeguards

HIGHEST_PORT: Final = 65535
MAX_CONNECTIONS: Final = 10_000  # of one process, unless its descriptor limit is lower
_YEAR_SECONDS: Final = 366 * 86_400
_MANY: Final = 10**9


class Help(Struct, frozen=True):
    """A setting in `--help`: its effect, a metavar if the type's does not fit, a default that no value expresses."""

    effect: str
    metavar: str = ""
    default: str = ""


def _whole(metavar: str, least: int, most: int) -> Meta:
    return Meta(ge=least, le=most, title=metavar, description=f"a whole number from {least} to {most}")


# The colour of the public page.
ACCENT: Final = "#0f6b5c"
_COUNT: Final = _whole("N", 1, _MANY)

# The description of a type says in error messages what is accepted; its title is the metavar.
Flag: TypeAlias = Annotated[bool, Meta(description="true or false")]
Text: TypeAlias = Annotated[str, Meta(min_length=1, description="a non-empty text")]
Texts: TypeAlias = Annotated[
    tuple[Annotated[str, Meta(min_length=1)], ...],
    Meta(description='a non-empty text, or a list such as ["one", "two"]'),
]
Count: TypeAlias = Annotated[int, _whole("N", 0, _MANY)]
PositiveCount: TypeAlias = Annotated[int, _COUNT]
Port: TypeAlias = Annotated[int, _whole("PORT", 0, HIGHEST_PORT)]
Mebibytes: TypeAlias = Annotated[int, _whole("MIB", 0, 1 << 20)]
Share: TypeAlias = Annotated[float, Meta(ge=0, le=1, title="SHARE", description="a number from 0 to 1")]
Seconds: TypeAlias = Annotated[
    float, Meta(ge=0, le=_YEAR_SECONDS, title="SECONDS", description=f"a number from 0 to {_YEAR_SECONDS}")
]
PositiveSeconds: TypeAlias = Annotated[
    float, Meta(gt=0, le=_YEAR_SECONDS, title="SECONDS", description=f"a number above 0 and up to {_YEAR_SECONDS}")
]
Workers: TypeAlias = Annotated[
    PositiveCount | Literal["auto"], Meta(title="N|auto", description=f"{_COUNT.description} or 'auto'")
]
Invalid: TypeAlias = Annotated[InvalidRecords, Meta(title="refuse|skip", description="'refuse' or 'skip'")]
Explorer: TypeAlias = Annotated[Literal["full", "public"], Meta(title="full|public", description="'full' or 'public'")]
LogFormat: TypeAlias = Annotated[Literal["text", "json"], Meta(title="text|json", description="'text' or 'json'")]
# The first setting of each section of `--help`.
SECTIONS: Final = {
    "data": "Data",
    "host": "Listening",
    "api_key": "Access",
    "max_connections": "Limits",
    "cache_control": "HTTP",
    "access_log": "Logging",
}


class Settings(Struct, frozen=True, kw_only=True):
    """The settings of a run. "", () and None mean: not set."""

    data: Annotated[
        Text,
        Help(
            "Serve this folder, data file, zip archive or baked file, or the URL (http, https, s3, gs, az) of a baked "
            "file, or of a folder with a manifest: URL/.",
            "DIR|FILE|URL",
            "the bundled data",
        ),
    ] = ""
    mapping: Annotated[
        Text, Help("Map columns to fields by this file or preset.", "FILE|PRESET", "mapping.toml in the folder")
    ] = ""
    encoding: Annotated[Text, Help("Read CSV files in this encoding, such as windows-1252.", "NAME", "UTF-8")] = ""
    places: Annotated[Text, Help("Offer the cities and postal codes of this list in /places, too.", "FILE")] = ""
    invalid: Annotated[Invalid, Help("Reject a data set with invalid records, or skip those records.")] = (
        InvalidRecords.REFUSE
    )
    min_stores: Annotated[Count, Help("Reject data with fewer stores.")] = Safeguards().min_stores
    max_skipped: Annotated[Share, Help("Reject data if more than this share of its records (0 to 1) is skipped.")] = (
        Safeguards().max_skipped
    )
    max_shrink: Annotated[
        Share, Help("Reject a reload that loses more than this share (0 to 1) of stores or companies.")
    ] = Safeguards().max_shrink
    poll: Annotated[PositiveSeconds, Help("Fetch the source this often; changes of files are seen at once.")] = 10
    no_copy: Annotated[
        Flag,
        Help(
            "Map a baked file in place, which must only be replaced by rename: truncating it kills the service, "
            "overwriting it changes responses but not their entity tags."
        ),
    ] = False
    compile_timeout: Annotated[PositiveSeconds, Help("Abort compiling data files after this long and retry later.")] = (
        900
    )
    max_stale: (
        Annotated[
            PositiveSeconds, Help("Return 503 from /ready when the data is unconfirmed for this long.", default="never")
        ]
        | None
    ) = None
    cache: Annotated[
        Text, Help("Keep compiled data and copies of URLs in this folder.", "DIR", "the user's cache folder")
    ] = ""

    host: Annotated[Texts, Help("Listen on this address; :: is all of IPv6 and IPv4. Repeatable.", "HOST")] = (
        "127.0.0.1",
    )
    port: Annotated[Port, Help("Listen on this port; 0 picks a free one.")] = 8080
    uds: Annotated[Text, Help("Listen on this Unix socket instead of host and port.", "PATH")] = ""
    admin: Annotated[Text, Help("Serve /health, /ready and /metrics on this address only.", "HOST:PORT")] = ""
    trusted_proxy: Annotated[
        Texts, Help("Trust client addresses from this proxy; unix is any on --uds. Repeatable.", "NETWORK|unix")
    ] = ()
    workers: Annotated[Workers, Help("Run N worker processes; auto: one per CPU core.")] = 1
    drain: Annotated[Seconds, Help("Keep serving for this long after SIGTERM; /ready returns 503 meanwhile.")] = 0

    api_key: Annotated[Texts, Help("Accept this API key. Repeatable.", "KEY", "a new key for this run")] = ()
    key_file: Annotated[
        Text, Help("Accept the keys of this file (see `keys new`), and follow its changes.", "FILE")
    ] = ""
    no_auth: Annotated[Flag, Help("Accept requests without an API key.")] = False

    max_connections: (
        Annotated[
            PositiveCount,
            Help(
                "Accept N connections per process; reject others with 503.",
                default=f"{MAX_CONNECTIONS}, or fewer if the descriptor limit is lower",
            ),
        ]
        | None
    ) = None
    response_cache: Annotated[Mebibytes, Help("Cache this many MiB of responses per process; 0 disables it.")] = 64
    rate_store: Annotated[Text, Help("Share request rate limits across processes in this Redis.", "URL")] = ""
    rate_limit_fields: Annotated[
        Flag, Help("Send RateLimit headers with what is left of the key's request rate limit.")
    ] = False

    cache_control: Annotated[Text, Help("Send this Cache-Control header with data.", "VALUE")] = "private, no-cache"
    cors_origin: Annotated[
        Texts, Help("Let web pages of this origin read responses; * allows any. Repeatable.", "ORIGIN")
    ] = ()
    no_explorer: Annotated[Flag, Help("Do not serve /explorer, the page for people.")] = False
    explorer: Annotated[Explorer, Help("Serve /explorer with all it has, or as a page for everyone.")] = "full"
    explorer_key: Annotated[Text, Help("Give the public page this public key of this service's origin.", "KEY")] = ""
    title: Annotated[Text, Help("Call the public page this.", "TEXT", "Stores")] = ""
    logo: Annotated[Text, Help("Show this .svg, .png, .jpg or .webp on the public page.", "FILE")] = ""
    accent: Annotated[Text, Help("Use this colour for buttons and marks of the public page.", "COLOUR", ACCENT)] = ""
    frame_ancestors: Annotated[
        Texts, Help("Let pages of this origin show the public page in a frame. Repeatable.", "ORIGIN")
    ] = ()
    tiles: Annotated[Text, Help("Show map tiles of this URL in /explorer: https://host/{z}/{x}/{y}.png.", "URL")] = ""
    tiles_attribution: Annotated[Text, Help("Name the source of the tiles on the map.", "TEXT")] = ""
    image_origin: Annotated[
        Texts, Help("Let /explorer show images of this origin, of attributes of the kind image. Repeatable.", "ORIGIN")
    ] = ()
    server_timing: Annotated[Flag, Help("Send each response's latency in a Server-Timing header.")] = False

    access_log: Annotated[
        Text, Help("Write one line of JSON per request to this file; - is standard output.", "FILE")
    ] = ""
    log_format: Annotated[LogFormat, Help("Write the log as text or as JSON.")] = "text"

    @property
    def safeguards(self) -> Safeguards:
        """The limits that a data set must keep to be served."""
        return Safeguards(min_stores=self.min_stores, max_skipped=self.max_skipped, max_shrink=self.max_shrink)

    @property
    def read_options(self) -> ReadOptions:
        """How data files are read."""
        return ReadOptions(mapping=self.mapping, encoding=self.encoding, places=self.places)

    @property
    def poll_seconds(self) -> float:
        """How often the source is checked: at least three times within `max_stale`."""
        return self.poll if self.max_stale is None else min(self.poll, self.max_stale / 3)

    @property
    def images(self) -> tuple[str, ...]:
        """The origins of images, as browsers write them."""
        return tuple(parse_origin(each, "https") for each in self.image_origin)

    @property
    def ancestors(self) -> tuple[str, ...]:
        """The origins of pages with the public page in a frame, as browsers write them."""
        return tuple(parse_origin(each, "http", "https") for each in self.frame_ancestors)

    @property
    def processes(self) -> int:
        """Number of worker processes; for `auto` that of the CPU cores that this process may use."""
        if isinstance(self.workers, int):
            return self.workers
        return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


ANY_ORIGIN: Final = "*"
# By the end of the name of a file.
IMAGE_TYPES: Final = {"svg": "image/svg+xml", "png": "image/png", "jpg": "image/jpeg", "webp": "image/webp"}


def tiles_origin(url: str) -> str:
    """Return the origin of a URL of map tiles. Raises `ValueError` with the reason."""
    scheme, _, rest = url.partition("://")
    host, _, path = rest.partition("/")
    origin = origin_of(f"{scheme}://{host}", "http", "https")
    if origin is None or not all(part in path for part in ("{z}", "{x}", "{y}")):
        raise ValueError(f"{url!r} is not a URL of tiles: write https://host/{{z}}/{{x}}/{{y}}.png")
    return origin


def parse_origin(text: str, *schemes: str) -> str:
    """Return an origin as browsers write it, of any scheme or one of some; `*` if any will do. Raises `ValueError`."""
    if (origin := text if text == ANY_ORIGIN and not schemes else origin_of(text, *schemes)) is None:
        others = "" if schemes else ", or *"
        raise ValueError(f"{text!r} is not an origin: write https://shop.example, without a path{others}")
    return origin
