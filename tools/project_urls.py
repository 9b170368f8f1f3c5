"""The URLs of the project, all from the one setting of its owner: `repository` in pyproject.toml."""

import tomllib
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface


class ProjectUrls(MetadataHookInterface):
    """Adds the URLs to the metadata of the package, as hatchling builds it; none without the setting."""

    PLUGIN_NAME = "custom"

    def update(self, metadata: dict[str, Any]) -> None:
        """Set the field `urls`, which is dynamic."""
        metadata["urls"] = project_urls(str(self.config["repository"]), str(metadata["version"]))


def repository_of(root: Path) -> str:
    """Return the setting of a checkout; empty if it is not set."""
    hatch = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["tool"]["hatch"]
    return str(hatch["metadata"]["hooks"]["custom"]["repository"])


def project_urls(repository: str, version: str) -> dict[str, str]:
    """Return the URLs of a version by their names on package indexes; none without a repository."""
    if not repository:
        return {}
    files = f"{repository}/blob/v{version}"
    return {
        "Source": repository,
        "Documentation": f"{files}/docs/README.md",
        "Changelog": f"{files}/CHANGELOG.md",
        "Issues": f"{repository}/issues",
    }
