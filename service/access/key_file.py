"""The key file: reading it, and changing it atomically."""

import os
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from glob import escape
from math import inf
from pathlib import Path
from typing import Annotated, Final, Literal, TypeAlias

import msgspec
from msgspec import UNSET, UnsetType

from service.access.api_key import KEY_PREFIX, PUBLIC_PREFIX, Principal, parse_website
from service.access.token_bucket import Rate, parse_rate
from service.files import LOCK_TIMEOUT_SECONDS, atomic_write, check_regular, locked_folder, temporary_files

# Names appear in logs and metrics, so a key is not accepted as a name. Without spaces no name equals that of a key from
# `--api-key`, such as `key 1`.
NAME_PATTERN: Final = rf"^(?!{KEY_PREFIX})[A-Za-z0-9][A-Za-z0-9._@-]{{0,63}}\Z"
# Some 50,000 keys. The bound protects the memory from a path to some other, large file.
MAX_FILE_BYTES: Final = 16 << 20
_ID_DIGITS: Final = 12  # hexadecimal digits of the SHA-256: enough to distinguish keys
_Timestamp = Annotated[datetime, msgspec.Meta(tz=True)]
State: TypeAlias = Literal["valid", "expired", "revoked"]


class KeyFileError(Exception):
    """A key file cannot be read or changed. The message says why, and quotes nothing of the file."""


class KeyFileMissing(KeyFileError):
    """There is no such file or folder."""


