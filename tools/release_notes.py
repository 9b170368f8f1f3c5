"""What CHANGELOG.md says of a version."""

import re


def release_notes(changelog: str, version: str) -> str:
    """Return the text of a version's section, whose heading has a date; empty if there is none."""
    return _section(changelog, rf"{re.escape(version)} - \d{{4}}-\d\d-\d\d")


def unreleased(changelog: str) -> str:
    """Return what is in no version yet; empty if there is nothing."""
    return _section(changelog, "Unreleased")


def _section(changelog: str, heading: str) -> str:
    found = re.search(rf"^## {heading}\n(.*?)(?=^## |\Z)", changelog, re.MULTILINE | re.DOTALL)
    return found[1].strip() if found else ""
