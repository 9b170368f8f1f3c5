"""A run of the tests depends neither on the runs before, nor on which tests it has, nor on how it was started."""

import signal
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
from hypothesis import given, seed, settings, strategies as st

from tests.program import SECONDS

ROOT = Path(__file__).parents[1]
PROPERTY = """
from hypothesis import given, strategies as st

@given(st.integers())
def test_numbers_are_small(number):
    assert number < 1000
"""


def examples() -> list[list[int]]:
    """Return the examples that a test tries."""
    drawn = []

    @seed(0)
    @given(st.lists(st.integers(), min_size=50))
    def draw(numbers: list[int]) -> None:
        drawn.append(numbers)

    draw()
    return drawn


def test_examples_do_not_depend_on_the_modules_that_other_tests_import(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = examples()
    (tmp_path / "imported_meanwhile.py").write_text(f"NUMBERS = {list(range(1_000_000, 1_000_200))}\n")
    monkeypatch.syspath_prepend(tmp_path)
    import_module("imported_meanwhile")
    assert examples() == alone


@pytest.mark.parametrize("profile", ["suite", "thorough", "mutation"])
def test_each_run_tries_the_same_examples(profile: str) -> None:
    assert settings.get_profile(profile).derandomize


@pytest.mark.process
def test_a_failure_of_a_random_example_says_how_to_repeat_it(tmp_path: Path) -> None:
    (tmp_path / "test_numbers.py").write_text(PROPERTY)
    plugins = ("-p", "tests.conftest", "-p", "no:cacheprovider", "-p", "no:schemathesis")
    options = (*plugins, "--hypothesis-profile=random", "--hypothesis-seed=1")
    command = [sys.executable, "-m", "pytest", "--rootdir", str(tmp_path), *options, str(tmp_path)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False, cwd=ROOT)
    assert ended.returncode == 1, ended.stdout
    assert "adding @reproduce_failure(" in ended.stdout


@pytest.mark.process
def test_an_interrupt_reaches_what_tests_start_in_the_background() -> None:
    """There a shell ignores SIGINT, which the processes that are started inherit."""
    script = "import signal, tests.conftest; print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)"
    command = ["sh", "-c", 'trap "" INT && exec "$@"', "sh", sys.executable, "-c", script]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=True, cwd=ROOT)
    assert ended.stdout == "True\n"
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
