# ruff: noqa: RUF001 - they are other scripts
"""The oracle of text search: a naive tokenizer and scan, written from the interface alone."""

import unicodedata
from collections.abc import Iterable, Sequence
from functools import cache

_NAMES = """Montréal|MONTREAL|Île-d'Oléron|São Paulo|Łódź|Straße|GROẞ|McDonald's|mcdonalds|McDonald’s|E.Leclerc
Rock ´n´ Roll|L´Oréal|L ´Oréal|l\u0301oréal|ŉ x|7-Eleven|½ km|Ⅳ|x²|ﬁlm|a\u0301\u0323b|a_b|A&W|o\u0301'\u0301x
ΑΘΉΝΑ|Σίσυφος|ΣΊΣΥΦΟΣ|Ἀθῆναι|ᾼ|Москва|МОСКВА|Ёлка|Й|İstanbul|Iğdır|ISPARTA|ığdır
東京駅|東京都|京都|駅|ガシマ|ｶﾞｼﾏ|か\u3099|ﾊﾟﾝ|パン屋7|7パン|サークルＫ|㈱ヤマダ|㍿|デイリ－|人々
กรุงเทพ|ก็|ຳ|ភ្នំពេញ|ရန်ကုန်|서울|각|नई दिल्ली|תל אביב|دبي|ﷺ|☕️|👩‍🚀|!!|-
서울특별시|Øster Ålborg|Đà Nẵng|Ħamrun|Ŧ|Ǽ Œuvre|ǾRE|Þingvellir|Borðeyri|L̷
M5V 2T6|m5v2t6|M5V\u30002T6|123 45-6|acme-00012|a\tb|a\u2028b|\x00z"""
NAMES = _NAMES.replace("\n", "|").split("|")
_APOSTROPHES = "'`´‘’‛′ʼ＇"
_VOICING = "\u3099\u309a"
_PLAIN = dict(zip("łđħøŧıæœþð", ["l", "d", "h", "o", "t", "i", "ae", "oe", "th", "d"], strict=True))
_SPACELESS = (
    *("CJK", "IDEOGRAPHIC", "HANGZHOU", "VERTICAL KANA", "VERTICAL IDEO", "MASU", "HIRAGANA", "HENTAIGANA"),
    *("KATAKANA", "COMBINING KATAKANA", "THAI", "LAO", "KHMER", "MYANMAR", "HANGUL"),
)


@cache
def tokens(text: str) -> Sequence[str]:
    """Return the words of a text; a run of characters of a script without spaces is one."""
    folded = _unquoted(unicodedata.normalize("NFKC", _unquoted(text)).casefold())
    letters = [c for c in unicodedata.normalize("NFD", folded) if c in _VOICING or unicodedata.combining(c) == 0]
    found = [""]
    for character in unicodedata.normalize("NFC", "".join(_PLAIN.get(c, c) for c in letters)):
        if unicodedata.category(character)[0] not in "LNM":
            found.append("")
        elif found[-1] and is_spaceless(found[-1][-1]) != is_spaceless(character):
            found.append(character)
        else:
            found[-1] += character
    return [each for each in found if each]


def is_spaceless(character: str) -> bool:
    name = unicodedata.name(character, "")
    return name.startswith(_SPACELESS) and not name.startswith("IDEOGRAPHIC TALLY")  # counted in any script


def indexed(texts: Iterable[str]) -> set[str]:
    """Return what is indexed of the texts of a record."""
    return {each for text in texts for each in _indexed_text(text)}


def matches(texts: Iterable[str], search: str) -> bool:
    """Return whether a record with these texts is found."""
    present, wanted = indexed(texts), tokens(search)
    last_is_whole = search[-1:].isspace()
    for place, token in enumerate(wanted):
        if is_spaceless(token[0]) and len(token) > 1:
            found = set(_pairs(token)) <= present
        elif is_spaceless(token[0]) or (place == len(wanted) - 1 and not last_is_whole):
            found = any(each.startswith(token) for each in present)
        else:
            found = token in present
        if not found:
            return False
    return True


def _unquoted(text: str) -> str:
    return "".join(character for character in text if character not in _APOSTROPHES)


@cache
def _indexed_text(text: str) -> frozenset[str]:
    return frozenset(each for token in tokens(text) for each in _indexed(token))


def _indexed(token: str) -> list[str]:
    return [*_pairs(token), token[-1]] if is_spaceless(token[0]) else [token]


def _pairs(token: str) -> list[str]:
    return [token[place : place + 2] for place in range(len(token) - 1)]
