# ruff: noqa: RUF001 - they are other scripts
"""A data set in many scripts, whose characters are all in Unicode 14.0, that of the oldest Python here."""

import unicodedata
from pathlib import Path
from typing import Final

from tests.directory import Record, company, store, write_directory

_LINES: Final = (
    "Örebro;Île-d'Oléron;São Paulo;Málaga;Łódź;Plzeň;Reykjavík;Straße;GROẞ",
    "Ĳmuiden;Ǆep;ŉ;Đà Nẵng;Ağrı;İstanbul;Iğdır;ISPARTA;ΑΘΉΝΑ;Σίσυφος;ΣΊΣΥΦΟΣ",
    "Ἀθῆναι;ᾼ;Москва;МОСКВА;Ёлка;Ⴀႁ;Ა;Հայաստան;ﬓ;תל אביב;دبي;ﷺ;नई दिल्ली;กรุงเทพ",
    "ຳ;東京;東京都;京都;ｶﾞｼﾏ;ガシマ;ﾊﾟﾝ;サークルＫ;㈱ヤマダ;㍿;㌔;デイリ－;서울;각;ㄱ;ﬁlm ﬀ;Ⅳ;①②;½ km;𝔘𝔫𝔦;𐐀𐐨",
    "😀 Café;👩‍🚀;☕️;Å;Å;K;Ꭰꭰ;ſtadt;Ω;ϐ;℡;a\u00a0b\u3000c",
)
PLACES: Final = tuple(place for line in _LINES for place in line.split(";"))


def write_scripts(folder: Path) -> Path:
    """Write the data set into a folder, each place in four spellings and in every field of words."""
    spelled = [
        text
        for place in PLACES
        for text in (place, unicodedata.normalize("NFD", place), place.upper(), f"  {place.lower()} ")
    ]
    companies: list[Record] = [company(f"c{number}", name=text, domain=text) for number, text in enumerate(PLACES)]
    stores = [
        store(
            f"{place}/{number}",
            company_id=f"c{number % len(companies)}",
            name=text,
            address_1=f"1 {text}",
            city=text,
            province=spelled[-number],
            country=spelled[number // 3],
            postal_code=f"{text} 1",
            is_open=bool(number % 3),
            latitude=f"{number % 90}.50",
            created_at=f"20{number % 25:02}-01-01T00:00:00+0{number % 7}:00",
        )
        for number, (place, text) in enumerate(zip(PLACES * 4, spelled, strict=True))
    ]
    return write_directory(folder, stores, companies)
