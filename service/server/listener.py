"""The sockets that the service listens on, and the limit of file descriptors."""

import errno
import os
import resource
import socket
import stat
from collections.abc import Sequence
from contextlib import suppress
from ipaddress import ip_address
from pathlib import Path
from typing import Final

import msgspec

from service.files import locked_folder
from service.settings import HIGHEST_PORT, MAX_CONNECTIONS

# Wildcard addresses: what they are, and the address at which the machine itself reaches them.
_WILDCARDS: Final = {"0.0.0.0": ("all IPv4 addresses", "127.0.0.1"), "::": ("all addresses", "::1")}
# All of IPv6, and all of IPv4 by a socket of its own: some systems have only one of the families.
_ALL, _ALL_IPV4 = "::", "0.0.0.0"


class CannotListen(Exception):
    """The address cannot be bound. The message says why, and what to do."""


class Listener(msgspec.Struct, frozen=True):
    """The bound sockets of some addresses; of a host name perhaps an IPv4 and an IPv6 socket.

    file      of a Unix socket: its path
    identity  device and inode of that, so that no other file is removed
    owner     id of the process that created it
    """

    sockets: tuple[socket.socket, ...] = ()
    file: Path | None = None
    identity: tuple[int, int] = (0, 0)
    owner: int = 0

    @property
    def url(self) -> str:
        """URL of the first address for a client on this machine, of a Unix socket `unix:` and its path; "" for none."""
        if not self.sockets:
            return ""
        name = self.sockets[0].getsockname()
        if isinstance(name, str):
            return f"{UNIX_SCHEME}{name}"
        host, port = name[:2]
        _, reachable = _WILDCARDS.get(host, ("", host))
        return f"http://{_join_address(reachable, port)}"

    @property
    def address(self) -> str:
        """Description of the first address: its URL, or "all addresses" for a wildcard."""
        name = self.sockets[0].getsockname() if self.sockets else ""
        if isinstance(name, str) or name[0] not in _WILDCARDS:
            return self.url
        host, port = name[:2]
        return f"{_join_address(host, port)} ({_WILDCARDS[host][0]} of this machine)"

    @property
    def is_local(self) -> bool:
        """Whether only this machine can reach it."""
        names = [each.getsockname() for each in self.sockets]
        return all(isinstance(name, str) or ip_address(name[0]).is_loopback for name in names)

    def duplicate(self) -> "Listener":
        """Bind the same addresses again, for another worker; a Unix socket is shared by all. Raises OSError."""
        if self.file is not None:
            return self
        sockets = (
            _bind(socket.socket(each.family, each.type), each.getsockname(), shared=True) for each in self.sockets
        )
        return Listener(tuple(sockets))

    def clean_up(self) -> None:
        """Remove the file of a Unix socket, if it is still that of this one."""
        if self.file is not None and os.getpid() == self.owner:
            with suppress(OSError), locked_folder(self.file.parent):
                if _identity(self.file) == self.identity:
                    self.file.unlink()


def bind(hosts: Sequence[str], port: int, *, shared: bool, admin: bool = False) -> Listener:
    """Bind every address of some hosts; port 0 chooses a free one for all. Raises `CannotListen`.

    A `shared` address can be bound by several workers (SO_REUSEPORT), among which the system distributes connections.
    A first, exclusive bind ensures that no other service uses the address.
    """
    sockets: list[socket.socket] = []
    for host in dict.fromkeys(hosts):
        try:
            _bind_host(host, port, sockets, shared=shared)
        except OSError as failure:
            for each in sockets:
                each.close()
            why = f"cannot listen on {_join_address(host, port)}: {failure.strerror or failure}"
            raise CannotListen(why + remedy(failure, host, admin=admin)) from failure
    return Listener(tuple(sockets))


def _bind_host(host: str, port: int, sockets: list[socket.socket], *, shared: bool) -> None:
    """Add a socket for every address of a host, but of a family that the system has not. Raises OSError."""
    before, failure = len(sockets), OSError()
    for name in (_ALL, _ALL_IPV4) if host == _ALL else (host,):
        for family, _, _, _, address in socket.getaddrinfo(name, port, type=socket.SOCK_STREAM):
            free = port or (sockets[0].getsockname()[1] if sockets else 0)
            bound_address = (address[0], free, *address[2:])
            try:
                if shared and free:
                    _bind(socket.socket(family), bound_address, shared=False).close()
                sockets.append(_bind(socket.socket(family), bound_address, shared=shared))
            except OSError as error:
                if error.errno not in (errno.EAFNOSUPPORT, errno.EADDRNOTAVAIL):
                    raise
                failure = error
    if len(sockets) == before:
        raise failure


