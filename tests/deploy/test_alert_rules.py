"""The alerts, as Prometheus itself checks and tests them."""

import subprocess
from pathlib import Path
from typing import Final

import pytest

from tests.interop.software import found
from tests.program import SECONDS

RULES: Final = Path(__file__).parents[2] / "deploy" / "prometheus"


@pytest.mark.process
@pytest.mark.parametrize("arguments", [("check", "rules", "alerts.yml"), ("test", "rules", "alerts.test.yml")])
def test_promtool_accepts_the_rules_and_their_tests_pass(arguments: tuple[str, ...]) -> None:
    command = [found("promtool", package="prometheus"), *arguments]
    ended = subprocess.run(command, cwd=RULES, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
