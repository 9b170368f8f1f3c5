"""The client's address behind proxies."""

from ipaddress import ip_address

import pytest
from hypothesis import example, given, strategies as st
from multidict import CIMultiDict

from service.web.http.forwarded import MAX_PROXIES, TrustedProxies, parse_trusted_proxies

PROXY, OTHER_PROXY, CLIENT, STRANGER = "10.0.0.1", "10.9.9.9", "203.0.113.7", "198.51.100.3"
TRUSTED = parse_trusted_proxies(["10.0.0.0/8", "fd00::/8"])
X_FORWARDED_FOR = "X-Forwarded-For"


def client(*fields: tuple[str, str], peer: str | None = PROXY, trusted: TrustedProxies = TRUSTED) -> str:
    return trusted.client(peer, CIMultiDict(fields))


def test_without_a_trusted_proxy_the_peer_is_the_client() -> None:
    field = (X_FORWARDED_FOR, CLIENT)
    assert client(field, trusted=TrustedProxies()) == PROXY
    assert client(field, peer=STRANGER) == STRANGER
    assert client(field, peer=None) == "unix"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (CLIENT, CLIENT),
        (f"{CLIENT}:4711", CLIENT),
        (" 2001:DB8::7\t", "2001:db8::7"),
        ("[2001:db8::7]", "2001:db8::7"),
        ("[2001:db8::7]:4711", "2001:db8::7"),
        ("::ffff:203.0.113.7", CLIENT),
        # From the right, past the trusted proxies; a client may forge what is farther left.
        (f"{STRANGER}, {CLIENT}", CLIENT),
        (f"{STRANGER}, {CLIENT}, {OTHER_PROXY}, fd00::1", CLIENT),
        (f"<script>, {CLIENT}", CLIENT),
        (f"{OTHER_PROXY}, {PROXY}", OTHER_PROXY),
    ],
)
def test_the_client_is_the_last_address_that_is_not_a_trusted_proxys(value: str, expected: str) -> None:
    assert client((X_FORWARDED_FOR, value)) == expected


def test_the_standard_field_forwarded_is_ignored() -> None:
    assert client(("Forwarded", f"for={STRANGER}")) == PROXY
    assert client(("Forwarded", f"for={STRANGER}"), (X_FORWARDED_FOR, CLIENT)) == CLIENT


def test_an_invalid_field_leaves_the_address_of_the_peer() -> None:
    for value in (
        *("", "unknown", f"{CLIENT},", f"{CLIENT}, here, {OTHER_PROXY}", "203.0.113.256", "203.0.113.07"),
        *("fe80::1%\x1b[31m", "２03.0.113.7"),  # noqa: RUF001 - a digit that is not ASCII
    ):
        assert client((X_FORWARDED_FOR, value)) == PROXY, value
    assert client() == PROXY


def test_repeated_fields_are_one_list() -> None:
    assert client((X_FORWARDED_FOR, STRANGER), (X_FORWARDED_FOR, f"{CLIENT}, {PROXY}")) == CLIENT


def test_proxies_on_a_unix_socket_are_trusted_by_name() -> None:
    local = parse_trusted_proxies(["unix"])
    for peer in (None, ""):
        assert client((X_FORWARDED_FOR, CLIENT), peer=peer, trusted=local) == CLIENT
        assert client(peer=peer, trusted=local) == "unix"
    assert client((X_FORWARDED_FOR, CLIENT), trusted=local) == PROXY


def test_the_number_of_proxies_is_limited() -> None:
    chain = [CLIENT, *(f"10.1.0.{number}" for number in range(MAX_PROXIES))]
    assert client((X_FORWARDED_FOR, ",".join(chain))) == "10.1.0.0"
    assert client((X_FORWARDED_FOR, ",".join(chain[:-1]))) == CLIENT


pieces = st.sampled_from(['"', ",", ";", " ", "[", "]", ":", "%", PROXY, CLIENT, "::1"])
values = st.lists(st.text(max_size=5) | pieces, max_size=12).map("".join)


@given(st.lists(st.tuples(st.just(X_FORWARDED_FOR), values), max_size=3))
@example([(X_FORWARDED_FOR, "::1%\x00")])
@example([(X_FORWARDED_FOR, "\udcff")])
def test_the_client_is_always_a_canonical_address(fields: list[tuple[str, str]]) -> None:
    found = client(*fields)
    assert str(ip_address(found)) == found
    assert "%" not in found


@given(values)
def test_a_client_cannot_forge_its_address_behind_a_proxy_that_appends(forged: str) -> None:
    assert client((X_FORWARDED_FOR, f"{forged}, {CLIENT}")) == CLIENT


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("10.0.0.0/33", "'10.0.0.0/33' is not a network: write an address"),
        ("10.0.0.1/8", "it has host bits set"),
        ("proxy.example", "'proxy.example' is not a network"),
        ("", "'' is not a network"),
    ],
)
def test_a_trusted_proxy_is_an_address_a_network_or_unix(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        parse_trusted_proxies(["127.0.0.1", text])
