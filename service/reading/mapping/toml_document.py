"""Parse the document of a mapping as TOML, within bounds."""

import re
import tomllib
from typing import Any, Final

from service.reading.batches.diagnostics import FileError

_LINE: Final = re.compile(r"at line ([0-9]+)")
_QUOTES_HINT: Final = '; texts and names of columns are in straight quotes, as in city = "Ort"'
MAX_SIZE: Final = 1 << 20  # bytes; a mapping is written by a person
_MAX_DOTS: Final = 1_000  # in a line; tomllib takes the square of the length of a dotted key, which is in one line


def parse_toml(stored: bytes) -> dict[str, Any]:
    """Return the tables of a document. Raises FileError."""
    if len(stored) > MAX_SIZE:
        raise FileError(f"the mapping is larger than {MAX_SIZE >> 20} MiB")
    try:
        text = stored.decode("utf-8-sig").replace("\r\n", "\n")
        _check_dots(text)
        return tomllib.loads(text)
    except UnicodeDecodeError:
        raise FileError("the mapping is not UTF-8: save it as UTF-8") from None
    except RecursionError:
        raise FileError("the mapping is nested too deeply") from None
    except tomllib.TOMLDecodeError as error:
        line = _LINE.search(str(error))
        hint = _QUOTES_HINT if str(error).startswith("Invalid value") else ""
        raise FileError(f"not valid TOML: {error}{hint}", int(line[1]) if line else None) from None
    except ValueError:  # an integer of more digits than Python converts
        raise FileError("a number of the mapping is too long") from None


def _check_dots(text: str) -> None:
    for line, content in enumerate(text.split("\n"), 1):
        if content.count(".") > _MAX_DOTS:
            raise FileError(f"the line has more than {_MAX_DOTS:,} dots: break it into several", line)
