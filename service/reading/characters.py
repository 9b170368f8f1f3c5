"""Characters that programs left in texts: what is wrong with a text, and how cells are cleaned of it."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, reduce
from html import unescape
from html.entities import html5
from itertools import islice
from operator import methodcaller
from typing import Final

from service.model.kinds import trim
from service.reading.diagnostics import Issue

_C1: Final = range(0x80, 0xA0)  # control characters, which no text of people has
_C1_CHARACTER: Final = re.compile("[\x80-\x9f]")
WINDOWS: Final = "windows-1252"  # what nearly all files with C1 characters were written in
# Format characters (Cf) but those of scripts: joiners between letters that are not ASCII, and tags of flags, stay.
INVISIBLE: Final = re.compile(
    r"[\xad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]"
    r"|(?<![^\0-\x7f])[\u200c\u200d]|[\u200c\u200d](?![^\0-\x7f])"
)
_SPACE: Final = re.compile(r"[\xa0\u1680\u2000-\u200a\u202f\u205f\u3000]")
_REPLACEMENT: Final = "\ufffd"
_BYTES: Final = {code: chr(code) for code in _C1} | {
    ord(bytes([byte]).decode(WINDOWS, "ignore") or chr(byte)): chr(byte) for byte in range(0x80, 0x100)
}
_NEXT: Final = f"[{re.escape(''.join(chr(code) for code, byte in _BYTES.items() if byte < chr(0xC0)))}]"
# UTF-8 that was read as Windows-1252 or Latin-1. Some first bytes are left out: É® and ß“ are what people write.
_TWICE: Final = re.compile(
    rf"[\xc2-\xc5\xce-\xd1\xd7-\xdb\xe0-\xf4](?:(?<=[\xc2-\xdf]){_NEXT}"
    rf"|(?<=[\xe0-\xef]){_NEXT}{{2}}|(?<=[\xf0-\xf4]){_NEXT}{{3}})"
)
# Its beginning in UTF-8, of which it is found several times sooner.
_BEGINS_TWICE: Final = re.compile(rb"\xc3[\x82-\xb4](?:[\xc2\xc6\xcb\xe2]|\xc5[\x92\x93\xa0\xa1\xb8\xbd\xbe])")
_ENTITY: Final = re.compile(r"&(?:amp;)*(#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z][a-zA-Z0-9]{1,31});")
_APOSTROPHE: Final = re.compile(r"^['\u2019](?=\+?[0-9][0-9 ()./+-]*$)", re.MULTILINE)


def _decode_again(match: re.Match[str]) -> str:
    try:
        return match[0].translate(_BYTES).encode("latin-1").decode()
    except UnicodeError:
        return match[0]


def _entity(match: re.Match[str]) -> str:
    return unescape(f"&{match[1]};") if match[1].startswith("#") or f"{match[1]};" in html5 else match[0]


# In the order in which they are applied, those of an encoding between the first and the second.
REPAIRS: Final[Mapping[str, Callable[[str], str]]] = {
    "utf-8-twice": lambda text: _TWICE.sub(_decode_again, text),
    "entities": lambda text: _ENTITY.sub(_entity, text),
    "invisible": lambda text: text if text.isprintable() else trim(_SPACE.sub(" ", INVISIBLE.sub("", text))),
    "apostrophe": lambda text: _APOSTROPHE.sub("", text),
}
_TELLS: Final = {
    "utf-8-twice": ("damaged", "UTF-8 that was read as another encoding"),
    "entities": ("entity", "HTML is served as written"),
    "apostrophe": ("zeros", "the apostrophe of a spreadsheet before a number is served as text"),
}


def cleaner(repairs: Sequence[str], *, trims: bool) -> Callable[[str], str] | None:
    """Return the function that cleans a text before all else, also of outer white space; None if texts stay the same.

    Repairs are names of `REPAIRS`, and encodings whose bytes C1 characters (U+0080 to U+009F) are.
    """
    encodings = {name: methodcaller("translate", meant_by_c1(name)) for name in repairs if name not in REPAIRS}
    in_order: dict[str, Callable[[str], str]] = {**dict(islice(REPAIRS.items(), 1)), **encodings, **REPAIRS}
    steps = [step for name, step in in_order.items() if name in repairs]
    steps += [trim] * trims  # last: what is repaired may be white space
    return (lambda text: reduce(lambda text, step: step(text), steps, text)) if steps else None


@cache
def meant_by_c1(encoding: str) -> Mapping[int, str]:
    """Return what a known encoding means by the bytes of C1 characters; those that mean nothing else are left out."""
    meant = {code: bytes([code]).decode(encoding, "ignore") for code in _C1}
    return {code: text for code, text in meant.items() if text and ord(text) not in _C1}


def has_c1(text: str) -> bool:
    """Return whether a text has a C1 character."""
    return not text.isascii() and _C1_CHARACTER.search(text) is not None


def needed_repairs(lines: str) -> Iterator[tuple[str, bool]]:
    """Yield the repairs that would change one of some texts, one in a line, and whether it is an error without them."""
    if "&" in lines and REPAIRS["entities"](lines) != lines:
        yield "entities", False
    if ("'" in lines or "\u2019" in lines) and _APOSTROPHE.search(lines):
        yield "apostrophe", False
    if lines.isascii():
        return
    is_plain = lines.replace("\n", "").isprintable()  # nearly always: this is found sooner
    if not is_plain and (INVISIBLE.search(lines) or _SPACE.search(lines)):
        yield "invisible", False
    once = REPAIRS["utf-8-twice"](lines) if _BEGINS_TWICE.search(lines.encode()) else lines
    if once != lines:
        yield "utf-8-twice", len(_C1_CHARACTER.findall(once)) < len(_C1_CHARACTER.findall(lines))
    if not is_plain and has_c1(once):
        yield WINDOWS, True


def repair_of_c1(text: str) -> str:
    """Return the repair after which a text has fewer C1 characters."""
    return next((name for name, is_error in needed_repairs(text) if is_error), WINDOWS)


def check_characters(text: str, *, is_identifier: bool, is_code: bool) -> Issue | None:
    """Return the issue of a text with characters that programs left in it.

    In an identifier white space other than U+0020 is one, at the beginning of a code an apostrophe before a number.
    """
    if text.isascii() and text[:1] != "'" and "&" not in text:  # nearly always
        return None
    wrong = INVISIBLE.search(text) or (_SPACE.search(text) if is_identifier else None)
    if wrong is not None:
        seen = "is not the space of the keyboard" if _SPACE.match(wrong[0]) else "is invisible"
        why = f"U+{ord(wrong[0]):04X} {seen}: texts that look alike differ"
        return Issue("invisible", f'{why}; remove it, or declare repair = ["invisible"]')
    if _REPLACEMENT in text:
        return Issue("damaged", "U+FFFD replaces a character that was lost; export the file again, in UTF-8")
    for name, (code, what) in _TELLS.items():
        if (is_code or name != "apostrophe") and REPAIRS[name](text) != text:
            return Issue(code, f'{what}; correct it, or declare repair = ["{name}"]')  # type: ignore[arg-type]
    return None


def may_have_wrong_characters(lines: str, *, is_code: bool, is_printable: bool = False) -> bool:
    """Return whether one of some texts, each with a line feed, may have an issue: nearly always none has.

    Texts in ASCII cost a search or two, to look whether others are printable ten times as much.
    """
    if (";" in lines and "&" in lines) or (is_code and ("'" in lines or "\u2019" in lines)):
        return True
    if lines.isascii():
        return False
    if _REPLACEMENT in lines or not (is_printable or lines.replace("\n", "").isprintable()):
        return True
    return _BEGINS_TWICE.search(lines.encode()) is not None and _TWICE.search(lines) is not None
