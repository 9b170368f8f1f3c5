# ruff: noqa: RUF001 - Turkish has a dotless i
"""Words: how the lists of the tables are written, and how a name becomes a part of an identifier or of a domain."""

import re
import unicodedata
from typing import Final

# Letters that have no decomposition to a Latin letter and a mark.
_LETTERS: Final = str.maketrans({"ß": "ss", "ł": "l", "Ł": "L", "ı": "i", "ø": "o", "æ": "ae", "'": None, "’": None})


def listed(text: str) -> tuple[str, ...]:
    """Return the items of a text, which semicolons part and which may run over several lines."""
    return tuple(" ".join(item.split()) for item in text.split(";"))


# How the Japanese words that names of companies are made of read.
ROMAJI: Final = dict(
    item.split("=", 1)
    for item in listed(
        """さくら=sakura; ひかり=hikari; みどり=midori; あさひ=asahi; 富士見=fujimi; 山田=yamada; 田中=tanaka;
        鈴木=suzuki; 佐藤=sato; 高橋=takahashi; 松本=matsumoto; 小林=kobayashi; 渡辺=watanabe; 中村=nakamura;
        丸三=marusan; 大黒=daikoku; つばめ=tsubame; すみれ=sumire; 若葉=wakaba; 平和=heiwa; ことぶき=kotobuki;
        北斗=hokuto; 青空=aozora; 日の出=hinode; 商店=shoten; 書店=shoten; 薬局=yakkyoku; 酒店=saketen; 青果=seika;
        電器=denki; 家具=kagu; 靴店=kutsuten; 眼鏡=megane; 精肉店=seinikuten; 製菓=seika; 文具=bungu; 生花店=seikaten;
        呉服店=gofukuten; 時計店=tokeiten; ホールディングス=holdings; グループ=group"""
    )
)
_JAPANESE: Final = re.compile("|".join(sorted(ROMAJI, key=len, reverse=True)))
_GAP: Final = re.compile("[^a-z0-9]+")


def slug(name: str) -> str:
    """Return a name in small Latin letters, digits and single hyphens: `Bäckerei Groß & Co` is `backerei-gross-co`."""
    latin = _JAPANESE.sub(lambda match: f" {ROMAJI[match[0]]} ", name).translate(_LETTERS)
    return _GAP.sub("-", unicodedata.normalize("NFKD", latin).encode("ascii", "ignore").decode().lower()).strip("-")
