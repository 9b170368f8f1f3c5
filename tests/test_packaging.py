"""The project as a package index, a new checkout and CI see it."""

import re
import tomllib
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from zipfile import ZipFile

import pytest
from hatchling.builders.wheel import WheelBuilder
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from service.commands.options import bundled_folder

ROOT = Path(__file__).parents[1]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PROJECT = PYPROJECT["project"]
VENDORED = ROOT / "service" / "web" / "vendored"
RECORDED = tomllib.loads((VENDORED / "vendored.toml").read_text())
REQUIREMENTS = [*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["dev"]]


@pytest.mark.parametrize("text", REQUIREMENTS)
def test_every_direct_dependency_has_a_tested_version_within_its_bounds(text: str) -> None:
    lines = re.findall(r"^([^#=\s]+)==(\S+)$", (ROOT / "constraints.txt").read_text(), re.MULTILINE)
    tested = {canonicalize_name(name): version for name, version in lines}
    requirement = Requirement(text)
    assert tested[canonicalize_name(requirement.name)] in requirement.specifier


def test_the_readme_has_no_links_that_break_outside_the_repository() -> None:
    """Its picture is of the repository: elsewhere its text is shown."""
    links = re.findall(r"(!?)\[([^]]*)\]\(([^)]*)\)", (ROOT / "README.md").read_text())
    assert [target for mark, _, target in links if not mark and not target.startswith("https://")] == []
    assert [target for mark, text, target in links if mark and not (text and (ROOT / target).exists())] == []


def test_ci_runs_on_every_python_of_the_classifiers() -> None:
    classified = re.findall(r":: (3\.\d+)", " ".join(PROJECT["classifiers"]))
    workflow = (ROOT / ".github" / "workflows" / "ci.yml").read_text()
    (matrix,) = re.findall(r"python: \[(.*)\]", workflow)
    assert re.findall(r"[\d.]+", matrix) == classified
    assert "run: .ci/run" in workflow


def test_the_package_declares_its_types() -> None:
    assert (ROOT / "service" / "py.typed").read_bytes() == b""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ZipFile]:
    """Return the wheel as `make wheel` builds it."""
    folder = str(tmp_path_factory.mktemp("wheel"))
    with ZipFile(next(WheelBuilder(str(ROOT)).build(directory=folder))) as built:
        yield built


def test_the_wheel_has_the_bundled_data_and_every_page_of_the_documentation(wheel: ZipFile) -> None:
    """What `serve` and `help` read of it, compared with the checkout."""
    for folder in ("datasets", "docs"):
        inside = {name for name in wheel.namelist() if name.startswith(f"service/{folder}/")}
        assert inside == {f"service/{folder}/{file.name}" for file in (ROOT / folder).iterdir()}
        assert all(wheel.read(name) == (ROOT / name.removeprefix("service/")).read_bytes() for name in inside)


def test_the_wheel_has_the_files_of_other_projects_and_their_licences(wheel: ZipFile) -> None:
    files = {file: wheel.read(str(file.relative_to(ROOT))) for file in VENDORED.rglob("*") if file.is_file()}
    assert files == {file: file.read_bytes() for file in files}
    texts = {name for name in wheel.namelist() if ".dist-info/licenses/service/web/vendored/" in name}
    (metadata,) = (name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
    expression = re.findall(r"^License-Expression: (.*)$", wheel.read(metadata).decode(), re.MULTILINE)
    named = {file.relative_to(VENDORED) for file in files if re.search("LICENSE|NOTICE", file.name)}
    assert {Path(name.partition("/vendored/")[2]) for name in texts} == named
    assert {path.parts[0] for path in named if path.name == "LICENSE"} == RECORDED.keys()
    licences = [PROJECT["license"].partition(" ")[0], *(project["licence"] for project in RECORDED.values())]
    assert expression == [" AND ".join(licences)]


def test_files_of_other_projects_are_those_of_the_recorded_releases() -> None:
    hashes = {
        f"{file.parent.name}/{file.name}": sha256(file.read_bytes()).hexdigest()
        for file in VENDORED.glob("*/*")
        if file.is_file()
    }
    recorded = {
        (f"{folder}/{name}"): digest for folder, each in RECORDED.items() for name, digest in each["sha256"].items()
    }
    assert hashes == recorded


@pytest.mark.parametrize("installed", [True, False])
def test_bundled_folders_are_in_an_installed_package_and_beside_it_in_a_checkout(
    tmp_path: Path, *, installed: bool
) -> None:
    package = tmp_path / "service"
    expected = package / "docs" if installed else tmp_path / "docs"
    expected.mkdir(parents=True)
    assert bundled_folder("docs", package=package) == expected


def test_no_data_file_of_the_package_is_ignored_by_git_and_so_left_out_of_the_wheel() -> None:
    ignored = (ROOT / ".gitignore").read_text().splitlines()  # hatchling leaves these out
    data = [file for file in (ROOT / "service").rglob("*") if file.suffix in {".csv", ".json", ".toml"}]
    assert ROOT / "service" / "reading" / "columns" / "countries.json" in data
    assert [file for file in data for pattern in ignored if pattern and file.match(pattern)] == []


def test_the_image_is_built_of_all_that_the_wheel_is_made_of() -> None:
    built = PYPROJECT["tool"]["hatch"]
    wheel = built["build"]["targets"]["wheel"]
    needed = {"pyproject.toml", PROJECT["readme"], *wheel["packages"]}
    needed |= {file for file in PROJECT["license-files"] if file.partition("/")[0] not in needed}
    needed |= wheel["force-include"].keys() | {hook["path"] for hook in built["metadata"]["hooks"].values()}
    kept = re.findall(r"^!(.+)$", (ROOT / ".containerignore").read_text(), re.MULTILINE)
    assert needed <= set(kept)
