"""Make `service/reading/columns/countries.json`, the names, postal codes and bounding boxes of countries.

    .venv/bin/python -m tools.countries world_map.gpkg

The boxes are those of the states and provinces of Natural Earth (naturalearthdata.com, public domain), as in the file
`world_map.gpkg` of QGIS, which Debian has in `qgis-common`: simplified, and cut at 180°.
"""

import sqlite3
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from math import ceil, floor
from pathlib import Path
from typing import Final

import msgspec

from service.model.coordinates import Box
from service.model.kinds import MAX_LATITUDE, MAX_LONGITUDE
from tools.geopackage import Ring, polygons

FILE: Final = Path(__file__).parents[1] / "service" / "reading" / "columns" / "countries.json"
SOURCE: Final = "Natural Earth 1:10m Admin 1 v4.1.0, public domain, in world_map.gpkg of QGIS; tools/countries.py"
MARGIN: Final = 0.5  # degrees around a box: coasts are simplified, and stores may be just across a border
_TENTHS: Final = 10  # boxes are rounded outwards to tenths of degrees
_NO_COUNTRY: Final = "-1"  # the code of disputed areas

# Territories that Natural Earth has as parts of a country, by its code or name of the part: ISO codes, other names.
PARTS: Final = {
    "GUF": ("GF", "GUF", "French Guiana"),
    "GLP": ("GP", "GLP", "Guadeloupe"),
    "MTQ": ("MQ", "MTQ", "Martinique"),
    "MYT": ("YT", "MYT", "Mayotte"),
    "REU": ("RE", "REU", "Réunion", "Reunion"),
    "NSV": ("SJ", "SJM", "Svalbard", "Svalbard and Jan Mayen"),
    "CCK": ("CC", "CCK", "Cocos (Keeling) Islands"),
    "CXR": ("CX", "CXR", "Christmas Island"),
    "TKL": ("TK", "TKL", "Tokelau"),
    "Bonaire": ("BQ", "BES", "Bonaire", "Caribbean Netherlands"),
}
# Whose code stores in a territory may have beside its own: by sovereignty, code or name of the territory. What is
# disputed belongs to both sides, so that no store there gets a warning.
SHARED: Final = {
    key: codes.split()
    for codes, keys in {
        "AR": "FLK",
        "AU": "AU1",
        "CN": "CH1 TWN",
        "CY": "ESB WSB",
        "CY TR": "CYN",
        "DK": "DN1",
        "FI": "FI1",
        "FR": "FR1",
        "GB": "GB1",
        "GP": "BLM MAF",
        "IL": "GAZ WEB",
        "IN PK": "KAS",
        "KZ RU": "KAB",
        "MA": "SAH",
        "NL": "NL1",
        "NO": "NSV",
        "NZ": "NZ1",
        "PS": "ISR",
        "RS": "KOS",
        "SD": "SDS",
        "SO": "SOL",
        "UA": "Crimea Sevastopol",
        "US": "US1 USG",
    }.items()
    for key in keys.split()
}
# Names in use beside those of Natural Earth, which abbreviates some.
NAMES: Final = {
    "AE": ("UAE",),
    "BN": ("Brunei Darussalam",),
    "CD": ("DR Congo", "Congo-Kinshasa"),
    "CG": ("Congo-Brazzaville",),
    "CI": ("Cote d'Ivoire",),
    "CV": ("Cape Verde",),
    "CW": ("Curacao",),
    "CZ": ("Czech Republic",),
    "GB": ("UK", "U.K.", "Great Britain"),
    "HK": ("Hong Kong", "Hong Kong SAR"),
    "KR": ("Republic of Korea", "Korea"),
    "LA": ("Lao PDR",),
    "MD": ("Republic of Moldova",),
    "MK": ("North Macedonia",),
    "MM": ("Burma",),
    "MO": ("Macau", "Macao"),
    "NL": ("The Netherlands", "Holland"),
    "PS": ("State of Palestine",),
    "RU": ("Russian Federation",),
    "SS": ("South Sudan",),
    "ST": ("Sao Tome and Principe", "São Tomé and Príncipe"),
    "SY": ("Syrian Arab Republic",),
    "SZ": ("Eswatini", "Swaziland"),
    "TL": ("East Timor",),
    "TR": ("Türkiye", "Turkiye"),
    "US": ("United States", "U.S.", "U.S.A."),
    "VI": ("U.S. Virgin Islands", "US Virgin Islands"),
    "VN": ("Viet Nam",),
    "XK": ("XKX",),
}
# Names in languages of the country.
OWN_NAMES: Final = {
    line.partition(" ")[0]: line.partition(" ")[2].split(", ")
    for line in """\
AE الإمارات, الإمارات العربية المتحدة
AL Shqipëria
AM Հայաստան
AT Österreich
BA Bosna i Hercegovina
BE Belgien, Belgique, België
BG България
BH البحرين
BR Brasil
BY Беларусь
CH Schweiz, Suisse, Svizra, Svizzera
CM Cameroun
CN 中国, 中國, 中华人民共和国
CZ Česká republika, Česko
DE Bundesrepublik Deutschland, Deutschland
DK Danmark
DO República Dominicana
DZ Algérie, الجزائر
EE Eesti
EG مصر
ES España, Espanya
FI Suomi
GE საქართველო
GR Ellada, Ελλάδα
HK 香港
HR Hrvatska
HU Magyarország
IE Éire
IL ישראל
IN भारत
IQ العراق
IR ایران
IS Ísland
IT Italia
JO الأردن
JP 日本, 日本国
KR 대한민국, 한국
KW الكويت
KZ Казахстан, Қазақстан
LB Liban, لبنان
LT Lietuva
LU Luxemburg, Lëtzebuerg
LV Latvija
MA Maroc, المغرب
MK Македонија, Северна Македонија
MO 澳門
MX México
NL Nederland
NO Noreg, Norge
OM عمان
PA Panamá
PE Perú
PL Polska
QA قطر
RO România
RS Srbija, Србија
RU Российская Федерация, Россия
SA السعودية, المملكة العربية السعودية
SE Sverige
SI Slovenija
SK Slovensko
SN Sénégal
TH ประเทศไทย, ไทย
TN Tunisie, تونس
TW 台湾, 台灣, 臺灣
UA Україна
VN Việt Nam""".splitlines()
}
# Inhabited islands that the map does not have, in boxes with their margin.
ISLANDS: Final = {
    codes: Box(*box)
    for codes, box in {
        "BQ NL": (-63.8, 17.0, -62.4, 18.2),  # Saba and Sint Eustatius
        "FM": (137.0, 0.5, 163.6, 10.6),
        "GR": (29.0, 35.6, 30.1, 36.7),  # Kastellorizo
        "MH": (160.2, 4.0, 172.7, 15.2),
        "MU": (59.0, -17.2, 60.2, -15.7),  # St. Brandon
        "MV": (72.1, -1.2, 74.3, 7.7),
        "NO SJ": (-9.6, 70.3, -7.4, 71.7),  # Jan Mayen
        "SC": (45.7, -10.8, 56.8, -3.2),
        "TK NZ": (-173.1, -10.0, -170.6, -8.0),
        "TV": (175.5, -11.4, 180.0, -5.1),
        "TW CN": (119.4, 25.4, 121.1, 26.9),  # Matsu
    }.items()
}
# How many digits each postal code has, of countries where some begin with 0 and none is shorter.
POSTAL_DIGITS: Final = {
    code: digits
    for digits, codes in {
        4: "AU NO NZ PH ZA",
        5: "DE DZ ES FI FR GT IT KE KR LK MM MX MY PR SK TR UA US VI",
        6: "CN CO EC KZ RO SG",
        7: "JP",
        8: "BR",
    }.items()
    for code in codes.split()
}


