"""The sockets that the service listens on."""

import errno
import socket
from ipaddress import ip_address
from typing import Final

import msgspec

from service.settings import HIGHEST_PORT

# Wildcard addresses: their family, and the address at which the machine itself reaches them.
_WILDCARDS: Final = {"0.0.0.0": ("IPv4", "127.0.0.1"), "::": ("IPv6", "::1")}


class CannotListen(Exception):
    """The address cannot be bound. The message says why, and what to do."""


class Listener(msgspec.Struct, frozen=True):
    """The bound sockets of one address; of a host name perhaps an IPv4 and an IPv6 socket."""

    sockets: tuple[socket.socket, ...] = ()

    @property
    def url(self) -> str:
        """URL of the first address for a client on this machine; "" without sockets."""
        if not self.sockets:
            return ""
        host, port = self.sockets[0].getsockname()[:2]
        _, reachable = _WILDCARDS.get(host, ("", host))
        return f"http://{_join_address(reachable, port)}"

    @property
    def address(self) -> str:
        """Description of the first address: its URL, or "all addresses" for a wildcard."""
        host, port = self.sockets[0].getsockname()[:2] if self.sockets else ("", 0)
        if host not in _WILDCARDS:
            return self.url
        return f"{_join_address(host, port)} (all {_WILDCARDS[host][0]} addresses of this machine)"

    @property
    def is_local(self) -> bool:
        """Whether only this machine can reach it."""
        return all(ip_address(each.getsockname()[0]).is_loopback for each in self.sockets)

    def duplicate(self) -> "Listener":
        """Bind the same addresses again, for another worker. Raises OSError."""
        sockets = (
            _bind(socket.socket(each.family, each.type), each.getsockname(), shared=True) for each in self.sockets
        )
        return Listener(tuple(sockets))

    def clean_up(self) -> None:
        """Remove what remains after the sockets are closed: nothing."""


def bind(host: str, port: int, *, shared: bool, admin: bool = False) -> Listener:
    """Bind every address of a host; port 0 chooses a free one. Raises `CannotListen`.

    A `shared` address can be bound by several workers (SO_REUSEPORT), among which the system distributes connections.
    A first, exclusive bind ensures that no other service uses the address.
    """
    sockets: list[socket.socket] = []
    failure = OSError()
    try:
        for family, kind, protocol, _, address in socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        ):
            free = port or (sockets[0].getsockname()[1] if sockets else 0)
            bound_address = (address[0], free, *address[2:])
            try:
                if shared and free:
                    _bind(socket.socket(family, kind, protocol), bound_address, shared=False).close()
                sockets.append(_bind(socket.socket(family, kind, protocol), bound_address, shared=shared))
            except OSError as error:  # for example IPv6 is not available
                failure = error
    except OSError as error:
        failure = error
    if not sockets:
        reason = failure.strerror or str(failure)
        why = f"cannot listen on {_join_address(host, port)}: {reason}"
        raise CannotListen(why + remedy(failure, host, admin=admin)) from failure
    return Listener(tuple(sockets))


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
