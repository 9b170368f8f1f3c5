"""`store-directory help`."""

import os
from contextlib import suppress
from pathlib import Path

import pytest

from tests.program import PROGRAM, SECONDS, environment, run_here, usage
from tests.warm import Warm

DOCS = Path(__file__).parents[2] / "docs"
PAGES = sorted(file.stem for file in DOCS.glob("*.md") if file.name != "README.md")


def test_every_page_is_listed_on_one_line_of_80_columns_as_in_the_index() -> None:
    ended = run_here("help")
    heading, *lines = ended.stdout.splitlines()
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "`store-directory help PAGE`" in heading
    assert sorted(line.split()[0] for line in lines) == PAGES
    assert max(map(len, ended.stdout.splitlines())) <= 80
    assert "  glossary              terms of this project" in lines
    index = (DOCS / "README.md").read_text().replace("`", "")
    assert all(line.split(maxsplit=1)[1] in index for line in lines)


@pytest.mark.parametrize("page", PAGES)
def test_a_page_is_printed_to_the_byte_in_a_pipe(page: str) -> None:
    ended = usage("help", page)
    assert (ended.exit_code, ended.stderr) == (0, "")
    assert ended.stdout_bytes == (DOCS / f"{page}.md").read_bytes()


@pytest.mark.parametrize(
    ("page", "what_to_do"),
    [
        ("maping", "did you mean mapping?"),
        ("mapping.md", "did you mean mapping?"),
        ("serve", "`store-directory serve --help` describes the command"),
        ("README", "`store-directory help` lists the pages"),
        ("../README", "`store-directory help` lists the pages"),
    ],
)
def test_an_unknown_page_is_a_usage_error_that_names_the_nearest(page: str, what_to_do: str) -> None:
    ended = usage("help", page)
    assert (ended.exit_code, ended.stdout) == (2, "")
    assert f"no such page {page!r}; {what_to_do}\n" in ended.stderr


@pytest.mark.process
def test_a_page_is_shown_by_the_pager_on_a_terminal() -> None:
    leader, follower = os.openpty()
    command = [*PROGRAM, "help", "glossary"]
    settings = environment({"PAGER": "sed s/^/paged:/"})
    with Warm(command, stdin=follower, stdout=follower, stderr=follower, env=settings) as process:
        os.close(follower)
        shown = b""
        with suppress(OSError):  # the end of a terminal whose other side is closed
            while piece := os.read(leader, 1 << 16):
                shown += piece
        assert process.wait(SECONDS) == 0
    os.close(leader)
    page = (DOCS / "glossary.md").read_text().splitlines()
    assert shown.decode().splitlines() == [f"paged:{line}" for line in page]
