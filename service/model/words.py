"""Words: how texts are split for text search, and the terms of a search.

A word is a run of letters, digits and marks after folding: case, compatibility forms, accents and apostrophes do not
matter, and letters such as `ł` match those they are written as without them. Scripts that are written without spaces
have no visible words, and Korean ones are often written together, so each run of their characters is a word that is
indexed as its pairs of characters, and by its last character alone: a text that contains `東京駅` has all pairs of that
run, and a single character is the start of a pair or the end of a run.
"""

import re
import unicodedata
from collections.abc import Sequence
from functools import reduce
from itertools import chain, pairwise
from typing import Final
from unicodedata import category

import msgspec

from service.model.kinds import POSTAL, fold_case, joining

MAX_WORDS: Final = 16
MAX_CHARACTERS: Final = 256

_APOSTROPHES: Final = "'`´‘’‛′ʼ＇"  # noqa: RUF001 - they are meant
# Of an apostrophe in a key: NFKC decomposes U+00B4 to a space and this acute accent.
ACCENT: Final = "\u0301".encode()
_WITHOUT_APOSTROPHES: Final = dict.fromkeys(map(ord, _APOSTROPHES))
# Kana with a voicing mark is another letter, not an accented one.
_VOICING_MARKS: Final = "\u3099\u309a"
# Letters that do not decompose: their stroke is no accent in Unicode.
_PLAIN: Final = dict(zip(map(ord, "łđħøŧıæœþð"), ("l", "d", "h", "o", "t", "i", "ae", "oe", "th", "d"), strict=True))
HYPHENS: Final = ("-", "\u2010")  # others are folded to them
_CODE_LENGTHS: Final = range(3, 11)

# Han, Kana, Thai, Lao, Khmer, Myanmar, Hangul: by block, so that it is the same in every release of Unicode.
_SPACELESS: Final = (
    "\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u303c\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
    "\u3041-\u30ff\u31f0-\u31ff\U0001aff0-\U0001b16f"
    "\u0e00-\u0e7f\u0e80-\u0eff\u1780-\u17ff\u1000-\u109f\ua9e0-\ua9ff\uaa60-\uaa7f\U000116d0-\U000116ff"
    "\u1100-\u11ff\u3130-\u318f\ua960-\ua97f\uac00-\ud7ff"
)
_WORD: Final = re.compile(f"[{_SPACELESS}]+|[^ {_SPACELESS}]+")
_IS_SPACELESS: Final = re.compile(f"[{_SPACELESS}]")
_ASCII_WORD: Final = re.compile("[a-z0-9]+")


class Term(msgspec.Struct, frozen=True, order=True, gc=False):
    """A condition: the text of a record has the word `word`, or, if `is_prefix`, a word that begins with it."""

    word: str
    is_prefix: bool = False


def words_of_lines(text: str) -> list[list[str]]:
    """Return the words of each line of a text in their order, as they are indexed."""
    try:
        lines = _divided(text.translate(_ALONE))
    except ValueError:
        lines = _split(text)
    return [line if "".join(line).isascii() else list(chain.from_iterable(map(_indexed, line))) for line in lines]


class Phrase(msgspec.Struct, frozen=True, gc=False):
    """The words of a search in their order; with `is_open`, the last may be the beginning of one.

    code  the key of a postal code that the text may be, see `parse_place`; "" if it cannot be one
    """

    words: tuple[str, ...]
    is_open: bool = False
    code: str = ""

    @property
    def terms_of_words(self) -> list[list[Term]]:
        """The terms of each word, which it combines by AND."""
        last = len(self.words) - 1
        return [_terms(word, is_prefix=self.is_open and at == last) for at, word in enumerate(self.words)]

    @property
    def terms(self) -> tuple[Term, ...]:
        """The terms that the search combines by AND, sorted and distinct."""
        return tuple(sorted(set(chain.from_iterable(self.terms_of_words))))


