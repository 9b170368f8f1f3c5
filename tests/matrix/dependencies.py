"""The dependencies of the project, as pyproject.toml states them."""

import tomllib
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, Final

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

FILE: Final = Path(__file__).parents[2] / "pyproject.toml"
_STATED: Final = tomllib.loads(FILE.read_text("utf-8"))
_PROJECT: Final[Mapping[str, Any]] = _STATED["project"]

PYTHONS: Final = SpecifierSet(_PROJECT["requires-python"])
# What the tests need beside the dependencies.
EXTRAS: Final = ("dev", "redis")


def lines() -> list[str]:
    """Return all requirements as they are written: those of the build, of the service and of each extra."""
    extras = _PROJECT["optional-dependencies"].values()
    return [*_STATED["build-system"]["requires"], *_PROJECT["dependencies"], *chain.from_iterable(extras)]


def requirements() -> list[Requirement]:
    """Return the requirements that the tests run with, by name."""
    extras = [line for extra in EXTRAS for line in _PROJECT["optional-dependencies"][extra]]
    found = {package(each): each for each in map(Requirement, [*_PROJECT["dependencies"], *extras])}
    return [found[each] for each in sorted(found)]


def of_python(stated: Sequence[Requirement], release: str) -> list[Requirement]:
    """Return those of some requirements that a release of Python has."""
    minor = {"python_version": ".".join(release.split(".")[:2])}
    return [each for each in stated if each.marker is None or each.marker.evaluate(minor)]


def package(requirement: Requirement) -> str:
    """Return the normalized name of the required package."""
    return canonicalize_name(requirement.name)


def lower_bounds(requirement: Requirement) -> list[Version]:
    """Return the releases at which a requirement begins: one, where it is as it should be."""
    return [Version(each.version) for each in requirement.specifier if each.operator == ">="]


def upper_bounds(requirement: Requirement) -> list[Version]:
    """Return the releases before which a requirement ends: one at most."""
    return [Version(each.version) for each in requirement.specifier if each.operator == "<"]


def not_at_lower_bound(stated: Sequence[Requirement], releases: Mapping[str, str]) -> list[str]:
    """Return what an installation of the lowest releases does not prove: packages at another than their lower bound."""
    return [
        f"{package(each)} is {releases.get(package(each), 'missing')}, not {bound}, its lower bound"
        for each in stated
        for bound in lower_bounds(each)
        if Version(releases.get(package(each), "0")) != bound
    ]
