"""Static pages of stores for search engines: python pages.py LINES OUT --base-url https://shop.example/stores/.

LINES is what `store-directory export DATA stores.ndjson` wrote, or GET /stores.ndjson gave. OUT gets a page for each
open store, indexes and a sitemap. Copy it, and make the pages look like yours.
"""

import argparse
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from hashlib import sha256
from html import escape
from pathlib import Path
from typing import Any
from unicodedata import category, combining, normalize
from urllib.parse import quote

Store = dict[str, Any]
Place = tuple[str, str]  # a folder, and its name
LIST, URLS_OF_A_SITEMAP = ".store-directory.json", 50_000
SCHEMA, HOURS = "https://schema.org", "OpeningHoursSpecification"
XML = '<?xml version="1.0" encoding="UTF-8"?>\n<{0} xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{1}</{0}>\n'
FLAGS, DIRECTIONS = {"True": "yes", "False": "no"}, "https://www.google.com/maps/dir/?api=1&destination="
APOSTROPHES = dict.fromkeys(map(ord, "'`´‘’‛′ʼ＇"))  # noqa: RUF001 - they are meant
PLAIN = dict(zip(map(ord, "łđħøŧıæœþð"), ("l", "d", "h", "o", "t", "i", "ae", "oe", "th", "d"), strict=True))
SPACELESS = (  # Han, Kana, Thai, Lao, Khmer, Myanmar, Hangul: they are written without spaces
    "\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u303c\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
    "\u3041-\u30ff\u31f0-\u31ff\U0001aff0-\U0001b16f\u0e00-\u0e7f\u0e80-\u0eff\u1780-\u17ff\u1000-\u109f"
    "\ua9e0-\ua9ff\uaa60-\uaa7f\U000116d0-\U000116ff\u1100-\u11ff\u3130-\u318f\ua960-\ua97f\uac00-\ud7ff"
)
WORD = re.compile(f"[{SPACELESS}]+|[^ {SPACELESS}]+")
STYLE = (
    "body { max-width: 42rem; margin: 2rem auto; padding: 0 1rem; font: 1rem/1.5 system-ui }\ndt { color: #56626b }\n"
)


@cache
def slug(text: str) -> str:
    """Return the words of a text, as searches of the service split it, joined by hyphens; `_` if there is none."""
    folded = normalize("NFKC", normalize("NFKC", text.translate(APOSTROPHES)).casefold())
    letters = normalize("NFD", folded.translate(APOSTROPHES)).translate(PLAIN)
    plain = "".join(each for each in letters if each in "\u3099\u309a" or not combining(each))
    words = "".join(each if category(each)[0] in "LNM" else " " for each in normalize("NFC", plain))
    return "-".join(WORD.findall(words))[:60].encode()[:180].decode(errors="ignore").strip("-") or "_"


def name_of(store: Store) -> str:
    """Return what a store is called."""
    return str(store.get("name") or store["company_id"])


def places_of(store: Store) -> list[Place]:
    """Return the folders that the page of a store is in."""
    return [(slug(name), name or "-") for name in (store.get(each) or "" for each in ("country", "province", "city"))]


def path_of(store: Store) -> str:
    """Return the path of the page of a store, which depends on nothing but this store."""
    own = store["store_id"]
    part = own if slug(own) == own else f"{slug(own)}-{sha256(own.encode()).hexdigest()[:8]}"
    return "/".join([*(folder for folder, _ in places_of(store)), f"{slug(name_of(store))}-{part}.html"])


def point_of(store: Store) -> tuple[float, float] | None:
    """Return the latitude and longitude of a store, None if they are none on Earth."""
    try:
        point = float(store["latitude"]), float(store["longitude"])
    except (KeyError, TypeError, ValueError):
        return None
    return point if abs(point[0]) <= 90 and abs(point[1]) <= 180 else None  # noqa: PLR2004 - degrees


def typed(kind: str, **members: Any) -> Store:
    """Return an object of schema.org, without members that have no value."""
    return {"@type": kind} | {name: value for name, value in members.items() if value}


def intervals_of(store: Store, *, exceptional: bool) -> Iterator[tuple[str, Store]]:
    """Yield when a store is open, in words and as schema.org writes it: closed is an interval without length."""
    hours = next((each for each in (store.get("attributes") or {}).values() if isinstance(each, dict)), {})
    for each in hours.get("exception_hours" if exceptional else "hours", ()):
        dates = {"validFrom": each["valid_from"], "validThrough": each["valid_through"]} if exceptional else {}
        days = {} if exceptional else {"dayOfWeek": f"{SCHEMA}/{each['day'].title()}"}
        times = {"opens": each.get("opens", "00:00"), "closes": each.get("closes", "00:00")}
        yield " to ".join(dict.fromkeys(dates.values())) or each["day"].title(), {"@type": HOURS} | dates | days | times


def described(store: Store, url: str) -> Store:
    """Return a store as schema.org describes it."""
    own, point = store.get, point_of(store)
    street = ", ".join(filter(None, (own("address_1"), own("address_2"))))
    address = typed("PostalAddress", streetAddress=street, addressLocality=own("city"), addressRegion=own("province"),
                    postalCode=own("postal_code"), addressCountry=own("country"))  # fmt: skip
    geo = {"@type": "GeoCoordinates", "latitude": point[0], "longitude": point[1]} if point else None
    week, special = ([each for _, each in intervals_of(store, exceptional=kind)] for kind in (False, True))
    whole = typed("Store", url=url, name=name_of(store), address=address, geo=geo, telephone=own("phone_number"),
                  openingHoursSpecification=week, specialOpeningHoursSpecification=special)  # fmt: skip
    return {"@context": SCHEMA, "@id": url} | whole


