"""Each dependency in pyproject.toml has bounds and a reason for them."""

import re
import tomllib
from itertools import chain

import pytest
from packaging.requirements import Requirement

from tests.matrix import PROJECT, ROOT, bounds_of, not_at_lower_bound, requirements

TEXT = (ROOT / "pyproject.toml").read_text("utf-8")
LINES = [
    *tomllib.loads(TEXT)["build-system"]["requires"],
    *PROJECT["dependencies"],
    *chain.from_iterable(PROJECT["optional-dependencies"].values()),
]
WHY = "bounded, as "


def comment(line: str, text: str = TEXT) -> str:
    """Return what a text says of a requirement, on the same line; nothing where there is no comment."""
    found = re.search(rf'"{re.escape(line)}"[\],]* *# (.+)$', text, re.MULTILINE)
    return found[1] if found else ""


@pytest.mark.parametrize("line", LINES)
def test_each_has_one_lower_bound_at_most_one_upper_and_says_what_for_and_why_bounded(line: str) -> None:
    requirement = Requirement(line)
    bounds = (len(bounds_of(requirement, ">=")), len(bounds_of(requirement, "<")))
    assert bounds in {(1, 0), (1, 1)}
    assert sum(bounds) == len(requirement.specifier)
    assert comment(line)
    assert bool(bounds_of(requirement, "<")) == (WHY in comment(line))


def test_an_extra_of_a_dependency_has_its_bounds() -> None:
    bounds: dict[str, set[str]] = {}
    for requirement in map(Requirement, LINES):
        bounds.setdefault(requirement.name, set()).add(str(requirement.specifier))
    assert {name: found for name, found in bounds.items() if len(found) > 1} == {}


@pytest.mark.parametrize(
    ("expected", "text"),
    [
        *(("", text) for text in ('    "a>=1",\n    # b', '    "a>=1", #\n', '    "a>=1.2", # b', 'dev = ["a>=1"]')),
        *(("b", text) for text in ('    "a>=1", # b\n', 'dev = ["a>=1"] # b', '    "a>=1",      # b')),
    ],
)
def test_a_comment_or_its_absence_is_found(expected: str, text: str) -> None:
    assert comment("a>=1", text) == expected


@pytest.mark.parametrize(
    ("installed", "errors"),
    [
        ({"a-b": "1.20", "c": "3"}, []),
        ({"a-b": "1.20.0"}, []),
        ({"a-b": "1.20.1"}, ["a-b is 1.20.1, not 1.20, its lower bound"]),
        ({}, ["a-b is missing, not 1.20, its lower bound"]),
    ],
)
def test_a_lower_bound_that_is_not_what_is_installed_is_named(installed: dict[str, str], errors: list[str]) -> None:
    assert list(not_at_lower_bound([Requirement("A.b>=1.20,<2")], installed)) == errors


@pytest.mark.parametrize(("release", "needed"), [("3.11.2", True), ("3.13.0", True), ("3.14.0rc1", False)])
def test_a_release_of_python_has_the_requirements_that_are_for_it(release: str, *, needed: bool) -> None:
    assert ("backports.zstd" in {each.name for each in requirements(release)}) is needed


def test_the_tests_run_with_all_dependencies_and_what_they_need_themselves() -> None:
    assert {"aiohttp", "hatchling", "pytest", "redis"} <= {each.name for each in requirements("3.11.7")}
    assert {"uv", "atheris", "pip-audit"}.isdisjoint(each.name for each in requirements("3.11.7"))
