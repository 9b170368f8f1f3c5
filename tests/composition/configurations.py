"""The configurations of the tested services: options and keys."""

from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Final

import msgspec
import orjson

KEY: Final = "x-api-key"
PLAIN_KEY: Final = "plain-key"
FILED_KEY: Final = "filed-key"
HIGH_RATE_KEY: Final = "high-rate-key"
LOW_RATE_KEY: Final = "low-rate-key"
# The burst of the low-rate key, of which one request a day is refilled.
BURST: Final = 20
LISTED_ORIGIN: Final = "https://shop.example"
OTHER_ORIGIN: Final = "https://other.example"
# Public keys, with the origin of the website of each.
PUBLIC_KEY: Final = "sd_pub_of-the-shop"
OTHER_PUBLIC_KEY: Final = "sd_pub_of-another"
REVOKED_KEY: Final = "sd_pub_revoked"
WEBSITES: Final = {PUBLIC_KEY: LISTED_ORIGIN, OTHER_PUBLIC_KEY: OTHER_ORIGIN}
# What they are for.
PUBLIC_RESOURCES: Final = ("/stores", "/stores/{store_id}", "/clusters", "/places")
# The keys of the key file that are valid -> what their entries have. `PLAIN_KEY` is given by --api-key.
FILED: Final[Mapping[str, Mapping[str, object]]] = {
    FILED_KEY: {},
    HIGH_RATE_KEY: {"rate": "999999999/s"},
    LOW_RATE_KEY: {"rate": "1/d", "burst": BURST},
    PUBLIC_KEY: {"origins": [LISTED_ORIGIN]},
    OTHER_PUBLIC_KEY: {"origins": [OTHER_ORIGIN], "per_client": "999999999/s"},
}
_REVOKED: Final = {REVOKED_KEY: {"origins": [LISTED_ORIGIN], "revoked_at": "2026-01-02T00:00:00Z"}}


class Configuration(msgspec.Struct, frozen=True, kw_only=True):
    """The configuration of a service.

    baked        whether its source is a baked file, else a folder
    origin       the origin that may read replies, `*` for any
    rate_fields  whether replies have the fields of rates
    module       runs `store-directory`
    impatient    whether a key has one long query at a time, and every query may be one
    """

    name: str
    workers: int
    baked: bool
    origin: str
    rate_fields: bool
    options: Sequence[str] = ()
    module: str = "service"
    impatient: bool = False

    def arguments(self, data: Path, keys: Path) -> list[str | Path]:
        """Return the arguments of `serve`."""
        common = ("--data", data, "--key-file", keys, "--api-key", PLAIN_KEY, "--workers", str(self.workers))
        shrinking = ("--max-shrink", "1")  # one of the data sets is much smaller than the others
        fields = ("--rate-limit-fields",) if self.rate_fields else ()
        return [*common, *shrinking, "--cors-origin", self.origin, *fields, *self.options]

    def allowed_origin(self, origin: str) -> str | None:
        """Return the value of Access-Control-Allow-Origin for a request from an origin."""
        return self.origin if self.origin in ("*", origin) else None


SERVICES: Final[Sequence[Configuration]] = (
    Configuration(
        name="one worker",
        workers=1,
        baked=False,
        origin=LISTED_ORIGIN,
        rate_fields=False,
        options=("--response-cache", "1"),  # smaller than the answers of a run: entries are evicted
        module="tests.composition.impatient_service",
        impatient=True,
    ),
    Configuration(name="two workers", workers=2, baked=True, origin="*", rate_fields=True, options=("--no-copy",)),
)


def write_keys(file: Path) -> Path:
    """Write the key file, as docs/keys.md has it."""
    entries = [
        {
            "name": key.removeprefix("sd_"),
            "sha256": sha256(key.encode()).hexdigest(),
            "created_at": "2026-01-01T00:00:00Z",
            **more,
        }
        for key, more in {**FILED, **_REVOKED}.items()
    ]
    file.write_bytes(orjson.dumps({"format": 1, "keys": entries}))
    file.chmod(0o600)
    return file
