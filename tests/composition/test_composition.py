"""Features are tested together: whatever is mixed into a request, its answer is right, in one process and in two."""

from pathlib import Path
from typing import Final

import pytest

from tests.composition.play import play

pytestmark = pytest.mark.process

SEED: Final = 2026
REQUESTS: Final = 4_000


def test_a_mixed_sequence_of_requests_is_answered_as_each_would_be_alone(tmp_path: Path) -> None:
    mixed = play(tmp_path, SEED, REQUESTS)
    assert mixed.lacking() == {}, mixed
