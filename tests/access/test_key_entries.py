"""What is kept of keys."""

from datetime import UTC
from typing import Any

import msgspec
import orjson
import pytest
from hypothesis import given, strategies as st

from service.access.api_key import digest, new_key
from service.access.key_entries import MOST_BYTES, BadKeys, KeyEntry, read_keys, with_key, without_key, write_keys
from service.access.principal import Principal
from service.access.request_rate import Rate
from tests.access.made_up_keys import DAY, NOW, entry

SOUND = write_keys([entry(), entry(name="other", rate="5/min", burst=9, expires_at=NOW, revoked_at=NOW)])
# No value that was put in place of one of these is ever quoted.
SECRET = "hunter2-hunter2"  # noqa: S105 - that is what it stands for

moments = st.datetimes(timezones=st.just(UTC))
names = st.sampled_from(["shop", "7", "a.b_c@d-E"])
entries = st.builds(
    KeyEntry,
    name=names,
    sha256=st.binary(min_size=32, max_size=32).map(bytes.hex),
    created_at=moments,
    expires_at=st.none() | moments,
    revoked_at=st.none() | moments,
    rate=st.sampled_from(["100/s", "1/d"]),
    burst=st.none() | st.integers(1, 9),
)


def register(**changes: Any) -> dict[str, Any]:
    """Return a sound register with another value in its first entry."""
    parsed: dict[str, Any] = orjson.loads(SOUND)
    parsed["keys"][0] |= changes
    return parsed


def without(field: str) -> dict[str, Any]:
    """Return a register whose first entry lacks a field."""
    parsed = register()
    del parsed["keys"][0][field]
    return parsed


def check_read_or_refused(stored: bytes) -> None:
    try:
        read_keys(stored)
    except BadKeys:
        return


@given(st.lists(entries, unique_by=lambda each: each.sha256))
def test_what_is_written_is_read_back(kept: list[KeyEntry]) -> None:
    assert read_keys(write_keys(kept)) == tuple(kept)


@given(st.binary())
def test_any_bytes_are_read_or_refused(stored: bytes) -> None:
    check_read_or_refused(stored)


@given(at=st.integers(0, len(SOUND)), until=st.integers(0, len(SOUND)), between=st.binary(max_size=20))
def test_a_register_damaged_anywhere_is_read_or_refused(at: int, until: int, between: bytes) -> None:
    check_read_or_refused(SOUND[:at] + between + SOUND[until:])


@given(st.recursive(st.none() | st.integers() | st.text() | st.floats(), st.lists))
def test_any_value_in_place_of_any_is_read_or_refused(value: Any) -> None:
    for field in KeyEntry.__struct_fields__:
        check_read_or_refused(msgspec.json.encode(register(**{field: value})))


@given(st.integers(0, len(SOUND.rstrip()) - 1))
def test_a_register_that_is_cut_anywhere_is_refused(length: int) -> None:
    with pytest.raises(BadKeys, match=r"it is empty|it is cut off"):
        read_keys(SOUND[:length])


@pytest.mark.parametrize(
    ("parsed", "told"),
    [
        (register(name="two words"), "matching regex .* at `\\$.keys\\[0\\].name`"),
        (register(name="x" * 65), "regex"),
        (register(name="x\n"), "regex"),
        (register(name=new_key()), "regex"),
        (register(sha256="0" * 63), "regex"),
        (register(sha256="Z" * 64), "regex"),
        (register(created_at="2026-01-01T00:00:00"), "timezone"),
        (register(expires_at="soon"), "RFC3339"),
        (register(rate=SECRET), "rate and burst are none"),
        (register(rate=None, burst=3), "rate and burst are none"),
        (register(rate="1/s", burst=0), "rate and burst are none"),
        (register(**{SECRET: 1}), "it has a field that is none of a key file"),
        (without("sha256"), "missing required field `sha256`"),
        (register() | {"format": 2}, "Invalid enum value 2"),
        (register() | {SECRET: 1}, "it has a field that is none of a key file"),
        (register() | {"keys": [*register()["keys"], register()["keys"][0]]}, "a key stands twice"),
        (register() | {"keys": SECRET}, "Expected `array`"),
        ([], "Expected `object`"),
    ],
)
def test_a_register_that_is_none_is_refused_and_not_quoted(parsed: Any, told: str) -> None:
    with pytest.raises(BadKeys, match=told) as raised:
        read_keys(orjson.dumps(parsed))
    assert SECRET not in str(raised.value)


def test_more_keys_than_are_read_are_not_written() -> None:
    with pytest.raises(BadKeys, match="take revoked keys out"):
        write_keys([entry()] * (MOST_BYTES // 200))


def test_a_key_is_valid_until_the_moment_at_which_it_expires_or_is_revoked() -> None:
    second = DAY / 86_400
    assert entry().state(NOW) == "valid"
    assert entry(expires_at=NOW).state(NOW - second) == "valid"
    assert entry(expires_at=NOW).state(NOW) == "expired"
    assert entry(expires_at=NOW, revoked_at=NOW).state(NOW) == "revoked"


def test_a_key_names_who_asks_and_how_much_and_is_found_by_its_digest() -> None:
    kept = entry("k", rate="5/min", burst=9)
    assert kept.principal == Principal("shop", Rate(5, 60, 9))
    assert entry().principal == Principal("shop")
    assert kept.digest == digest("k")
    assert digest("k").hex().startswith(kept.id)


def test_a_name_is_taken_by_a_living_key_alone() -> None:
    another = entry(created_at=NOW)
    for over in (entry(revoked_at=NOW), entry(expires_at=NOW), entry(name="other")):
        assert with_key((over,), another) == (over, another)
    with pytest.raises(BadKeys, match="there is a living key shop"):
        with_key((entry(),), another)


def test_to_revoke_is_to_mark_all_of_a_name_that_are_not_revoked() -> None:
    earlier, living, other = entry(revoked_at=NOW), entry(), entry(name="other")
    first, second, third = without_key((earlier, living, other), "shop")
    assert (first, third) == (earlier, other)
    assert second.revoked_at is not None
    for name in ("shop", "nobody"):
        with pytest.raises(BadKeys, match="there is no key of that name"):
            without_key((first,), name)