def remedy(failure: OSError, host: str, *, admin: bool) -> str:
    """Return advice about a failed bind, to append to the reason; "" if there is none.

    The address is that of `--host` and `--port`, or of `--admin`.
    """
    option, free = ("--admin", f"--admin {_join_address(host, 0)}") if admin else ("--port", "--port 0")
    if failure.errno == errno.EADDRINUSE:
        return f"; choose another port with {option}, or a free one with `{free}`"
    if failure.errno in (errno.EACCES, errno.EPERM):
        return f"; ports below 1024 need a privilege: choose another port with {option}, or a free one with `{free}`"
    if isinstance(failure, socket.gaierror) or failure.errno == errno.EADDRNOTAVAIL:
        option = "--admin" if admin else "--host"
        return f"; {option} must be an address of this machine, such as 127.0.0.1, or 0.0.0.0 for all IPv4 addresses"
    return ""


def _join_address(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def split_address(text: str) -> tuple[str, int]:
    """Return host and port of HOST:PORT, with an IPv6 address in brackets. Raises ValueError."""
    host, _, port = text.rpartition(":")
    if not host or not port.isascii() or not port.isdigit() or int(port) > HIGHEST_PORT:
        raise ValueError(f"{text!r} is not HOST:PORT")
    return host.removeprefix("[").removesuffix("]"), int(port)


def _bind(unbound: socket.socket, address: tuple[str | int, ...], *, shared: bool) -> socket.socket:
    try:
        unbound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if shared:
            unbound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        if unbound.family == socket.AF_INET6:
            unbound.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        unbound.bind(address)
        unbound.setblocking(False)
    except OSError:
        unbound.close()
        raise
    return unbound


UNIX_SCHEME: Final = "unix:"


def bind_unix(path: str) -> Listener:
    """Listen at a path, replacing a socket on which no process listens any more. Raises `CannotListen`.

    A lock of the folder prevents services that start or end at the same time from removing each other's socket.
    """
    file = Path(path).absolute()
    bound = socket.socket(socket.AF_UNIX)
    try:
        with locked_folder(file.parent):
            _remove_stale(file)
            mask = os.umask(0o117)  # only the owner and the group of the file can connect
            try:
                bound.bind(str(file))
            finally:
                os.umask(mask)
            bound.listen(1024)  # until the server sets its own
            bound.setblocking(False)
            return Listener((bound,), file=file, identity=_identity(file), owner=os.getpid())
    except OSError as error:
        bound.close()
        raise CannotListen(f"cannot listen on {UNIX_SCHEME}{file}: {error.strerror or error}") from error


def _remove_stale(file: Path) -> None:
    """Remove the file of a socket on which no process listens. Raises OSError if it is anything else."""
    with suppress(FileNotFoundError):
        if not stat.S_ISSOCK(file.lstat().st_mode):
            raise FileExistsError(0, "it exists and is not a socket")
        with socket.socket(socket.AF_UNIX) as client, suppress(ConnectionRefusedError):
            client.settimeout(1)  # connecting blocks while the backlog is full
            client.connect(str(file))
            raise OSError(0, "another process is listening there")
        file.unlink()


def _identity(file: Path) -> tuple[int, int]:
    found = file.lstat()
    return found.st_dev, found.st_ino


# Descriptors for other uses than public connections: files, fetches, connections to the admin address.
_RESERVE: Final = 256


class TooFewDescriptors(Exception):
    """The limit is too low for the requested connections. The message has the highest possible number."""


def raise_descriptor_limit(connections: int | None) -> int:
    """Raise the soft limit of this process and its workers as far as needed; return the maximum of connections.

    The default is `MAX_CONNECTIONS`, or less if the hard limit requires it. Raises `TooFewDescriptors`.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    room = _descriptors(hard) - min(_RESERVE, _descriptors(hard) // 2)
    most = max(1, min(MAX_CONNECTIONS, room)) if connections is None else connections
    if connections is not None and connections > room:
        raise TooFewDescriptors(f"a process can have at most {room:,} (ulimit -Hn allows {hard:,} descriptors)")
    needed = min(most + _RESERVE, _descriptors(hard))
    if _descriptors(soft) < needed:
        resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))
    return most


def _descriptors(limit: int) -> int:
    return 1 << 30 if limit == resource.RLIM_INFINITY else limit
