"""Features are tested together: any combination in a request gets the right reply, with one worker and with two."""

from pathlib import Path
from typing import Final

import pytest

from tests.composition.session import run_session

pytestmark = pytest.mark.process

SEED: Final = 2028
REQUESTS: Final = 1_000


def test_random_requests_get_the_replies_of_the_oracle(tmp_path: Path) -> None:
    counts = run_session(tmp_path, SEED, REQUESTS)
    assert counts.missing() == {}, counts
