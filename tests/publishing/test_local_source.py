"""Files are read once they have stopped changing."""

from collections.abc import Callable
from time import time

import pytest

from service.publishing.local_source import wait_until_stable
from service.reading.files.container import DataSignature
from tests.program import SECONDS

QUIET_SECONDS = DataSignature("", 0, verifiable=True).quiet_seconds


def signature(fingerprint: str, changed_at: float, *, proven: bool = True) -> DataSignature:
    return DataSignature(fingerprint, changed_at, proven)


Signatures = Callable[[float], list[DataSignature]]
STEPS = 5
CASES: dict[str, tuple[Signatures, float]] = {
    "old files at once": (lambda now: [signature("last", now - 100)], 0),
    "files that have just changed": (lambda now: [signature("last", now)], QUIET_SECONDS),
    "files with times in the future": (
        lambda now: [signature("one", now + 3600), signature("last", now + 3600)],
        QUIET_SECONDS,
    ),
    "files that keep changing": (
        lambda now: (
            [signature(f"{step}", now + step * QUIET_SECONDS / 2) for step in range(STEPS)]
            + [signature("last", now + STEPS * QUIET_SECONDS / 2)]
        ),
        (STEPS / 2 + 1) * QUIET_SECONDS,
    ),
    "the quiet time is that of the last signature": (
        lambda now: [signature("with proof", now + 3600), signature("last", now + 3600, proven=False)],
        signature("", 0, proven=False).quiet_seconds,
    ),
}


@pytest.mark.parametrize(("signatures", "least_seconds"), CASES.values(), ids=CASES)
async def test_files_are_stable_once_they_have_not_changed_for_the_quiet_time(
    signatures: Signatures, least_seconds: float
) -> None:
    began = time()
    left, reads = signatures(began), 0

    def read() -> DataSignature:
        nonlocal reads
        reads += 1
        return left.pop(0) if len(left) > 1 else left[0]

    assert (await wait_until_stable(read)).fingerprint == "last"
    assert least_seconds <= time() - began < SECONDS
    assert (reads == 1) is (least_seconds == 0)
