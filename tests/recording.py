"""Recorded texts: what must stay the same from release to release. `make recordings` writes them again."""

import os
import re
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path
from typing import Final

_FOLDER: Final = Path(__file__).with_name("recordings")
_IS_RECORDING: Final = os.environ.get("RECORD") == "1"


def check_recorded(name: str, lines: Iterable[str]) -> None:
    """Require the lines that are recorded under a name, or record them."""
    file, text = _FOLDER / f"{name}.txt", "".join(f"{line}\n" for line in lines)
    if _IS_RECORDING:
        file.write_text(text, "utf-8")
    assert text.split("\n") == file.read_text("utf-8").split("\n"), f"{file.name}: `make recordings` records the change"


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
