"""Recorded texts: what must stay the same from release to release. `make recordings` writes them again."""

import os
import re
from collections.abc import Iterable
from difflib import unified_diff
from hashlib import sha256
from pathlib import Path
from typing import Final

_FOLDER: Final = Path(__file__).with_name("recordings")
_IS_RECORDING: Final = os.environ.get("RECORD") == "1"


def check_recorded(name: str, lines: Iterable[str]) -> None:
    """Require the lines that are recorded under a name, or record them."""
    file, found = _FOLDER / f"{name}.txt", "\n".join(lines)
    if _IS_RECORDING:
        file.write_text(f"{found}\n", "utf-8")
    recorded = file.read_text("utf-8").removesuffix("\n")
    different = list(unified_diff(recorded.split("\n"), found.split("\n"), "recorded", "found", lineterm="", n=0))
    shown = "\n".join(line[:300] for line in different[:40])
    assert found == recorded, f"{file.name} differs; if that is meant, `make recordings`:\n{shown}"


def check_figures(pattern: str, figure: int, pages: Iterable[Path], *, within: float) -> None:
    """Require the figures of pages, each the first group of a pattern, to be about this one, or write it into them."""
    for page in pages:
        text = page.read_text("utf-8")
        found = [int(number) for number in re.findall(pattern, text)]
        is_true = bool(found) and all(abs(number - figure) <= within * figure for number in found)
        if _IS_RECORDING and not is_true:
            page.write_text(re.sub(pattern, lambda each: each[0].replace(each[1], str(figure), 1), text), "utf-8")
        else:
            assert is_true, f"{page.name} has {found}, not {figure}: `make recordings` writes it"


def fingerprint(content: bytes) -> str:
    """Return a short digest, for what is too long to be recorded."""
    return sha256(content).hexdigest()[:16]
