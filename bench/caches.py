"""The caches of this process, to be emptied before a measurement."""

import functools
import gc
from collections.abc import Callable

from service.engine.bounded_cache import BoundedCache


def caches(packages: tuple[str, ...] = ("service.",)) -> list[Callable[[], object]]:
    """Return what empties each cache: those of the packages' functions, and the bounded ones of the service."""
    objects = gc.get_objects()
    functions = [each for each in objects if isinstance(each, functools._lru_cache_wrapper)]  # noqa: SLF001 - it has no other name
    bounded: list[Callable[[], object]] = [each.clear for each in objects if isinstance(each, BoundedCache)]
    return [*bounded, *(each.cache_clear for each in functions if each.__wrapped__.__module__.startswith(packages))]
