"""The cost of the garbage collector while caches fill."""

import gc
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from time import thread_time
from typing import Any, Final

import msgspec

from bench.worst.directory import Directory
from service.server.process import GC_THRESHOLD

_GENERATIONS: Final = 3


class Collections(msgspec.Struct, frozen=True):
    """The number of requests that filled the caches; by generation the number of collections, and the longest.

    longest  the seconds for which a request during which there was a collection held the event loop, at most
    """

    requests: int
    counts: list[int]
    seconds: list[float]
    longest: float


class _Recorder:
    """Counts the collections of the garbage collector by generation; the longest of each."""

    def __init__(self) -> None:
        self.counts, self.seconds = [0] * _GENERATIONS, [0.0] * _GENERATIONS
        self._started = 0.0

    def __call__(self, phase: str, info: dict[str, Any]) -> None:
        if phase == "start":
            self._started = thread_time()
            return
        generation = info["generation"]
        self.counts[generation] += 1
        self.seconds[generation] = max(self.seconds[generation], thread_time() - self._started)


@contextmanager
def _recorder() -> Iterator[_Recorder]:
    """Record collections with the threshold of a service."""
    before, recorder = gc.get_threshold(), _Recorder()
    gc.set_threshold(GC_THRESHOLD)
    gc.callbacks.append(recorder)
    try:
        yield recorder
    finally:
        gc.callbacks.remove(recorder)
        gc.set_threshold(*before)


def fill_caches(directory: Directory, targets: Iterable[str]) -> Collections:
    """Request each target once, from empty caches on."""
    directory.clear()
    gc.collect()
    gc.freeze()  # what this bench keeps is no part of a service
    requests, longest = 0, 0.0
    with _recorder() as recorder:
        for target in targets:
            before = sum(recorder.counts)
            seconds = directory.took(target).held
            requests += 1
            if sum(recorder.counts) > before:
                longest = max(longest, seconds)
    return Collections(requests, recorder.counts, recorder.seconds, longest)
