"""The content of a key file."""

from contextlib import suppress
from datetime import UTC
from typing import Any

import msgspec
import orjson
import pytest
from hypothesis import given, strategies as st

from service.access.api_key import Principal, credential, digest, new_key
from service.access.key_file import MAX_FILE_BYTES, KeyEntry, KeyFileError, add_key, encode_keys, read_keys, revoke_key
from service.access.token_bucket import Rate
from tests.access.example_keys import DAY, NOW, entry

VALID = encode_keys([entry(), entry(name="other", rate="5/min", burst=9, expires_at=NOW, revoked_at=NOW)])
# Errors never quote this value.
SECRET = "hunter2-hunter2"  # noqa: S105 - an example

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
# In a public key: its origins, as browsers write them.
ORIGINS = ["https://shop.example", "https://*.shop.example:8443", "http://[::1]:8080"]
INVALID = "rate, burst, origins or per_client is invalid"
INVALID_MEMBERS: list[dict[str, Any]] = [
    {"origins": []},
    {"per_client": "120/min"},
    {"origins": [SECRET]},
    {"origins": ORIGINS, "per_client": SECRET},
    {"origins": ORIGINS, "per_client": ""},
]
public_entries = st.builds(
    KeyEntry,
    name=names,
    sha256=st.binary(min_size=32, max_size=32).map(bytes.hex),
    created_at=moments,
    origins=st.lists(st.sampled_from(ORIGINS), min_size=1).map(tuple),
    per_client=st.sampled_from(["120/min", msgspec.UNSET]),
)


def key_file(**changes: Any) -> dict[str, Any]:
    """Return a valid key file with other values in its first entry."""
    parsed: dict[str, Any] = orjson.loads(VALID)
    parsed["keys"][0] |= changes
    return parsed


def without(field: str) -> dict[str, Any]:
    """Return a key file whose first entry lacks a field."""
    parsed = key_file()
    del parsed["keys"][0][field]
    return parsed


@given(st.lists(entries | public_entries, unique_by=lambda each: each.sha256))
def test_encoded_keys_are_read_back(keys: list[KeyEntry]) -> None:
    assert read_keys(encode_keys(keys)) == tuple(keys)


@given(
    at=st.integers(0, len(VALID)),
    until=st.integers(0, len(VALID)),
    between=st.binary(),
    value=st.recursive(st.none() | st.integers() | st.text() | st.floats(), st.lists),
)
def test_a_key_file_damaged_anywhere_or_with_any_value_of_any_field_is_read_or_rejected(
    at: int, until: int, between: bytes, value: Any
) -> None:
    fields = (msgspec.json.encode(key_file(**{field: value})) for field in KeyEntry.__struct_fields__)
    for content in (between, VALID[:at] + between + VALID[until:], *fields):
        with suppress(KeyFileError):
            read_keys(content)


@given(st.integers(0, len(VALID.rstrip()) - 1))
def test_a_truncated_key_file_is_rejected(length: int) -> None:
    with pytest.raises(KeyFileError, match=r"it is empty|it is cut off"):
        read_keys(VALID[:length])


@pytest.mark.parametrize(
    ("parsed", "message"),
    [
        (key_file(name="two words"), "matching regex .* at `\\$.keys\\[0\\].name`"),
        (key_file(name="x" * 65), "regex"),
        (key_file(name="x\n"), "regex"),
        (key_file(name=new_key()), "regex"),
        (key_file(sha256="0" * 63), "regex"),
        (key_file(sha256="Z" * 64), "regex"),
        (key_file(created_at="2026-01-01T00:00:00"), "timezone"),
        (key_file(expires_at="soon"), "RFC3339"),
        (key_file(rate=SECRET), INVALID),
        (key_file(rate=None, burst=3), INVALID),
        (key_file(rate="1/s", burst=0), INVALID),
        *((key_file(**changes), INVALID) for changes in INVALID_MEMBERS),
        *((key_file(**{member: None}), "Expected") for member in ("origins", "per_client")),
        (key_file(**{SECRET: 1}), "it has an unknown field"),
        (without("sha256"), "missing required field `sha256`"),
        (key_file() | {"format": 2}, "Invalid enum value 2"),
        (key_file() | {SECRET: 1}, "it has an unknown field"),
        (key_file() | {"keys": [*key_file()["keys"], key_file()["keys"][0]]}, "a key is repeated"),
        (key_file() | {"keys": SECRET}, "Expected `array`"),
        ([], "Expected `object`"),
    ],
)
def test_an_invalid_key_file_is_rejected_without_quoting_it(parsed: Any, message: str) -> None:
    with pytest.raises(KeyFileError, match=message) as raised:
        read_keys(orjson.dumps(parsed))
    assert SECRET not in str(raised.value)


def test_more_keys_than_can_be_read_are_not_encoded() -> None:
    with pytest.raises(KeyFileError, match="remove revoked keys"):
        encode_keys([entry()] * (MAX_FILE_BYTES // 200))


def test_a_key_is_valid_until_it_expires_or_is_revoked() -> None:
    second = DAY / 86_400
    assert entry().state(NOW) == "valid"
    assert entry(expires_at=NOW).state(NOW - second) == "valid"
    assert entry(expires_at=NOW).state(NOW) == "expired"
    assert entry(expires_at=NOW, revoked_at=NOW).state(NOW) == "revoked"


def test_an_entry_has_the_principal_the_digest_and_the_id_of_its_key() -> None:
    made = entry("k", rate="5/min", burst=9)
    assert made.principal == Principal("shop", Rate(5, 60, 9))
    assert entry().principal == Principal("shop")
    assert made.credential == digest("k")
    assert digest("k").hex().startswith(made.id)


def test_a_public_entry_has_the_principal_of_its_key_which_no_entry_without_origins_has() -> None:
    key = new_key("sd_pub_")
    made = entry(key, origins=("HTTPS://Shop.example:443",), per_client="120/min")
    assert made.principal == Principal(
        "shop", origins=frozenset({"https://shop.example"}), per_client=Rate(120, 60, 120)
    )
    assert made.credential == credential(key) != entry(key).credential
    assert entry("k", origins=("https://shop.example",)).credential != credential("k")


def test_a_program_before_public_keys_which_forbids_unknown_members_refuses_a_file_with_them_alone() -> None:
    known = {"name", "sha256", "created_at", "expires_at", "revoked_at", "rate", "burst"}
    secret, public = orjson.loads(encode_keys([entry(), entry(origins=(ORIGINS[0],))]))["keys"]
    assert (set(secret) == known, set(public) <= known) == (True, False)


def test_a_name_can_be_reused_once_its_key_is_revoked_or_expired() -> None:
    another = entry(created_at=NOW)
    for over in (entry(revoked_at=NOW), entry(expires_at=NOW), entry(name="other")):
        assert add_key((over,), another) == (over, another)
    with pytest.raises(KeyFileError, match="there is already a valid key shop"):
        add_key((entry(),), another)


def test_revoking_a_name_marks_its_unrevoked_keys() -> None:
    earlier, valid, other = entry(revoked_at=NOW), entry(), entry(name="other")
    first, second, third = revoke_key((earlier, valid, other), "shop")
    assert (first, third) == (earlier, other)
    assert second.revoked_at is not None
    for name, why in (("shop", "shop is revoked already"), ("nobody", "there is no key nobody")):
        with pytest.raises(KeyFileError, match=why):
            revoke_key((first,), name)