class State(msgspec.Struct):
    """A state or province: its ISO code, its names and codes in Natural Earth, and its geometry."""

    iso_a2: str
    name: str | None
    sov_a3: str
    gu_a3: str | None
    admin: str
    geom: bytes

    def codes(self) -> Iterator[str]:
        """Yield the countries that stores here may name."""
        yield PARTS[self.part][0] if self.part else self.iso_a2
        yield self.iso_a2
        for key in (self.sov_a3, self.gu_a3, self.name):
            yield from SHARED.get(key or "", ())

    @property
    def part(self) -> str:
        """Its key in `PARTS`, empty if it has none."""
        return next((key for key in (self.gu_a3, self.name) if key in PARTS), "")


def widened(ring: Ring) -> Box:
    """Return the box of a ring with its margin, cut at the poles and at 180°."""
    longitudes, latitudes = ring[::2], ring[1::2]
    return Box(
        max(floor((min(longitudes) - MARGIN) * _TENTHS) / _TENTHS, -MAX_LONGITUDE),
        max(floor((min(latitudes) - MARGIN) * _TENTHS) / _TENTHS, -MAX_LATITUDE),
        min(ceil((max(longitudes) + MARGIN) * _TENTHS) / _TENTHS, MAX_LONGITUDE),
        min(ceil((max(latitudes) + MARGIN) * _TENTHS) / _TENTHS, MAX_LATITUDE),
    )


