"""The client's address behind proxies."""

from ipaddress import ip_address

import pytest
from hypothesis import example, given, strategies as st
from multidict import CIMultiDict

from service.web.headers.forwarded import MAX_FORWARDED, MAX_PROXIES, TrustedProxies, parse_trusted_proxies

PROXY, OTHER_PROXY, CLIENT, STRANGER = "10.0.0.1", "10.9.9.9", "203.0.113.7", "198.51.100.3"
TRUSTED = parse_trusted_proxies(["10.0.0.0/8", "fd00::/8"])
X_FORWARDED_FOR, FORWARDED = "X-Forwarded-For", "Forwarded"


def client(*fields: tuple[str, str], peer: str | None = PROXY, trusted: TrustedProxies = TRUSTED) -> str:
    return trusted.client(peer, CIMultiDict(fields))


def test_without_a_trusted_proxy_the_peer_is_the_client() -> None:
    fields = ((X_FORWARDED_FOR, CLIENT), (FORWARDED, f"for={CLIENT}"))
    assert client(*fields, trusted=TrustedProxies()) == PROXY
    assert client(*fields, peer=STRANGER) == STRANGER
    assert client(*fields, peer=None) == "unix"


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


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (f"for={CLIENT}", CLIENT),
        (f'For="{CLIENT}:4711";Proto=https;by={PROXY}', CLIENT),
        ('host="a,for=1.2.3.4";for="[2001:db8::7]:4711"', "2001:db8::7"),
        (f"for={STRANGER}, for={CLIENT} , for={OTHER_PROXY}", CLIENT),
        (f"for=unknown,for={CLIENT}", CLIENT),
    ],
)
def test_forwarded_works_like_x_forwarded_for(value: str, expected: str) -> None:
    assert client((FORWARDED, value)) == expected


@pytest.mark.parametrize(
    "fields",
    [
        (),
        ((X_FORWARDED_FOR, ""),),
        ((X_FORWARDED_FOR, "unknown"),),
        ((X_FORWARDED_FOR, f"{CLIENT},"),),
        ((X_FORWARDED_FOR, f"{CLIENT}, here, {OTHER_PROXY}"),),
        ((X_FORWARDED_FOR, "203.0.113.256"),),
        ((X_FORWARDED_FOR, "203.0.113.07"),),
        ((X_FORWARDED_FOR, "fe80::1%\x1b[31m"),),
        ((X_FORWARDED_FOR, "２03.0.113.7"),),  # noqa: RUF001 - a digit that is not ASCII
        ((FORWARDED, "proto=https"),),
        ((FORWARDED, "for=_hidden"),),
        ((FORWARDED, "for=unknown"),),
        ((FORWARDED, f"for={CLIENT};for={STRANGER}"),),
        ((FORWARDED, f"for={CLIENT}, for={OTHER_PROXY};"),),
        ((FORWARDED, f'for={STRANGER};by="'), (FORWARDED, f'for={CLIENT};by="{PROXY}"')),
        ((FORWARDED, f"for={CLIENT}" + ";a=b" * MAX_FORWARDED),),
        # A proxy that sets one field and passes on the client's other.
        ((FORWARDED, f"for={STRANGER}"), (X_FORWARDED_FOR, CLIENT)),
        ((FORWARDED, "for=_hidden"), (X_FORWARDED_FOR, CLIENT)),
    ],
)
def test_an_invalid_field_leaves_the_address_of_the_peer(fields: tuple[tuple[str, str], ...]) -> None:
    assert client(*fields) == PROXY


def test_repeated_fields_are_one_list_and_both_fields_may_agree() -> None:
    lines = ((X_FORWARDED_FOR, STRANGER), (X_FORWARDED_FOR, f"{CLIENT}, {PROXY}"))
    assert client(*lines, (FORWARDED, f"for={CLIENT}")) == CLIENT


def test_proxies_on_a_unix_socket_are_trusted_by_name() -> None:
    local = parse_trusted_proxies(["unix"])
    for peer in (None, ""):
        assert client((X_FORWARDED_FOR, CLIENT), peer=peer, trusted=local) == CLIENT
        assert client(peer=peer, trusted=local) == "unix"
    assert client((X_FORWARDED_FOR, CLIENT), trusted=local) == PROXY


def test_the_number_of_proxies_is_limited() -> None:
    chain = [CLIENT, *(f"10.1.0.{number}" for number in range(MAX_PROXIES))]
    assert client((X_FORWARDED_FOR, ",".join(chain))) == "10.1.0.0"
    assert client((FORWARDED, ",".join(f"for={each}" for each in chain))) == "10.1.0.0"
    assert client((X_FORWARDED_FOR, ",".join(chain[:-1]))) == CLIENT


pieces = st.sampled_from(
    ["for=", "For=", '"', "\\", ",", ";", " ", "by=", "[", "]", ":", "%", PROXY, CLIENT, "::1", "="]
)
values = st.lists(st.text(max_size=20) | pieces).map("".join)


@given(st.lists(st.tuples(st.sampled_from([X_FORWARDED_FOR, FORWARDED]), values)))
@example([(X_FORWARDED_FOR, "::1%\x00")])
@example([(X_FORWARDED_FOR, "\udcff")])
def test_the_client_is_always_a_canonical_address(fields: list[tuple[str, str]]) -> None:
    found = client(*fields)
    assert str(ip_address(found)) == found
    assert "%" not in found


@given(values)
def test_a_client_cannot_forge_its_address_behind_a_proxy_that_appends(forged: str) -> None:
    assert client((X_FORWARDED_FOR, f"{forged}, {CLIENT}")) == CLIENT
    appended = f'for="{CLIENT}:4711";by="{PROXY}";host="shop.example"'
    assert client((FORWARDED, forged), (FORWARDED, appended)) in (CLIENT, PROXY)


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
