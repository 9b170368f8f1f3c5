"""What a package index, a new checkout and CI see of the project."""

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
REQUIREMENTS = [*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["dev"]]


def canonical(name: str) -> str:
    """Return the name of a distribution as PEP 503 normalizes it."""
    return re.sub(r"[-_.]+", "-", name).lower()


@pytest.mark.parametrize("text", REQUIREMENTS)
def test_every_direct_dependency_has_a_tested_version_within_its_bounds(text: str) -> None:
    lines = re.findall(r"^([^#=\s]+)==(\S+)$", (ROOT / "constraints.txt").read_text(), re.MULTILINE)
    tested = {canonical(name): version for name, version in lines}
    requirement = Requirement(text)
    assert tested[canonical(requirement.name)] in requirement.specifier


def test_the_readme_has_no_links_that_break_outside_the_repository() -> None:
    targets = re.findall(r"\]\(([^)]*)\)", (ROOT / "README.md").read_text())
    assert [target for target in targets if not target.startswith("https://")] == []


def test_every_file_that_the_readme_names_exists() -> None:
    named = re.findall(r"`((?:docs/)?\w+\.md|\w+/)`", (ROOT / "README.md").read_text())
    assert "docs/README.md" in named
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_ci_runs_on_every_python_of_the_classifiers() -> None:
    classified = re.findall(r":: (3\.\d+)", " ".join(PROJECT["classifiers"]))
    workflow = (ROOT / ".github" / "workflows" / "ci.yml").read_text()
    (matrix,) = re.findall(r"python: \[(.*)\]", workflow)
    assert re.findall(r"[\d.]+", matrix) == classified
    assert "run: .ci/run" in workflow


def test_the_package_declares_its_types() -> None:
    assert (ROOT / "service" / "py.typed").read_bytes() == b""
