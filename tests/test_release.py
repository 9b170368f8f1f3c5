"""Releases: what forbids one, and what is derived of the version, the changes and the repository's address."""

import hashlib
import os
import shutil
import subprocess
import tomllib
from base64 import b64decode
from pathlib import Path

import orjson
import pytest
from hatchling.metadata.core import ProjectMetadata
from hatchling.plugin.manager import PluginManager

from service import __version__
from tools import project_urls, release, release_notes

ROOT = Path(__file__).parents[1]
CHANGELOG = "# Changelog\n\n## 0.2.0 - 2026-11-24\n\n### Added\n\n- A.\n\n## 0.1.0 - 2026-01-02\n\n- B.\n"
WHO = {f"GIT_{role}_{field}": "x@example.org" for role in ("AUTHOR", "COMMITTER") for field in ("NAME", "EMAIL")}


def git(folder: Path, *arguments: str) -> None:
    environment = {**os.environ, **WHO, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True, env=environment)  # noqa: S607 - Git, wherever it is


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    (tmp_path / "CHANGELOG.md").write_text(CHANGELOG)
    chart = tmp_path / release.CHART
    chart.parent.mkdir(parents=True)
    chart.write_text("version: 0.2.0\nappVersion: 0.2.0\n")
    for arguments in (("init",), ("add", "."), ("commit", "-m", "First")):
        git(tmp_path, *arguments)
    return tmp_path


@pytest.mark.process
@pytest.mark.parametrize("name", ["CHANGELOG.md", "new.txt"])
def test_only_a_checkout_without_changed_or_new_files_can_be_released(checkout: Path, name: str) -> None:
    assert list(release.obstacles(checkout, "0.2.0")) == []
    with (checkout / name).open("a") as file:
        file.write("\n")
    (found,) = release.obstacles(checkout, "0.2.0")
    assert found.startswith("there are changes that are not committed:\n")
    assert name in found


@pytest.mark.process
def test_a_tagged_version_is_not_released_again(checkout: Path) -> None:
    git(checkout, "tag", "v0.2.0")
    assert list(release.obstacles(checkout, "0.2.0")) == []  # the workflow of the tag
    git(checkout, "commit", "--allow-empty", "-m", "Next")
    assert list(release.obstacles(checkout, "0.2.0")) == [
        "the tag v0.2.0 is of another commit: raise the version in service/__init__.py"
    ]


@pytest.mark.process
def test_a_version_without_dated_notes_with_unreleased_changes_or_of_development_is_refused(checkout: Path) -> None:
    (checkout / "CHANGELOG.md").write_text(CHANGELOG.replace("## 0.2.0 - 2026-11-24", "## Unreleased"))
    git(checkout, "commit", "--all", "-m", "Unreleased")
    assert list(release.obstacles(checkout, "0.2.0")) == [
        "CHANGELOG.md has no section '## 0.2.0 - YYYY-MM-DD'",
        "CHANGELOG.md has unreleased changes: move them to the section of 0.2.0",
    ]
    found, *_ = release.obstacles(checkout, "0.3.0.dev0")
    assert found == "0.3.0.dev0 is a version of development: make it 0.3.0 in service/__init__.py"


def test_the_notes_of_a_version_are_its_section_alone() -> None:
    assert release_notes.release_notes(CHANGELOG, "0.2.0") == "### Added\n\n- A."
    assert release_notes.release_notes(CHANGELOG, "0.1.0") == "- B."
    assert release_notes.release_notes(CHANGELOG, "0.2") == ""


def test_the_version_of_the_project_has_a_dated_section_of_changes_or_is_in_development() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text()
    released = release_notes.release_notes(changelog, __version__)
    assert bool(released) != (".dev" in __version__)
    assert not (released and release_notes.unreleased(changelog))


@pytest.mark.process
@pytest.mark.parametrize("line", ["version: 0.1.0\nappVersion: 0.2.0", "version: 0.2.0\nappVersion: 0.1.0"])
def test_a_chart_of_another_version_forbids_a_release_until_the_command_was_run(checkout: Path, line: str) -> None:
    (checkout / release.CHART).write_text(f"{line}\n")
    git(checkout, "commit", "--all", "-m", "Chart")
    (found,) = release.obstacles(checkout, "0.2.0")
    assert found.startswith(f"{release.CHART} has another version: `python -m tools.release chart`")
    assert release.with_chart_version(line, "0.2.0") == "version: 0.2.0\nappVersion: 0.2.0"


def test_the_chart_has_the_version_of_the_program() -> None:
    chart = (ROOT / release.CHART).read_text()
    assert chart == release.with_chart_version(chart, __version__)


def test_checksums_are_those_of_the_files(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"content")
    assert release.checksums([tmp_path / "a.txt"]) == f"{hashlib.sha256(b'content').hexdigest()}  a.txt\n"


BOM = {
    "metadata": {"component": {"bom-ref": "root-component", "name": "store-directory"}},
    "components": [{"name": "numpy"}],
    "dependencies": [{"ref": "numpy"}, {"ref": "root-component", "dependsOn": ["numpy"]}],
}


def test_the_sbom_has_the_version_and_the_files_of_other_projects_with_their_licences_and_hashes() -> None:
    bom = orjson.loads(release.completed(orjson.dumps(BOM), "0.2.0"))
    assert bom["metadata"]["component"] == {"bom-ref": "root-component", "name": "store-directory", "version": "0.2.0"}
    numpy, *vendored = bom["components"]
    assert numpy == {"name": "numpy"}
    leaflet = {each["name"]: each for each in vendored}["leaflet"]
    assert (leaflet["version"], leaflet["purl"]) == ("1.9.4", "pkg:npm/leaflet@1.9.4")
    assert leaflet["licenses"] == [{"license": {"id": "BSD-2-Clause", "acknowledgement": "declared"}}]
    # As the project publishes it for pages that load the release from elsewhere.
    integrity = b64decode("20nQCchB9co0qIjJZRGuk2/Z9VM+kNiyxNV1lvTlZBo=").hex()
    assert {"alg": "SHA-256", "content": integrity} in [
        digest for file in leaflet["components"] for digest in file["hashes"]
    ]
    references = [each["bom-ref"] for each in vendored]
    assert bom["dependencies"] == [
        {"ref": "numpy"},
        {"ref": "root-component", "dependsOn": ["numpy", *references]},
        *({"ref": reference} for reference in references),
    ]


@pytest.fixture
def owned(tmp_path: Path) -> Path:
    """Return a copy of what the metadata are made of, with the one setting of the owner."""
    text = (ROOT / "pyproject.toml").read_text()
    repository = project_urls.repository_of(ROOT)
    (tmp_path / "pyproject.toml").write_text(
        text.replace(f'repository = "{repository}"', 'repository = "https://code.example/owner/store-directory"')
    )
    for name in ("service/__init__.py", "tools/project_urls.py", "README.md", "LICENSE", "CHANGELOG.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def test_all_urls_of_the_package_and_of_the_notes_follow_from_one_setting(owned: Path) -> None:
    urls = ProjectMetadata(str(owned), PluginManager()).core.urls
    assert urls["Source"] == "https://code.example/owner/store-directory"
    assert urls["Documentation"] == f"{urls['Source']}/blob/v{__version__}/docs/README.md"
    assert all(url.startswith(urls["Source"]) for url in urls.values())
    notes = release.notes(owned, __version__)
    assert [url for url in urls.values() if url not in notes] == []


def test_without_the_setting_the_package_has_no_urls() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert "urls" in project["dynamic"]
    assert project_urls.project_urls("", "1.0.0") == {}
