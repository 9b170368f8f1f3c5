"""The sockets that the service listens on."""

import errno
import socket
from ipaddress import ip_address
from typing import Final

import msgspec

from service.settings import HIGHEST_PORT

# By family, what all addresses of a machine are called, and one of them at which the machine reaches itself.
_ALL: Final = {"0.0.0.0": ("IPv4", "127.0.0.1"), "::": ("IPv6", "::1")}


class CannotListen(Exception):
    """The address cannot be had; the message says why, and what to do."""


class Listener(msgspec.Struct, frozen=True):
    """The bound sockets of one address, which may be one of IPv4 and one of IPv6."""

    sockets: tuple[socket.socket, ...] = ()

    @property
    def url(self) -> str:
        """The first address as a client on this machine writes it; "" where there is none."""
        if not self.sockets:
            return ""
        host, port = self.sockets[0].getsockname()[:2]
        _, reachable = _ALL.get(host, ("", host))
        return f"http://{_joined(reachable, port)}"

    @property
    def place(self) -> str:
        """The first address, for a person: its URL, unless it stands for all addresses of this machine."""
        host, port = self.sockets[0].getsockname()[:2] if self.sockets else ("", 0)
        if host not in _ALL:
            return self.url
        return f"{_joined(host, port)} (all {_ALL[host][0]} addresses of this machine)"

    @property
    def is_local(self) -> bool:
        """Whether only this machine reaches it."""
        return all(ip_address(each.getsockname()[0]).is_loopback for each in self.sockets)

    def again(self) -> "Listener":
        """Bind the same addresses once more, for another worker. Raises OSError."""
        sockets = (
            _bound(socket.socket(each.family, each.type), each.getsockname(), shared=True) for each in self.sockets
        )
        return Listener(tuple(sockets))

    def leave(self) -> None:
        """Take away what stays behind when the sockets are closed: nothing."""


def bind(host: str, port: int, *, shared: bool, admin: bool = False) -> Listener:
    """Bind every address that a host has; port 0 takes a free one. Raises `CannotListen`.

    Where it is `shared`, others may bind the address, too, and listen: the workers of this run, which the system deals
    connections to. Whoever does not belong to the run is refused before that.
    """
    sockets: list[socket.socket] = []
    failure = OSError()
    try:
        for family, kind, protocol, _, address in socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        ):
            free = port or (sockets[0].getsockname()[1] if sockets else 0)
            where = (address[0], free, *address[2:])
            try:
                if shared and free:
                    _bound(socket.socket(family, kind, protocol), where, shared=False).close()
                sockets.append(_bound(socket.socket(family, kind, protocol), where, shared=shared))
            except OSError as error:  # as of IPv6 where there is none
                failure = error
    except OSError as error:
        failure = error
    if not sockets:
        reason = failure.strerror or str(failure)
        why = f"cannot listen on {_joined(host, port)}: {reason}"
        raise CannotListen(why + remedy(failure, host, admin=admin)) from failure
    return Listener(tuple(sockets))


def remedy(failure: OSError, host: str, *, admin: bool) -> str:
    """Return what to do where an address cannot be had, to go behind the reason; "" where that is not known.

    The address is that of `--host` and `--port`, or that of `--admin`.
    """
    option, free = ("--admin", f"--admin {_joined(host, 0)}") if admin else ("--port", "--port 0")
    if failure.errno == errno.EADDRINUSE:
        return f"; {option} names another port, `{free}` takes a free one"
    if failure.errno in (errno.EACCES, errno.EPERM):
        return f"; ports below 1024 need a privilege: {option} names another port, `{free}` takes a free one"
    if isinstance(failure, socket.gaierror) or failure.errno == errno.EADDRNOTAVAIL:
        option = "--admin" if admin else "--host"
        return f"; {option} takes an address of this machine, such as 127.0.0.1, or 0.0.0.0 for all of IPv4"
    return ""


def _joined(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def split_address(text: str) -> tuple[str, int]:
    """Return host and port of HOST:PORT; an IPv6 address stands in brackets. Raises ValueError."""
    host, _, port = text.rpartition(":")
    if not host or not port.isascii() or not port.isdigit() or int(port) > HIGHEST_PORT:
        raise ValueError(f"{text!r} is not HOST:PORT")
    return host.removeprefix("[").removesuffix("]"), int(port)


def _bound(unbound: socket.socket, address: tuple[str | int, ...], *, shared: bool) -> socket.socket:
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
