"""The workflows of GitHub: actionlint accepts them, what they run is here, and nobody can exchange an action."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
import yaml

from tests.deploy.rendered_chart import ROOT, Values
from tests.program import SECONDS

WORKFLOWS: Final = {path.stem: path for path in (ROOT / ".github" / "workflows").glob("*.yml")}
JOBS: Final[dict[str, Values]] = {
    f"{name}: {job}": each
    for name, path in WORKFLOWS.items()
    for job, each in yaml.safe_load(path.read_text())["jobs"].items()
}


def steps() -> Iterator[Values]:
    """Yield the steps of all jobs."""
    for job in JOBS.values():
        yield from job.get("steps", [])


@pytest.mark.process
def test_actionlint_accepts_them() -> None:
    command = [
        str(Path(sys.executable).with_name("actionlint")),
        "-no-color",
        "-shellcheck=",
        *map(str, WORKFLOWS.values()),
    ]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")


@pytest.mark.parametrize("name", WORKFLOWS)
def test_each_action_is_a_commit_of_a_named_release_or_a_file_here(name: str) -> None:
    text = WORKFLOWS[name].read_text()
    for action in re.findall(r"\buses: (.+)$", text, re.MULTILINE):
        local = re.fullmatch(r"\./(\S+)", action)
        assert (ROOT / local[1]).is_file() if local else re.fullmatch(r"\S+@[0-9a-f]{40} # v\d+\.\d+\.\d+", action), (
            action
        )


def test_an_action_is_the_same_commit_everywhere() -> None:
    used = {step["uses"] for step in steps() if "uses" in step}
    assert len({action.partition("@")[0] for action in used}) == len(used)


def test_each_command_is_a_target_a_script_or_prepares_the_runner() -> None:
    makefile = (ROOT / "Makefile").read_text()
    for command in (str(step["run"]) for step in steps() if "run" in step):
        program, argument = [*command.split(), ""][:2]
        if program == "make":
            assert re.search(rf"^{re.escape(argument.replace('.venv', '$(VENV)'))}:", makefile, re.MULTILINE), command
        elif program.startswith(".ci/"):
            assert os.access(ROOT / program, os.X_OK), command
            assert not argument or re.search(rf"^{argument}\(\) {{", (ROOT / program).read_text(), re.MULTILINE), (
                command
            )
        else:
            assert program in {"sudo", "docker"}, command


@pytest.mark.parametrize("name", JOBS)
def test_a_job_may_write_only_what_it_publishes_and_ends(name: str) -> None:
    job = JOBS[name]
    assert ("timeout-minutes" in job) == ("steps" in job)
    written = {scope for scope, access in job.get("permissions", {}).items() if access == "write"}
    assert written == {
        "release: build": {"id-token", "attestations"},
        "release: packages": {"id-token"},
        "release: image": {"packages", "id-token", "attestations"},
        "release: chart": {"packages"},
        "release: notes": {"contents"},
    }.get(name, set())


@pytest.mark.parametrize("name", WORKFLOWS)
def test_a_workflow_without_permissions_of_a_job_only_reads(name: str) -> None:
    assert yaml.safe_load(WORKFLOWS[name].read_text())["permissions"] == {"contents": "read"}
