"""Campaigns: hypothesis against the model, random requests, the complexity of readers, or atheris on one target."""

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from math import inf
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic, perf_counter
from typing import Final

import msgspec

from tests.composition.coverage_counters import CoverageCounters
from tests.composition.session import run_session
from tests.fuzz.complexity import Reader, cpu_time, measure
from tests.fuzz.targets import Target

_MAX_RUN_SECONDS: Final = 10
_MAX_MIB: Final = 1_024
_MIXED_REQUESTS: Final = 1_000_000
_REQUESTS_OF_A_SEED: Final = 20_000
_DONE: Final = re.compile(r"^stat::number_of_executed_units: +([0-9]+)$", re.MULTILINE)
_PASSED: Final = re.compile(r"\b([0-9]+) passed\b")
_REACHED: Final = re.compile(r"\bcov: ([0-9]+) ft: ([0-9]+)")


class Campaign(msgspec.Struct, frozen=True):
    """The result of one: the number of runs, the coverage if known, and the output of a finding.

    figures  more about the runs, in lines
    """

    name: str
    runs: int
    seconds: float
    coverage: int = 0
    features: int = 0
    finding: str = ""
    figures: str = ""


def compare_with_model(cases: int, *, seed: int) -> Campaign:
    """Compare so many responses of the service with those of its model."""
    return msgspec.structs.replace(_tested("model", seed, "tests/fastapi_model", FUZZ_CASES=str(cases)), runs=cases)


def try_properties(*, seed: int) -> Campaign:
    """Try each property of the tests with random examples."""
    return _tested("properties", seed, "-m", "hypothesis")


def _tested(name: str, seed: int, *tests: str, **variables: str) -> Campaign:
    """Run tests with the examples of a seed; runs are the tests that passed."""
    started = perf_counter()
    options = ("--show-capture=no", "--hypothesis-profile=random", f"--hypothesis-seed={seed}")
    ended = _run([sys.executable, "-m", "pytest", *options, *tests], {**os.environ, **variables})
    passed = _PASSED.search(ended.stdout)
    repeat = f"seed {seed}; to repeat it: make fuzz ARGS='--seed {seed} {name}'\n"
    finding = ended.stdout + repeat if ended.returncode else ""
    return Campaign(name, int(passed[1]) if passed else 0, perf_counter() - started, finding=finding)


def compose(*, seed: int, seconds: int | None) -> Campaign:
    """Send a million random requests to services, restarted for each seed from the first, or stop after a time."""
    started = monotonic()
    deadline = inf if seconds is None else started + seconds
    counts, finding = CoverageCounters(), ""
    while not finding and counts["requests"] < _MIXED_REQUESTS and monotonic() < deadline:
        with TemporaryDirectory() as folder:
            try:
                counts.update(run_session(Path(folder), seed, _REQUESTS_OF_A_SEED, deadline=deadline))
            except AssertionError as error:
                finding = "\n".join((str(error), *error.__notes__, ""))
        seed += 1
    if not finding and (missing := counts.missing()):
        finding = f"too few of each: {missing}\n"
    return Campaign("composition", counts["requests"], monotonic() - started, finding=finding, figures=f"{counts}\n")


def measure_complexity(readers: Mapping[str, Reader], *, seconds: float) -> Campaign:
    """Measure the CPU time of readers on growing inputs of many shapes; superlinear growth is a finding."""
    started = perf_counter()
    for reader in readers.values():
        reader.read(b"")  # once, because the first call fills caches
    shapes, figures, findings = 0, [], []
    with cpu_time() as work:
        for name, verdict in measure(readers, seconds, work):
            shapes += verdict.shapes
            figures.append(f"{name}: {verdict.worst or 'negligible'}\n")
            findings += [f"{name} is superlinear: {growth}\n" for growth in verdict.superlinear]
    took = perf_counter() - started
    return Campaign("growth", shapes, took, finding="".join(findings), figures="".join(figures))


def fuzz(name: str, target: Target, *, runs: int, seconds: int) -> Campaign:
    """Fuzz a target, with a limit of runs and time, from the corpus of earlier runs."""
    folder = Path(__file__).parent / "found" / name
    corpus = folder / "corpus"
    corpus.mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(target.seeds):
        (corpus / f"seed-{number}").write_bytes(seed)
    limits = (f"-runs={runs}", f"-max_total_time={seconds}", f"-max_len={target.longest}")
    bounds = (f"-timeout={_MAX_RUN_SECONDS}", f"-rss_limit_mb={_MAX_MIB}", f"-artifact_prefix={folder}/")
    started = perf_counter()
    harness = (sys.executable, "-m", "tests.fuzz.atheris_harness", name)
    ended = _run([*harness, *limits, *bounds, "-print_final_stats=1", str(corpus)], dict(os.environ))
    coverage, features = (int(number) for number in (_REACHED.findall(ended.stdout) or [(0, 0)])[-1])
    done = _DONE.search(ended.stdout)
    finding = _end_of(ended.stdout) if ended.returncode else ""
    return Campaign(name, int(done[1]) if done else 0, perf_counter() - started, coverage, features, finding)


def _run(command: list[str], environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Run a command; its standard error goes to its output."""
    return subprocess.run(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
        env=environment,
        cwd=Path(__file__).parents[2],
        encoding="utf-8",
        errors="replace",
    )


def _end_of(output: str) -> str:
    """Return the output of a finding: the traceback, and the file with the input."""
    _, mark, finding = output.partition("=== Uncaught Python exception")
    return mark + finding if mark else output[-4_000:]
