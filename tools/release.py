"""Make a release, but publish nothing: `make release` writes all files of a version into dist/.

An sdist and a wheel, both installed elsewhere and tried; an SBOM of what the wheel installs; release notes; checksums.
"""

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import orjson

from service import __version__
from tools.project_urls import project_urls, repository_of
from tools.release_notes import release_notes, unreleased
from tools.trial_installation import installed, try_service

ROOT: Final = Path(__file__).parents[1]
CHART: Final = "deploy/helm/store-directory/Chart.yaml"
VENDORED: Final = ROOT / "service" / "web" / "vendored" / "vendored.toml"


def obstacles(root: Path, version: str) -> Iterator[str]:
    """Yield what forbids to release a version from a checkout, and what to do."""
    tag = ("tag", "--list", f"v{version}")
    if changed := _git(root, "status", "--porcelain"):
        yield f"there are changes that are not committed:\n{changed}"
    if ".dev" in version:
        release = version.partition(".dev")[0]
        yield f"{version} is a version of development: make it {release} in service/__init__.py"
    elif _git(root, *tag) and not _git(root, *tag, "--points-at", "HEAD"):
        yield f"the tag v{version} is of another commit: raise the version in service/__init__.py"
    chart = (root / CHART).read_text("utf-8")
    if chart != with_chart_version(chart, version):
        yield f"{CHART} has another version: `python -m tools.release chart` writes that of service/__init__.py"
    changelog = (root / "CHANGELOG.md").read_text("utf-8")
    if not release_notes(changelog, version):
        yield f"CHANGELOG.md has no section '## {version} - YYYY-MM-DD'"
    if unreleased(changelog):
        yield f"CHANGELOG.md has unreleased changes: move them to the section of {version}"


def with_chart_version(chart: str, version: str) -> str:
    """Return Chart.yaml with a version; those of charts are semantic ones (semver.org)."""
    semantic = re.sub(r"\.dev\d+$", "-dev", version)
    return re.sub(
        r"^(version|appVersion): .*$",
        lambda line: f"{line[1]}: {semantic if line[1] == 'version' else version}",
        chart,
        flags=re.MULTILINE,
    )


def notes(root: Path, version: str) -> str:
    """Return the release notes of a version, with its links."""
    links = [f"- {name}: {url}" for name, url in project_urls(repository_of(root), version).items()]
    changes = release_notes((root / "CHANGELOG.md").read_text("utf-8"), version)
    return "\n".join([f"# Store Directory {version}", "", changes, *(["", *links] if links else []), ""])


def checksums(files: list[Path]) -> str:
    """Return the SHA-256 of files, as `sha256sum --check` reads them."""
    return "".join(f"{sha256(file.read_bytes()).hexdigest()}  {file.name}\n" for file in files)


def completed(bom: bytes, version: str) -> bytes:
    """Return an SBOM of packages with the version of its subject, and with the files of other projects that it has."""
    document = orjson.loads(bom)
    subject = document["metadata"]["component"]
    subject["version"] = version
    vendored = [_component(project) for project in tomllib.loads(VENDORED.read_text("utf-8")).values()]
    references = [component["bom-ref"] for component in vendored]
    document["components"] += vendored
    for dependency in document["dependencies"]:
        if dependency["ref"] == subject["bom-ref"]:
            dependency["dependsOn"] = [*dependency.get("dependsOn", ()), *references]
    document["dependencies"] += [{"ref": reference} for reference in references]
    return orjson.dumps(document, option=orjson.OPT_INDENT_2)


def _component(project: dict[str, Any]) -> dict[str, Any]:
    package = f"pkg:npm/{project['name']}@{project['version']}"
    return {
        "bom-ref": package,
        "type": "library",
        "name": project["name"],
        "version": project["version"],
        "purl": package,
        "licenses": [{"license": {"id": project["licence"], "acknowledgement": "declared"}}],
        "externalReferences": [{"type": "website", "url": project["website"]}],
        "components": [
            {"type": "file", "name": name, "hashes": [{"alg": "SHA-256", "content": digest}]}
            for name, digest in project["sha256"].items()
        ],
    }


def _release(dist: Path) -> None:
    stem = f"store_directory-{__version__}"
    _python("build", "--outdir", dist, ROOT)  # the wheel is built from the sdist
    wheel, sdist = dist / f"{stem}-py3-none-any.whl", dist / f"{stem}.tar.gz"
    _python("twine", "check", "--strict", wheel, sdist)
    bom = dist / f"{stem}.cdx.json"
    for distribution in (sdist, wheel):
        with installed(distribution) as programs:
            print(f"{distribution.name}: {try_service(programs)}")
            if distribution == wheel:
                options = ("--output-reproducible", "--pyproject", ROOT / "pyproject.toml", "--output-file", bom)
                _python("cyclonedx_py", "environment", *options, programs / "python")
    bom.write_bytes(completed(bom.read_bytes(), __version__))
    text = dist / f"{stem}.md"
    text.write_text(notes(ROOT, __version__), "utf-8")
    files = [sdist, wheel, bom, text]
    (dist / f"{stem}.sha256").write_text(checksums(files), "utf-8")
    print("", *(f"dist/{file.name}" for file in files), f"dist/{stem}.sha256", sep="\n")


def _python(module: str, *arguments: str | Path) -> None:
    subprocess.run([sys.executable, "-m", module, *arguments], check=True)


def _git(root: Path, *arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=root, check=True, capture_output=True, text=True).stdout.strip()


def main() -> None:
    """Release the version of the checkout, or say what forbids it; `chart` writes the version into Chart.yaml."""
    if sys.argv[1:] == ["chart"]:
        chart = ROOT / CHART
        chart.write_text(with_chart_version(chart.read_text("utf-8"), __version__), "utf-8")
        return
    if found := list(obstacles(ROOT, __version__)):
        sys.exit("\n".join(f"No release: {each}" for each in found))
    if not repository_of(ROOT):
        print("Warning: `repository` in pyproject.toml is not set: the package has no links", file=sys.stderr)
    _release(ROOT / "dist")


if __name__ == "__main__":
    main()