def merged(boxes: Iterable[Box]) -> list[Box]:
    """Return boxes of which none overlap, the largest first: overlapping ones become the box around them."""
    apart: list[Box] = []
    for each in boxes:
        box = each
        while overlapping := [other for other in apart if _overlap(box, other)]:
            apart = [other for other in apart if other not in overlapping]
            west, south, east, north = zip(box, *overlapping, strict=True)
            box = Box(min(west), min(south), max(east), max(north))
        apart.append(box)
    return sorted(apart, key=lambda box: (box.west - box.east) * (box.north - box.south))


def _overlap(one: Box, other: Box) -> bool:
    return one.west <= other.east and other.west <= one.east and one.south <= other.north and other.south <= one.north


def read_map(file: Path) -> tuple[list[State], dict[str, list[str]]]:
    """Return the states of a map, and the third code and short name of its countries."""
    with closing(sqlite3.connect(file)) as database:
        columns = ", ".join(State.__struct_fields__)
        states = [State(*row) for row in database.execute(f"SELECT {columns} FROM states_provinces")]  # noqa: S608
        names = {code: others for code, *others in database.execute("SELECT iso_a2, iso_a3, name FROM countries")}
    return states, names


def countries(states: Iterable[State], short_names: Mapping[str, Iterable[str]]) -> Iterator[dict[str, object]]:
    """Yield the names, postal digits and boxes of countries, by code."""
    boxes, names = defaultdict[str, list[Box]](list), dict[str, Iterable[str]]()
    for state in states:
        own = PARTS.get(state.part) or (state.iso_a2, *short_names.get(state.iso_a2, ()), state.admin)
        names.setdefault(own[0], own)
        for code in set(state.codes()):
            boxes[code] += [widened(outer) for outer, *_ in polygons(state.geom)]
    for codes, box in ISLANDS.items():
        for code in codes.split():
            boxes[code].append(box)
    for code in sorted(names.keys() - {_NO_COUNTRY}):
        yield {
            "names": [
                *dict.fromkeys(
                    name
                    for name in (*names[code], *NAMES.get(code, ()), *OWN_NAMES.get(code, ()))
                    if _is_whole(code, name)
                )
            ],
            "postal_digits": POSTAL_DIGITS.get(code),
            "boxes": merged(boxes[code]),
        }


def _is_whole(code: str, name: str | None) -> bool:
    """Return whether a name is one, and not abbreviated by Natural Earth."""
    return name is not None and name != "-99" and ("." not in name or name in NAMES.get(code, ()))


def main(file: Path) -> None:
    """Write the countries of a map, one a line."""
    lines = [msgspec.json.encode(country).decode() for country in countries(*read_map(file))]
    text = ",\n".join(lines)
    FILE.write_text(f'{{"source":"{SOURCE}","countries":[\n{text}\n]}}\n', "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
