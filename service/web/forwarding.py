"""Who asked the proxy that asks us: X-Forwarded-For, and Forwarded (RFC 7239)."""

import re
from collections.abc import Iterable, Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final, TypeAlias

from multidict import MultiMapping, istr

from service.web.fields import QUOTED

FORWARDED: Final = istr("Forwarded")
X_FORWARDED_FOR: Final = istr("X-Forwarded-For")
# The address of whoever comes over a Unix socket, and what such proxies are called.
UNIX: Final = "unix"
# So many proxies are passed at most: nobody has more, and what stands before them may be made up, and long.
MAX_PROXIES: Final = 32
# A longer Forwarded is not believed: to know where its quotes are it is read from its beginning, which a client writes.
MAX_FORWARDED: Final = 2048

_WORD: Final = r"[!#$%&'*+.^_`|~0-9A-Za-z-]++"
_VALUE: Final = rf"{_WORD}|{QUOTED}"
_PAIR: Final = re.compile(rf"({_WORD})=({_VALUE})")
_ELEMENT: Final = re.compile(rf"{_WORD}=(?:{_VALUE})(?:;{_WORD}=(?:{_VALUE}))*+")
_ELEMENTS: Final = re.compile(rf"[ \t]*{_ELEMENT.pattern}(?:[ \t]*,[ \t]*{_ELEMENT.pattern})*+[ \t]*")
# An address, with or without a port; one of IPv6 that has a port stands in brackets. A zone means nothing elsewhere.
_NODE: Final = re.compile(r"([0-9.]+)(?::[0-9]{1,5})?|\[([0-9A-Fa-f:.]+)\](?::[0-9]{1,5})?|([0-9A-Fa-f:.]+)")

Network: TypeAlias = IPv4Network | IPv6Network
Address: TypeAlias = IPv4Address | IPv6Address


class Forwarding:
    """Tells whose requests these are, as far as proxies that are trusted tell it."""

    def __init__(self, networks: Iterable[Network] = (), *, unix: bool = False) -> None:
        """Trust the proxies in some networks, and with `unix` those that come over a Unix socket."""
        self._networks, self._unix = tuple(networks), unix
        self._nobody = not self._networks and not unix

    def client(self, peer: str | None, headers: MultiMapping[str]) -> str:
        """Return the address of the client, for a request that a peer sent; `unix` where that has none and tells none.

        It is the last address noted that is no trusted proxy's. Where something that is no address stands there, or
        the two fields differ, as when a proxy sets one and lets the client's other pass, it is the peer's own.
        """
        own = peer or UNIX
        if self._nobody or not self._trusts_peer(peer):
            return own
        told = {self._outermost(read(headers.getall(name))) for name, read in _READERS.items() if name in headers}
        return (told.pop() if len(told) == 1 else None) or own

    def _outermost(self, noted: Sequence[str]) -> str | None:
        """Return the first address that is no proxy's, or the last one; None for what is no address."""
        address = None
        for each in noted:
            address = _address(each)
            if address is None or not self._trusts(address):
                break
        return None if address is None else str(address)

    def _trusts_peer(self, peer: str | None) -> bool:
        if not peer:
            return self._unix
        address = _address(peer.partition("%")[0])
        return address is not None and self._trusts(address)

    def _trusts(self, address: Address) -> bool:
        return any(address in network for network in self._networks)


# Lets no proxy tell.
NOBODY: Final = Forwarding()


def read_forwarding(texts: Iterable[str]) -> Forwarding:
    """Return the forwarding of trusted proxies: addresses, networks, `unix`. Raises ValueError, which says why."""
    proxies = set(texts)
    return Forwarding([_network(text) for text in sorted(proxies - {UNIX})], unix=UNIX in proxies)


def _network(text: str) -> Network:
    try:
        return ip_network(text)
    except ValueError as error:
        why = "it has bits beyond its mask" if "host bits" in str(error) else "write an address, 10.0.0.0/8 or unix"
        raise ValueError(f"{text!r} is no network: {why}") from error


def _x_forwarded_for(fields: Sequence[str]) -> list[str]:
    """Return what proxies noted, the nearest one first."""
    noted = ",".join(fields).rsplit(",", MAX_PROXIES)[-MAX_PROXIES:]
    return [each.strip(" \t") for each in reversed(noted)]


def _forwarded(fields: Sequence[str]) -> list[str]:
    """Return what proxies noted, the nearest one first; the empty text for one that noted no address, or two."""
    text = ",".join(fields)
    if len(text) > MAX_FORWARDED or not _ELEMENTS.fullmatch(text):
        return []
    return [_for(element) for element in reversed(_ELEMENT.findall(text)[-MAX_PROXIES:])]


def _for(element: str) -> str:
    addresses = [value for name, value in _PAIR.findall(element) if name.lower() == "for"]
    return addresses[0].strip('"') if len(addresses) == 1 else ""


def _address(text: str) -> Address | None:
    node = _NODE.fullmatch(text)
    try:
        address = ip_address(node[1] or node[2] or node[3]) if node else None
    except ValueError:
        return None
    return (address.ipv4_mapped or address) if isinstance(address, IPv6Address) else address


_READERS: Final = {X_FORWARDED_FOR: _x_forwarded_for, FORWARDED: _forwarded}
