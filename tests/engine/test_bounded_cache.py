"""A cache with a maximum size in bytes."""

from hypothesis import given, strategies as st

from service.engine.columns.bounded_cache import ENTRY_BYTES, BoundedCache

SIZE = st.integers(ENTRY_BYTES, ENTRY_BYTES + 200)  # of a value and its entry
SIZES = st.lists(SIZE, max_size=30)
MOST = st.integers(0, 10 * ENTRY_BYTES)


@given(SIZES, MOST)
def test_the_newest_values_that_fit_are_cached(sizes: list[int], max_bytes: int) -> None:
    cache = BoundedCache[int, int](max_bytes)
    for key, size in enumerate(sizes):
        cache.put(key, key, size - ENTRY_BYTES)
    fitting = [key for key, size in enumerate(sizes) if size <= max_bytes]
    while sum(sizes[key] for key in fitting) > max_bytes:
        fitting.pop(0)
    assert list(cache) == fitting
    assert [key for key in range(len(sizes)) if cache.get(key) is not None] == fitting


def test_a_cleared_cache_is_empty_and_accepts_values_up_to_its_maximum() -> None:
    cache = BoundedCache[str, str](ENTRY_BYTES + 10)
    cache.put("a", "one", 10)
    cache.clear()
    assert cache.get("a") is None
    cache.put("b", "two", 10)
    assert list(cache) == ["two"]


@given(st.lists(st.tuples(st.integers(0, 4), SIZE), max_size=30), MOST)
def test_a_value_that_replaces_another_takes_its_place(puts: list[tuple[int, int]], max_bytes: int) -> None:
    cache = BoundedCache[int, int](max_bytes)
    sizes: dict[int, int] = {}
    for key, size in puts:
        cache.put(key, size, size - ENTRY_BYTES)
        if size <= max_bytes:
            sizes.pop(key, None)
            sizes[key] = size
            while sum(sizes.values()) > max_bytes:
                del sizes[next(iter(sizes))]
        assert {key: cache.get(key) for key in range(5) if key in cache} == sizes