def _words_of(text: str) -> list[str]:
    """Return the words of a search. Raises ValueError."""
    found = list(chain.from_iterable(_split(text))) if len(text) <= MAX_CHARACTERS else None
    if found is None or len(found) > MAX_WORDS:
        raise ValueError(f"expected at most {MAX_WORDS} words and {MAX_CHARACTERS} characters")
    return found


def parse_terms(text: str) -> tuple[Term, ...]:
    """Return the terms of a search for a text; none if it has no word. Raises ValueError."""
    found = _words_of(text)
    terms = {term for word in found[:-1] for term in _terms(word, is_prefix=False)}
    terms.update(term for word in found[-1:] for term in _terms(word, is_prefix=not text[-1].isspace()))
    return tuple(sorted(terms))


def parse_place(text: str) -> Phrase:
    """Return the words of a search for a place, and the postal code that it may be. Raises ValueError.

    The last word may be incomplete unless white space follows it.
    """
    found, code = _words_of(text), compact(text)
    may_be_code = len(code) in _CODE_LENGTHS and code.isalnum() and any(map(str.isdecimal, code))
    return Phrase(tuple(found), bool(found) and not text[-1].isspace(), code if may_be_code else "")


def compact(postal_code: str) -> str:
    """Return the key of a postal code without hyphens."""
    return reduce(lambda code, hyphen: code.replace(hyphen, ""), HYPHENS, POSTAL.normalize(postal_code))


def spoken(texts: Sequence[str]) -> list[str]:
    """Return the words of each text in their order, joined by spaces; a run of a script without spaces is one word."""
    lines = _split("\n".join([text.replace("\n", " ") for text in texts])) if texts else []
    return list(map(" ".join, lines))


def is_in_word(general_category: str) -> bool:
    """Return whether characters of a general category are parts of words; the others separate words."""
    return general_category[0] in "LNM"  # letters, numbers, marks


def _split(text: str) -> list[list[str]]:
    """Return the folded words of each line; a run of characters of a script without spaces is one word."""
    if text.isascii():
        return list(map(_ASCII_WORD.findall, text.lower().translate(_WITHOUT_APOSTROPHES).split("\n")))
    return _divided(_separated(_fold(text)))


def _divided(folded: str) -> list[list[str]]:
    return [line.split() if line.isascii() else _WORD.findall(line) for line in folded.split("\n")]


def _separated(folded: str) -> str:
    """Return a folded text with spaces between words."""
    # Of thousands of characters, few are distinct.
    return folded.translate({ord(each): " " for each in {*folded} - {"\n"} if not is_in_word(category(each))})


class _Alone(dict[int, str]):
    """What characters of indexed texts are folded to, wherever they are.

    Raises ValueError for one that may join another one.
    """

    def __missing__(self, code: int) -> str:
        character = chr(code)
        if any(each in _VOICING_MARKS or not unicodedata.combining(each) for each in joining(character)):
            raise ValueError(character)
        self[code] = _separated(_fold(character))
        return self[code]


_ALONE: Final = _Alone()


def _fold(text: str) -> str:
    """Return a text folded, without apostrophes, accents and strokes."""
    # Apostrophes before, because NFKC decomposes one to a space, and after, because it composes others.
    folded = fold_case(text.translate(_WITHOUT_APOSTROPHES)).translate(_WITHOUT_APOSTROPHES)
    decomposed = unicodedata.normalize("NFD", folded)
    accents = {ord(each): None for each in set(decomposed).difference(_VOICING_MARKS) if unicodedata.combining(each)}
    return unicodedata.normalize("NFC", decomposed.translate({**_PLAIN, **accents}))


def _indexed(word: str) -> list[str]:
    return [*_pairs(word), word[-1]] if _is_spaceless(word) else [word]


def _terms(word: str, *, is_prefix: bool) -> list[Term]:
    if not _is_spaceless(word):
        return [Term(word, is_prefix)]
    return [Term(word, is_prefix=True)] if len(word) == 1 else list(map(Term, _pairs(word)))


def _is_spaceless(word: str) -> bool:
    return _IS_SPACELESS.match(word) is not None


def _pairs(run: str) -> list[str]:
    return [one + other for one, other in pairwise(run)]