def facts_of(store: Store) -> Iterator[tuple[str, str]]:
    """Yield what the page of a store says, by name, as HTML."""
    lines = map(store.get, ("address_1", "address_2", "postal_code", "city", "province", "country"))
    yield "Address", "<br>".join(map(escape, filter(None, lines)))
    if phone := store.get("phone_number"):
        yield "Phone", f'<a href="tel:{re.sub("[^+0-9]", "", phone)}">{escape(phone)}</a>'
    for when, each in (found for kind in (False, True) for found in intervals_of(store, exceptional=kind)):
        yield when, "closed" if each["opens"] == each["closes"] else f"{each['opens']} to {each['closes']}"
    for name, value in (store.get("attributes") or {}).items():
        if value is not None and value != [] and not isinstance(value, dict):
            text = ", ".join(value) if isinstance(value, list) else FLAGS.get(str(value), str(value))
            link = f'<a href="{escape(text)}">{escape(text)}</a>' if re.match("https?://", text) else escape(text)
            yield name.replace("_", " ").capitalize(), link


def page_of(store: Store, url: str) -> str:
    """Return the page of a store."""
    lines = map(store.get, ("address_1", "postal_code", "city", "country"))
    to = quote(",".join(map(str, point_of(store) or ())) or ", ".join(filter(None, lines)))
    facts = "".join(f"<dt>{escape(name)}</dt><dd>{value}</dd>" for name, value in facts_of(store))
    data = json.dumps(described(store, url), ensure_ascii=False)
    data = re.sub("[<>&]", lambda found: f"\\u{ord(found[0]):04x}", data)
    body = f'<dl>{facts}</dl><p><a href="{escape(DIRECTIONS)}{to}">Directions</a></p>'
    return framed(name_of(store), url, places_of(store), body, f'<script type="application/ld+json">{data}</script>')


def framed(title: str, url: str, places: list[Place], body: str, head: str = "") -> str:
    """Return a page below some folders, with the way up."""
    up = [("../" * (len(places) - depth) or "./", name) for depth, (_, name) in enumerate([("", "Stores"), *places])]
    links = " / ".join(f'<a href="{path}">{escape(name)}</a>' for path, name in up)
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f'<meta name="viewport" content="width=device-width"><link rel="canonical" href="{escape(url)}">'
        f'<link rel="stylesheet" href="{"../" * len(places)}style.css">{head}</head>\n'
        f"<body><nav>{links}</nav><h1>{escape(title)}</h1>{body}</body></html>\n"
    )


def files_of(stores: Sequence[Store], base: str) -> Iterator[tuple[str, str]]:
    """Yield the path and the text of each file."""
    yield "style.css", STYLE
    folders: dict[str, tuple[list[Place], Counter[str]]] = {"": ([], Counter())}
    names, urls, maps = dict[str, str](), list[str](), list[str]()
    for store in stores:
        path, places, at = path_of(store), places_of(store), store.get("updated_at")
        modified, url = f"<lastmod>{escape(at)}</lastmod>" if at else "", base + quote(path)
        urls.append(f"<url><loc>{escape(url)}</loc>{modified}</url>\n")
        yield path, page_of(store, url)
        steps = [*((f"{folder}/", name) for folder, name in places), (path.rpartition("/")[2], name_of(store))]
        for depth, (step, name) in enumerate(steps):
            folder = "".join(each for each, _ in steps[:depth])
            folders.setdefault(folder, (places[:depth], Counter()))[1][step] += 1
            names.setdefault(folder + step, name)
    for folder, (above, links) in folders.items():
        items = (
            f'<li><a href="{quote(step)}">{escape(name)}</a>{f" ({links[step]})" if step.endswith("/") else ""}</li>\n'
            for name, step in sorted((names[folder + step], step) for step in links)
        )
        body = f"<ul>{''.join(items)}</ul>"
        yield f"{folder}index.html", framed(names.get(folder, "Stores"), base + quote(folder), above, body)
    for start in range(0, len(urls), URLS_OF_A_SITEMAP):
        maps.append(f"sitemap-{len(maps) + 1}.xml")
        yield maps[-1], XML.format("urlset", "".join(urls[start : start + URLS_OF_A_SITEMAP]))
    index = "".join(f"<sitemap><loc>{escape(base)}{file}</loc></sitemap>\n" for file in maps)
    yield "sitemap.xml", XML.format("sitemapindex", index)


def write(stores: Sequence[Store], base: str, out: Path) -> None:
    """Write the files that changed, and remove those of the last run that are no more."""
    known, now = out / LIST, set(map(path_of, stores))
    if not known.exists() and out.is_dir() and any(out.iterdir()):
        sys.exit(f"{out} has other files: name an empty folder, or one with {LIST}")
    before = set(json.loads(known.read_bytes())) if known.exists() else set()
    out.mkdir(parents=True, exist_ok=True)
    known.write_text(json.dumps(sorted(before | now)))  # if this run ends early, the next one knows of its files
    for path, text in files_of(stores, base):
        file, data = out / path, text.encode()
        now.add(path)
        if not file.exists() or file.read_bytes() != data:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(data)
    for path in before - now:
        (out / path).unlink(missing_ok=True)
        for folder in [*(out / path).parents][: path.count("/")]:
            if folder.is_dir() and not any(folder.iterdir()):
                folder.rmdir()
    known.write_text(json.dumps(sorted(now)))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lines", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--base-url", required=True, help="where OUT will be, such as https://shop.example/stores/")
    options = parser.parse_args()
    records = map(json.loads, options.lines.open(encoding="utf-8"))
    write([each for each in records if each["is_open"]], options.base_url.rstrip("/") + "/", options.out)
