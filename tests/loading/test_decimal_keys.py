"""The keys of many decimals at once are those of one at a time."""

from hypothesis import given, strategies as st

from service.engine.columns.column import join_keys
from service.loading.fast_path import decimal_keys
from service.model.kinds import number_key

NULL = "\x7f"
PLAIN = st.decimals(min_value=-200, max_value=200, allow_nan=False, places=4).map("{:f}".format)
TEXTS = st.lists(PLAIN | st.just("") | st.text("0019.5-", min_size=1, max_size=6), max_size=6)


def lines(texts: list[str]) -> bytes:
    return "".join(f"{text or NULL}\n" for text in texts).encode()


@given(TEXTS)
def test_keys_are_those_of_each_decimal_if_there_are_any(texts: list[str]) -> None:
    found = decimal_keys(lines(texts), ord(NULL), None)
    assert found in (None, join_keys([number_key(text) if text else None for text in texts]))


@given(st.lists(PLAIN.filter(float), max_size=6))
def test_plain_decimals_have_keys_at_once_if_they_are_in_range(texts: list[str]) -> None:
    keys = join_keys([number_key(text) for text in texts])
    assert decimal_keys(lines(texts), ord(NULL), None) == keys
    inside = all(abs(int(float(text))) < 90 for text in texts)
    assert decimal_keys(lines(texts), ord(NULL), 90.0) == (keys if inside else None)


def test_what_is_no_plain_decimal_has_none() -> None:
    for text in ("0", "-0.0", "1e3", "+1", "1.2.3", "-", ".", "x", "1-2", "0" * 20 + "1", "1" * 20):
        assert decimal_keys(lines(["1.5", text]), ord(NULL), None) is None
