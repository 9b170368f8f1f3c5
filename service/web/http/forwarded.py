"""The client's address behind proxies: X-Forwarded-For. The standard field Forwarded (RFC 7239) is ignored."""

import re
from collections.abc import Iterable
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final, TypeAlias

from multidict import MultiMapping, istr

from service.access.api_key import KEY_PREFIX, redacted
from service.model.operation import REQUEST_ID_HEADER
from service.web.http.header_fields import MAX_CHARACTERS

REQUEST_ID: Final = istr(REQUEST_ID_HEADER)
TRACE_PARENT: Final = istr("traceparent")

# The identifiers of proxies and clients: UUIDs, ULIDs, base64. None of these characters needs quoting anywhere.
_SAFE: Final = re.compile(r"[A-Za-z0-9._~+/=:@-]{1,128}")
# Version, trace, parent and flags; versions after 00 may have further parts (W3C Trace Context, section 3.2).
_PARENT: Final = re.compile(
    r"(?P<version>[0-9a-f]{2})-(?P<trace>[0-9a-f]{32})-(?P<parent>[0-9a-f]{16})-[0-9a-f]{2}(?P<more>-.*)?"
)


def safe_id(received: str | None) -> str | None:
    """Return an identifier that may be echoed in a header and logged: it has no special character and no key."""
    if received is None or _SAFE.fullmatch(received) is None:
        return None
    return None if KEY_PREFIX in received and redacted(received) != received else received


def trace_id(parent: str | None) -> str | None:
    """Return the trace identifier in a `traceparent` field; None if the field is missing or invalid."""
    parsed = _PARENT.fullmatch(parent) if parent is not None and len(parent) <= MAX_CHARACTERS else None
    if parsed is None or parsed["version"] == "ff" or (parsed["version"] == "00" and parsed["more"]):
        return None
    return parsed["trace"] if parsed["trace"].strip("0") and parsed["parent"].strip("0") else None


X_FORWARDED_FOR: Final = istr("X-Forwarded-For")
# The address of a peer on a Unix socket, and its name among the trusted proxies.
UNIX: Final = "unix"
# Only the last addresses are read: no chain of proxies is longer, and the client can forge what is before them.
MAX_PROXIES: Final = 32

# An address with an optional port; IPv6 with a port is in brackets. Zones are refused, as they are local to a host.
_NODE: Final = re.compile(r"([0-9.]+)(?::[0-9]{1,5})?|\[([0-9A-Fa-f:.]+)\](?::[0-9]{1,5})?|([0-9A-Fa-f:.]+)")

# The first 64 bits of an IPv6 address, which one client may have to itself: four groups of digits.
_NETWORK_CHARACTERS: Final = 19

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

        It is the last address in the field that is not a trusted proxy's. If that is not a valid address, it is the
        peer's.
        """
        own = peer or UNIX
        if self._is_empty or X_FORWARDED_FOR not in headers or not self._trusts_peer(peer):
            return own
        address = None
        for element in reversed(",".join(headers.getall(X_FORWARDED_FOR)).rsplit(",", MAX_PROXIES)[-MAX_PROXIES:]):
            address = _address(element.strip(" \t"))
            if address is None or not self._trusts(address):
                break
        return own if address is None else str(address)

    def ignores(self, peer: str | None, headers: MultiMapping[str]) -> bool:
        """Return whether a request says whom its peer forwards, who is not trusted with that."""
        return X_FORWARDED_FOR in headers and not self._trusts_peer(peer)

    def _trusts_peer(self, peer: str | None) -> bool:
        if not peer:
            return self._unix
        address = _address(peer.partition("%")[0])
        return address is not None and self._trusts(address)

    def _trusts(self, address: Address) -> bool:
        return any(address in network for network in self._networks)


NO_PROXIES: Final = TrustedProxies()


def client_network(client: str) -> str:
    """Return what the addresses of a client have in common: an IPv4 address, the first 64 bits of one of IPv6, `unix`.

    An IPv4 address that is mapped to IPv6 is itself.
    """
    address = _address(client.partition("%")[0]) if ":" in client else None
    if isinstance(address, IPv6Address):
        return address.exploded[:_NETWORK_CHARACTERS]
    return client if address is None else str(address)


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


def _address(text: str) -> Address | None:
    node = _NODE.fullmatch(text)
    try:
        address = ip_address(node[1] or node[2] or node[3]) if node else None
    except ValueError:
        return None
    return (address.ipv4_mapped or address) if isinstance(address, IPv6Address) else address
