"""The fuzz targets accept any bytes: a short version of `make fuzz`."""

import pytest
from hypothesis import given, strategies as st

from tests.fuzz.targets import TARGETS, Target

each_target = pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS)


@each_target
def test_the_seeds_are_accepted(target: Target) -> None:
    for seed in target.seeds:
        assert len(seed) <= target.longest
        target.read(seed)


@each_target
@given(st.data())
def test_any_bytes_are_read_or_rejected(target: Target, data: st.DataObject) -> None:
    seed = data.draw(st.sampled_from(target.seeds))
    start, stop = data.draw(st.integers(0, len(seed))), data.draw(st.integers(0, len(seed)))
    target.read(seed[:start] + data.draw(st.binary(max_size=20)) + seed[stop:])