class KeyEntry(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A key of a key file.

    sha256      of the key, in hexadecimal digits
    expires_at  when it becomes invalid
    revoked_at  when it was revoked
    rate        request rate limit, such as `100/s`
    burst       number of requests at once, if other than the requests of one period
    origins     of the websites that a public key is for; only such a key has them
    per_client  request rate limit of each client of a public key

    Members that are unset are not written: programs that do not know them read files without public keys.
    """

    name: Annotated[str, msgspec.Meta(pattern=NAME_PATTERN)]
    sha256: Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{64}\Z")]
    created_at: _Timestamp
    expires_at: _Timestamp | None = None
    revoked_at: _Timestamp | None = None
    rate: str | None = None
    burst: int | None = None
    origins: tuple[str, ...] | UnsetType = UNSET
    per_client: str | UnsetType = UNSET

    def __post_init__(self) -> None:
        """Reject an invalid rate or origin, without quoting it: it may be anything."""
        try:
            is_public = bool(self.principal.origins)
        except ValueError:
            is_public = None
        if is_public is not (self.origins is not UNSET or self.per_client is not UNSET):
            raise ValueError("rate, burst, origins or per_client is invalid")

    @property
    def limit(self) -> Rate | None:
        """The parsed request rate limit. Raises `ValueError`."""
        return None if (self.rate, self.burst) == (None, None) else parse_rate(self.rate or "", self.burst)

    @property
    def id(self) -> str:
        """The first digits of the SHA-256: anyone who has the key can find its entry."""
        return self.sha256[:_ID_DIGITS]

    @property
    def credential(self) -> bytes:
        """What the principal is found by: `credential` of the key."""
        return (PUBLIC_PREFIX.encode() if self.origins else b"") + bytes.fromhex(self.sha256)

    @property
    def principal(self) -> Principal:
        """The principal that the key authenticates. Raises `ValueError`."""
        expires_at = inf if self.expires_at is None else self.expires_at.timestamp()
        origins = frozenset(map(parse_website, self.origins or ()))
        per_client = None if self.per_client is UNSET else parse_rate(self.per_client)
        return Principal(self.name, self.limit, expires_at, origins, per_client)

    def state(self, now: datetime) -> State:
        """Return whether the key is accepted, or why not."""
        if self.revoked_at is not None:
            return "revoked"
        return "expired" if self.expires_at is not None and self.expires_at <= now else "valid"


class _KeyFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    format: Literal[1]
    keys: tuple[KeyEntry, ...]


def read_keys(content: bytes) -> tuple[KeyEntry, ...]:
    """Return the entries of a key file. Raises `KeyFileError` for any other content."""
    if not content.strip():
        raise KeyFileError("it is empty")
    try:
        entries = msgspec.json.decode(content, type=_KeyFile).keys
    except msgspec.ValidationError as error:
        why = str(error)  # quotes the names of unknown fields, which may be anything
        raise KeyFileError("it has an unknown field" if "unknown field" in why else why) from None
    except msgspec.DecodeError as error:  # its message has a position, but quotes nothing
        raise KeyFileError("it is cut off" if "truncated" in str(error) else str(error)) from None
    except UnicodeDecodeError:
        raise KeyFileError("it is not UTF-8") from None
    if len({entry.sha256 for entry in entries}) < len(entries):
        raise KeyFileError("a key is repeated")
    return entries


def encode_keys(entries: Iterable[KeyEntry]) -> bytes:
    """Return the content of a key file. Raises `KeyFileError` if it would be too large."""
    encoded = msgspec.json.encode(_KeyFile(format=1, keys=tuple(entries)))
    content = msgspec.json.format(encoded, indent=2) + b"\n"
    if len(content) > MAX_FILE_BYTES:
        raise KeyFileError(f"it would be larger than {MAX_FILE_BYTES >> 20} MiB: remove revoked keys")
    return content


def add_key(entries: tuple[KeyEntry, ...], entry: KeyEntry) -> tuple[KeyEntry, ...]:
    """Return the entries and another one. Raises `KeyFileError` if a valid key has its name."""
    if any(each.name == entry.name and each.state(entry.created_at) == "valid" for each in entries):
        raise KeyFileError(f"there is already a valid key {entry.name}: revoke it, or choose another name")
    return (*entries, entry)


def revoke_key(entries: tuple[KeyEntry, ...], name: str) -> tuple[KeyEntry, ...]:
    """Return the entries with all of a name revoked. Raises `KeyFileError` if there is none to revoke."""
    own = [each for each in entries if each.name == name]
    if all(each.revoked_at for each in own):
        raise KeyFileError(f"{name} is revoked already" if own else f"there is no key {name}")
    now = whole_seconds(datetime.now(UTC))
    revoked = (msgspec.structs.replace(each, revoked_at=each.revoked_at or now) for each in entries)
    return tuple(new if new.name == name else old for old, new in zip(entries, revoked, strict=True))


def whole_seconds(moment: datetime) -> datetime:
    """Return the time as a key file stores it."""
    return moment.replace(microsecond=0)


_OTHERS: Final = stat.S_IRWXO
Change: TypeAlias = Callable[[tuple[KeyEntry, ...]], tuple[KeyEntry, ...]]


def read_content(path: Path) -> bytes:
    """Return the content of a key file. Raises `KeyFileError`."""
    with _key_file_errors(), open(path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK)) as file:
        check_regular(os.fstat(file.fileno()))  # opening a pipe would block until someone writes to it
        content = file.read(MAX_FILE_BYTES + 1)
    if len(content) > MAX_FILE_BYTES:
        raise KeyFileError(f"it is larger than {MAX_FILE_BYTES >> 20} MiB")
    return content


def is_open_to_others(path: Path) -> bool:
    """Return whether every user of the machine may read or write a file. Raises `KeyFileError`."""
    with _key_file_errors():
        return bool(path.stat().st_mode & _OTHERS)


def change_keys(path: Path, change: Change, *, timeout_seconds: float = LOCK_TIMEOUT_SECONDS) -> None:
    """Replace the entries of a key file with the result of `change`; a missing file counts as empty.

    Raises `KeyFileError`, after which the file is unchanged. Changes are serialized by a lock of the folder. Everyone
    who may read the folder can hold that lock, so waiting for it has a timeout.
    """
    with _key_file_errors():
        target = Path(os.path.realpath(path))  # the target of a link is replaced, not the link
        with locked_folder(target.parent, timeout_seconds):
            for left in temporary_files(target.parent, escape(target.name)):
                left.unlink(missing_ok=True)
            entries = read_keys(read_content(target)) if target.exists() else ()
            replace_file(target, encode_keys(change(entries)))


def replace_file(target: Path, content: bytes) -> None:
    """Write a file atomically and durably. Raises OSError.

    The file keeps its owner and group, so that a service under another user can still read it. Permissions of others
    are removed.
    """
    with atomic_write(target, mode=0o600) as file:
        file.write(content)
        if target.exists():
            status = target.stat()
            os.fchown(file.fileno(), status.st_uid, status.st_gid)
            os.fchmod(file.fileno(), stat.S_IMODE(status.st_mode) & ~_OTHERS)


@contextmanager
def _key_file_errors() -> Iterator[None]:
    """Raise `KeyFileError` for an error of the system, whose own text would quote the path."""
    try:
        yield
    except FileNotFoundError as error:
        raise KeyFileMissing(error.strerror) from None
    except OSError as error:
        raise KeyFileError(error.strerror or "it cannot be read") from None
    except (ValueError, RuntimeError):  # a path with U+0000
        raise KeyFileError("it is not a valid path") from None
