"""Values that are kept up to so many bytes."""

from hypothesis import given, strategies as st

from service.engine.kept import Kept

SIZES = st.lists(st.integers(0, 40), max_size=30)


@given(SIZES, st.integers(0, 100))
def test_the_latest_values_are_kept_as_far_as_there_is_room(sizes: list[int], most_bytes: int) -> None:
    kept = Kept[int](most_bytes)
    for key, size in enumerate(sizes):
        kept.keep(key, key, size)
    fitting = [key for key, size in enumerate(sizes) if size <= most_bytes]
    while sum(sizes[key] for key in fitting) > most_bytes:
        fitting.pop(0)
    assert list(kept) == fitting
    assert [key for key in range(len(sizes)) if kept.get(key) is not None] == fitting


def test_what_is_cleared_is_forgotten_and_its_room_is_free() -> None:
    kept = Kept[str](10)
    kept.keep("a", "one", 10)
    kept.clear()
    assert kept.get("a") is None
    kept.keep("b", "two", 10)
    assert list(kept) == ["two"]
