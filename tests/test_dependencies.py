"""Each dependency in pyproject.toml has bounds and a reason for them."""

import re
import tomllib
from itertools import chain

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from tests.matrix import PROJECT, ROOT, lowest

TEXT = (ROOT / "pyproject.toml").read_text("utf-8")
LINES = [
    *tomllib.loads(TEXT)["build-system"]["requires"],
    *PROJECT["dependencies"],
    *chain.from_iterable(PROJECT["optional-dependencies"].values()),
]
WHY = "bounded, as "


def bounds_of(requirement: Requirement, operator: str) -> list[str]:
    """Return the releases at which a requirement begins (`>=`), or before which it ends (`<`)."""
    return [each.version for each in requirement.specifier if each.operator == operator]


def comment(line: str, text: str = TEXT) -> str:
    """Return what a text says of a requirement, on the same line; nothing where there is no comment."""
    found = re.search(rf'"{re.escape(line)}"[\],]* *# (.+)$', text, re.MULTILINE)
    return found[1] if found else ""


@pytest.mark.parametrize("line", LINES)
def test_each_has_one_lower_bound_at_most_one_upper_and_says_what_for_and_why_bounded(line: str) -> None:
    requirement = Requirement(line)
    (least,) = bounds_of(requirement, ">=")
    assert Requirement(lowest(line)).specifier == SpecifierSet(f"=={least}")
    bounds = (1, len(bounds_of(requirement, "<")))
    assert bounds[1] <= 1
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
    ("line", "pinned"),
    [("a>=1.2", "a==1.2"), ('A.b>=1.20,<2; python_version < "3.14"', 'A.b==1.20; python_version < "3.14"')],
)
def test_the_lowest_release_is_that_of_the_lower_bound(line: str, pinned: str) -> None:
    assert lowest(line) == pinned
