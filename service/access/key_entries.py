"""What is kept of keys: an entry for each, in JSON. Its form is told in docs/keys.md."""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Annotated, Final, Literal, TypeAlias

import msgspec

from service.access.api_key import KEY_PREFIX
from service.access.principal import Principal
from service.access.request_rate import Rate, read_rate

# Names stand in logs and metrics, so none is a key itself. With no space in it none is that of a key given by an
# option, `key 1`.
NAME_PATTERN: Final = rf"^(?!{KEY_PREFIX})[A-Za-z0-9][A-Za-z0-9._@-]{{0,63}}\Z"
# Some 50,000 keys. Whatever else a path may lead to should not fill the memory.
MOST_BYTES: Final = 16 << 20
_ID: Final = 12  # hexadecimal digits of the SHA-256: enough to tell keys apart
_Moment = Annotated[datetime, msgspec.Meta(tz=True)]
State: TypeAlias = Literal["valid", "expired", "revoked"]


class BadKeys(Exception):
    """Keys that cannot be read, written or changed so; the message says why, and quotes nothing of them."""


class NoKeys(BadKeys):
    """There is no file, or no folder for one."""


class KeyEntry(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is kept of a key.

    sha256      of the key, in hexadecimal digits
    expires_at  the moment from which it is not let in
    revoked_at  when it was revoked
    rate        how much it may ask, as it is written
    """

    name: Annotated[str, msgspec.Meta(pattern=NAME_PATTERN)]
    sha256: Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{64}\Z")]
    created_at: _Moment
    expires_at: _Moment | None = None
    revoked_at: _Moment | None = None
    rate: str | None = None
    burst: int | None = None

    def __post_init__(self) -> None:
        """Refuse a rate that is none; without a quotation, as it may be anything."""
        try:
            _ = self.limit
        except ValueError:
            raise ValueError("rate and burst are none") from None

    @property
    def limit(self) -> Rate | None:
        """How much the key may ask."""
        if self.rate is None:
            if self.burst is not None:
                raise ValueError("a burst needs a rate")
            return None
        return read_rate(self.rate, self.burst)

    @property
    def id(self) -> str:
        """The beginning of its SHA-256, by which a key can be found that somebody has at hand."""
        return self.sha256[:_ID]

    @property
    def digest(self) -> bytes:
        """Its SHA-256."""
        return bytes.fromhex(self.sha256)

    @property
    def principal(self) -> Principal:
        """Who asks with it."""
        return Principal(self.name, self.limit)

    def state(self, now: datetime) -> State:
        """Return whether the key is let in, and why not."""
        if self.revoked_at is not None:
            return "revoked"
        return "expired" if self.expires_at is not None and self.expires_at <= now else "valid"


class _Register(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    format: Literal[1]
    keys: tuple[KeyEntry, ...]


def read_keys(stored: bytes) -> tuple[KeyEntry, ...]:
    """Return the entries of a register. Raises `BadKeys` where it is none, whatever it is."""
    if not stored.strip():
        raise BadKeys("it is empty")
    try:
        entries = msgspec.json.decode(stored, type=_Register).keys
    except msgspec.ValidationError as error:
        raise BadKeys(_told(error)) from None
    except msgspec.DecodeError as error:  # which tells where, but not what
        raise BadKeys("it is cut off" if "truncated" in str(error) else str(error)) from None
    except UnicodeDecodeError:
        raise BadKeys("it is no UTF-8") from None
    if len({entry.sha256 for entry in entries}) < len(entries):
        raise BadKeys("a key stands twice")
    return entries


def write_keys(entries: Iterable[KeyEntry]) -> bytes:
    """Return the register of entries. Raises `BadKeys` where they are too many."""
    register = msgspec.json.encode(_Register(format=1, keys=tuple(entries)))
    written = msgspec.json.format(register, indent=2) + b"\n"
    if len(written) > MOST_BYTES:
        raise BadKeys(f"it would be larger than {MOST_BYTES >> 20} MiB: take revoked keys out")
    return written


def with_key(entries: tuple[KeyEntry, ...], entry: KeyEntry) -> tuple[KeyEntry, ...]:
    """Return entries with another one. Raises `BadKeys` where a living key has its name."""
    if any(each.name == entry.name and each.state(entry.created_at) == "valid" for each in entries):
        raise BadKeys(f"there is a living key {entry.name}: revoke it, or take another name")
    return (*entries, entry)


def without_key(entries: tuple[KeyEntry, ...], name: str) -> tuple[KeyEntry, ...]:
    """Return entries, those of a name revoked. Raises `BadKeys` where there is none to revoke."""
    if not any(each.name == name and each.revoked_at is None for each in entries):
        raise BadKeys("there is no key of that name that is not revoked")
    now = whole_seconds(datetime.now(UTC))
    revoked = (msgspec.structs.replace(each, revoked_at=each.revoked_at or now) for each in entries)
    return tuple(new if new.name == name else old for old, new in zip(entries, revoked, strict=True))


def whole_seconds(moment: datetime) -> datetime:
    """Return the moment as it is kept."""
    return moment.replace(microsecond=0)


def _told(error: msgspec.ValidationError) -> str:
    """Return what is wrong. msgspec quotes the names of fields that it does not know, which may be anything."""
    told = str(error)
    return "it has a field that is none of a key file" if "unknown field" in told else told
