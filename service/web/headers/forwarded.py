"""The client's address behind proxies: X-Forwarded-For and Forwarded (RFC 7239)."""

import re
from collections.abc import Iterable, Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final, TypeAlias

from multidict import MultiMapping, istr

from service.web.headers.list_fields import QUOTED

FORWARDED: Final = istr("Forwarded")
X_FORWARDED_FOR: Final = istr("X-Forwarded-For")
# The address of a peer on a Unix socket, and its name among the trusted proxies.
UNIX: Final = "unix"
# Only the last addresses are read: no chain of proxies is longer, and the client can forge what is before them.
MAX_PROXIES: Final = 32
# A longer Forwarded is ignored: its quotes have to be parsed from the beginning, which the client controls.
MAX_FORWARDED: Final = 8190

_WORD: Final = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_PAIR: Final = rf"({_WORD})=({_WORD}|{QUOTED})"
_ELEMENT: Final = rf"{_PAIR}(?:;{_PAIR})*"
_ELEMENTS: Final = re.compile(rf"[ \t]*{_ELEMENT}(?:[ \t]*,[ \t]*{_ELEMENT})*[ \t]*")
_PAIR_OR_COMMA: Final = re.compile(rf"{_PAIR}|,")
# An address with an optional port; IPv6 with a port is in brackets. Zones are refused, as they are local to a host.
_NODE: Final = re.compile(r"([0-9.]+)(?::[0-9]{1,5})?|\[([0-9A-Fa-f:.]+)\](?::[0-9]{1,5})?|([0-9A-Fa-f:.]+)")

Network: TypeAlias = IPv4Network | IPv6Network
Address: TypeAlias = IPv4Address | IPv6Address


class TrustedProxies:
    """Finds the client's address behind trusted proxies."""

    def __init__(self, networks: Iterable[Network] = (), *, unix: bool = False) -> None:
        """Trust proxies in these networks, and with `unix` those that connect over a Unix socket."""
        self._networks, self._unix = tuple(networks), unix
        self._is_empty = not self._networks and not unix

    def client(self, peer: str | None, headers: MultiMapping[str]) -> str:
        """Return the address of the client that sent a request through a peer; `unix` for an unknown one.

        It is the last address in the field that is not a trusted proxy's. If that is not a valid address, or the two
        fields differ (a proxy sets one and passes on the client's other), it is the peer's.
        """
        own = peer or UNIX
        if self._is_empty or not self._trusts_peer(peer):
            return own
        found = {self._client_in(parse(headers.getall(name))) for name, parse in _PARSERS.items() if name in headers}
        return (found.pop() if len(found) == 1 else None) or own

    def _client_in(self, chain: Sequence[str]) -> str | None:
        """Return the first address in a chain that is not a trusted proxy's, or its last; None if it is invalid."""
        address = None
        for each in chain:
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


NO_PROXIES: Final = TrustedProxies()


def parse_trusted_proxies(texts: Iterable[str]) -> TrustedProxies:
    """Parse addresses, networks and `unix`. Raises `ValueError` with the reason."""
    proxies = set(texts)
    return TrustedProxies([_network(text) for text in sorted(proxies - {UNIX})], unix=UNIX in proxies)


def _network(text: str) -> Network:
    try:
        return ip_network(text)
    except ValueError as error:
        why = "it has host bits set" if "host bits" in str(error) else "write an address, 10.0.0.0/8 or unix"
        raise ValueError(f"{text!r} is not a network: {why}") from error


def _x_forwarded_for(fields: Sequence[str]) -> list[str]:
    """Return the addresses that proxies added, the nearest first."""
    last = ",".join(fields).rsplit(",", MAX_PROXIES)[-MAX_PROXIES:]
    return [each.strip(" \t") for each in reversed(last)]


def _forwarded(fields: Sequence[str]) -> list[str]:
    """Return the addresses that proxies added, the nearest first; "" for an element without one, or with two."""
    text = ",".join(fields)
    if len(text) > MAX_FORWARDED or not _ELEMENTS.fullmatch(text):
        return []
    elements: list[list[str]] = [[]]
    for pair in _PAIR_OR_COMMA.finditer(text):
        if pair[1] is None:
            elements.append([])
        elif pair[1].lower() == "for":
            elements[-1].append(pair[2].strip('"'))
    return [each[0] if len(each) == 1 else "" for each in elements[: -MAX_PROXIES - 1 : -1]]


def _address(text: str) -> Address | None:
    node = _NODE.fullmatch(text)
    try:
        address = ip_address(node[1] or node[2] or node[3]) if node else None
    except ValueError:
        return None
    return (address.ipv4_mapped or address) if isinstance(address, IPv6Address) else address


_PARSERS: Final = {X_FORWARDED_FOR: _x_forwarded_for, FORWARDED: _forwarded}
