"""Words that the project does not use: each has a plain technical term, which readers know and search for."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
ROOMS: Final = ("service", "tests", "docs", "bench", "examples", "deploy", "datasets", "tools", ".ci", ".github")
SUFFIXES: Final = {".py", ".md", ".toml", ".html", ".js", ".sh", ".yml", ".yaml", ".cfg", ".conf", ".vcl", ".lua", ""}
# Data, files of other projects, what benchmarks and fuzzing write, and this list.
EXCLUDED: Final = (
    *("service/sampling/data", "service/web/vendored", "bench/data", "bench/results", "tests/fuzz/found"),
    "tests/test_language.py",
)
# A pattern -> what to write instead. `_` counts as a space, so that identifiers are checked too.
REFUSED: Final = {
    r"lets? in": "accept, authenticate",
    r"turn(s|ed|ing)? away": "reject",
    r"who asks|whoever|somebody|anybody": "client, caller, operator, process: name the actor",
    r"told(?! apart)": "report, log, return, raise, configure",
    r"leaves? word": "write, record, log",
    r"stands(?! for| still)": "is, appears, is set, has",
    r"wish(es)?": "filter, predicate, preference",
    r"patience": "timeout",
    r"seldom": "rarely; of logs: throttled",
    r"manieth": "number, n-th",
    r"that which|such as do": "what, the one that",
    r"whither|whence": "where",
}
ANY: Final = re.compile(rf"\b(?:{'|'.join(REFUSED)})\b", re.IGNORECASE)
PATTERNS: Final = {re.compile(rf"\b(?:{words})\b", re.IGNORECASE): instead for words, instead in REFUSED.items()}


def texts() -> Iterator[Path]:
    """Yield the text files of the project."""
    yield from (ROOT / name for name in ("Makefile", "pyproject.toml", *(file.name for file in ROOT.glob("*.md"))))
    for room in ROOMS:
        for file in sorted((ROOT / room).rglob("*")):
            excluded = file.relative_to(ROOT).as_posix().startswith(EXCLUDED) or "__pycache__" in file.parts
            if file.suffix in SUFFIXES and file.is_file() and not excluded:
                yield file


def refused(text: str) -> Iterator[str]:
    """Yield the line number of each refused word, the word, and what to write instead."""
    for number, line in enumerate(text.split("\n") if ANY.search(text.replace("_", " ")) else (), 1):
        for pattern, instead in PATTERNS.items():
            for found in pattern.finditer(line.replace("_", " ")):
                yield f"{number}: {found[0]!r}; write: {instead}"


def test_no_text_has_a_refused_word() -> None:
    checked = list(texts())
    assert {ROOT / "README.md", ROOT / "Makefile", ROOT / "service" / "settings.py"} <= set(checked)
    assert [f"{file.relative_to(ROOT)}:{each}" for file in checked for each in refused(file.read_text("utf-8"))] == []


def test_each_refused_word_is_found_with_its_line_and_plain_words_are_accepted() -> None:
    for text in ("The key that is let in", "def test_a_key_is_let_in() -> None:", "class Told:", "Leave word of it"):
        assert [each[:3] for each in refused(f"A plain line.\n{text}\n")] == ["2: "]
    plain = "an outlet; `0` and `'0'` can be told apart; `{}` stands for it; a clock that stands still; standard output"
    assert list(refused(plain)) == []
