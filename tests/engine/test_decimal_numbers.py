"""Numbers of many keys at once, compared with those of one key after the other."""

from hypothesis import example, given, strategies as st

from service.engine.columns.column import StringArray
from service.engine.geography.locations import decimal_numbers
from service.model.kinds import key_number, number_key

DIGITS = st.integers(0, 10**18).map(str)
DECIMALS = st.builds(
    "{}{}.{}{}".format, st.sampled_from(["", "-"]), DIGITS, DIGITS, st.sampled_from(["", "e-12", "e9", "e40"])
)
DEGREES = st.decimals(-180, 180, places=7).map(str)


@given(st.lists(DECIMALS | DEGREES))
@example(["0", "-0.1", "90", "123456789012345", "1234567890123456", "0.000000000000000123456789012345", "1e40"])
def test_many_keys_have_the_numbers_that_each_has(texts: list[str]) -> None:
    keys = [number_key(text).encode() for text in texts]
    assert decimal_numbers(StringArray.of(keys)).tolist() == list(map(key_number, keys))
