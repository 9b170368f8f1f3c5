"""The tokens of the syntax of each fuzz target: characters and short texts."""

import gzip
from typing import Final

from service.reading.hours.reader import MOST_BYTES
from service.web.connections.limits import MAX_FIELD_BYTES, MAX_HEAD_BYTES
from service.web.http.header_fields import MAX_CHARACTERS
from tests.fuzz.input_shapes import SERIAL, Alphabet, characters
from tests.fuzz.seeds import archives, packed

_MARKS: Final = "\u0301\u0316".encode()  # combining marks, in another order than the canonical one
_GZIPPED: Final = [gzip.compress(text, mtime=0) for text in (b"", b"a", b"a" * 1000)]
_FRAME: Final = packed()[-1]  # of Zstandard
_EMPTY_FRAME: Final = b"\x28\xb5\x2f\xfd\x20\0\1\0\0"
_JSON: Final = (*characters(b'{}[],:"\\\n0'), b"\\u0301", b"\\ud800", b'"a":', b"{},", b"1,", b'"%b":1,' % SERIAL)
_COLUMNS: Final = b"store_id,company_id,address_1,city,country,latitude,created_at"

HEADS: Final = Alphabet(
    (
        *characters(b"a: \t\r\n\0\xff"),
        *(b"GET / HTTP/1.1\r\nHost: t\r\n\r\n", b"a:b\r\n", b"Accept: a\r\n", b"accept:", b"\r\n"),
    ),
    (b"GET / HTTP/1.1\r\nHost: t\r\n", b"", b"GET /", b"BREW /", b"BREW / HTTP/1.1\r\n"),
    (b"\r\n\r\n",),
    MAX_HEAD_BYTES,
)
CHUNKS: Final = Alphabet(
    (*characters(b'0a\r\n;"\\= '), b"1\r\na\r\n", b"\r\n", b";a=b", b';a="b"', b"a:b\r\n"),
    (b"", b"0\r\n", b"1;a=", b'1;a="', b"5000\r\n"),
)
QUERY: Final = Alphabet(
    (
        *characters(b"&=+%;_.01\xff"),
        *(b"%C3", b"%CC%81%CC%96", _MARKS, b"city=a&", b"x%b=&" % SERIAL, b"city=%b&" % SERIAL),
    ),
    (
        *(b"city=", b"limit=", b"latitude=", b"near=", b"near=0,0&radius=", b"bbox=", b"bbox=0,0,1,1&zoom=", b"q="),
        b"open_at=",
    ),
    (b"", b"!"),
)
PLACES: Final = Alphabet(
    (*characters(b"01.,-+eE \t_"), b"90", b"1e1", "\u0661".encode()), (b"", b"1,", b"1,2,3,"), (b"", b"!")
)
POINTS: Final = Alphabet(
    (
        *characters(b"01.,-NS \t'\"[;"),
        *map(str.encode, ("\xb0", "\u2212", "43.5 ", "POINT ", "POINT Z", "SRID=1;", "lat:", "coordinates")),
    ),
    (b"", b"1.5,", b"POINT ("),
    (b"", b"!"),
)
SEARCHES: Final = Alphabet(
    (
        *characters(b" a'A-0\n"),
        *map(str.encode, ("\u00e9", "\u0301", "\u00b4", "\ufdfa", "\u6771", "\u3099", "\u0e01", "\u0e33", "\u0130")),
        _MARKS,
    ),
    (b"", b"a", "\u6771".encode()),
    (b"", b" "),
)
PATH: Final = Alphabet((*characters(b"/%a?#"), b"%2F", b"%25", b"%C3", b"sd_", b"\xcc\x81"))
FIELDS: Final = Alphabet(
    (*characters(b',;"\\= \t0.*/\n'), b"q=", b";q=0.5", b"gzip,", b"handling"),
    (b"", b'"', b"a;", b"handling=", b"handling"),
    (b"", b"!"),
    MAX_CHARACTERS,
)
TRACES: Final = Alphabet(
    (*characters(b"-0a_% "), b"sd_", b"%25"), (b"", b"00-", b"01-%b-%b-00-" % (b"a" * 32, b"b" * 16)), (b"", b"!")
)
CONDITIONS: Final = Alphabet(
    (*characters(b'",* 1:-\n'), b"W/", b'W/"a",', b"Fri", b"GMT"),
    (b"", b"\n\n", b"\n\nFri,", b"\n\nFri, 31 May", b"\n\nFri May"),
)
ORIGINS: Final = Alphabet(characters(b":./[a0-%"), (b"", b"http://", b"http://["), (b"", b"!"))
RATES: Final = Alphabet(characters(b"01/s"), (b"", b"1/"))
KEY_FILES: Final = Alphabet(
    (*_JSON, b'{"name":"%b"},' % SERIAL, b"sd_"),
    (b'{"format":1,"keys":[', b'{"format":1,"keys":[{"name":"', b'{"format":1,"keys":[{"rate":"'),
)
FORWARDED: Final = Alphabet(
    (*characters(b",[]:.1 \t%"), b"10.1.1.1", b"10.1.1.1,", b"::1"), (b"",), (b"", b"!"), MAX_FIELD_BYTES
)
VALUES: Final = Alphabet(
    (
        *characters(b" \t\n01.-+e:a"),
        *(text.encode() for text in ("\u00a0", "\u03a3", "\u0301", "\u1fb3\u0345", "\uac00\u11a8", "\ufdfa")),
        _MARKS,
    ),
    (b"", b"1", b"2024-01-01T00:00:00."),
    (b"", b"x"),
)
CSV: Final = Alphabet(
    (
        *characters(b',"\n\r \0a0\xff'),
        *(b'""', b"\r\n", b"NULL", b'="', _MARKS, b",c%b" % SERIAL, b"\n%b,b,c,d,e,1," % SERIAL),
        *(b"\na,b,c,d,e,x,y", b'\na","'),  # the last opens a quote, or closes one and opens another
    ),
    [_COLUMNS + start for start in (b"", b'\n"', b"\na,b,c,", b"\na,b,c,d,e,", b"\na,b,c,d,e,1,")],
    (b"", b",e,1,\n"),
)
DIALECTS: Final = Alphabet(
    (*characters(b',;\t|"\n a\xff'), b'""', b'"a",', b'"\n";', b",c%b" % SERIAL, b",C%b" % SERIAL),
    (b"", b"sep=;\n", b'"', _COLUMNS.replace(b",", b";"), b"\xff\xfe"),
    (b"", b'"', b",a;b\n"),
)
JSON: Final = Alphabet(
    (*_JSON, _MARKS, b'{"store_id":"%b"},' % SERIAL, b'{"%b":1},' % SERIAL), (b"[", b"", b'[{"city":"'), (b"", b'"}]')
)
JSON_LINES: Final = Alphabet(
    (*characters(b'{"\\\n\r '), b"1\n", b"{}\n", b'{"store_id":"%b"}\n' % SERIAL, b'{"%b":1}\n' % SERIAL),
    (b"", b'{"city":"'),
    (b"", b'"}\n'),
)
_FEATURE: Final = b'{"type":"Feature","properties":{"store_id":"%b"},"geometry":null},' % SERIAL
_COLLECTION: Final = b'{"type":"FeatureCollection","features":['
_GEOMETRY: Final = b'{"type":"Feature","geometry":{"type":"MultiPolygon","coordinates":['
_GEOMETRIES: Final = b'{"type":"GeometryCollection","geometries":['
GEOJSON: Final = Alphabet(
    (*characters(b'{}[],:"0'), _FEATURE, b'"%b":1,' % SERIAL, b"[0,0],", _GEOMETRIES),
    (b"", _COLLECTION, _COLLECTION + b'{"type":"Feature","properties":{', _COLLECTION + _GEOMETRY),
    (b"", b"]}"),
)
OVERPASS: Final = Alphabet(
    (
        *characters(b'{}[],:"0.'),
        *(b'{"type":"node","id":%b},' % SERIAL, b'"tags":{"%b":1},' % SERIAL, b'"bounds":{"minlat":"x"'),
    ),
    (b"", b'{"elements":[', b'[{"type":"way","center":{"lat":'),
    (b"", b"]}"),
)
GEOJSON_LINES: Final = Alphabet(
    (*characters(b'{"\\\n\x1e'), _FEATURE[:-1] + b"\n", b"\x1e" + _FEATURE[:-1]),
    (b"", b"\x1e", _GEOMETRY),
    (b"", b"}\n"),
)
PATHS: Final = Alphabet(
    (*_JSON, b'{"a":', b'[{"a.0":', b'{"%b":{"a":1}},' % SERIAL), (b"", b"[", b'[{"a":'), (b"", b"]")
)
NO_VALUE: Final = Alphabet((*characters(b"\na "), SERIAL + b"\n", "ẞ".encode()))
HOURS: Final = Alphabet(
    (
        *characters(b'-,;:" \n\0+x'),
        *(b"Mo", b"Di", b"PH", b"off", b"9", b"09:00", b"am", b"24/7", b"||", b"9-10,", b"Mo-Su,", b"Dec 24 off;"),
        *(b"Dec 1,", b"Mo 9-10,", b'"opens":"09:00",', b'{"day":"monday","opens":"09:00","closes":"18:00"},'),
        *(b"0900-1800", b'{"validFrom":"2026-12-24","validThrough":"2026-12-24","opens":"09:00","closes":"18:00"},'),
    ),
    (b"", b"Mo ", b"Dec 24 9-10,", b'"', b"[", b'{"hours":[', b'{"exception_hours":[],"hours":['),
    (b"", b" off", b"]}", b"]"),
    MOST_BYTES,
)
_PLACE_COLUMNS: Final = b"name,kind,country,latitude,longitude\n"
PLACE_LISTS: Final = Alphabet(
    (*characters(b',\t"\n a\xff'), b"Ulm,city,DE,48.4,10\n", b"%b,city,DE,1,1\n" % SERIAL, b"DE\t%b\n" % SERIAL),
    (b"", _PLACE_COLUMNS, _PLACE_COLUMNS + b"Ulm,city,DE,48.4,", b"\t" * 11 + b"\n", b"\xff\xfe"),
    (b"", b'"', b"\n"),
)
PARQUET: Final = Alphabet((*characters(b"\0\x15\x1c\xff[{"), b"PAR1"), (b"", b"PAR1"), (b"", b"\x10\0\0\0PAR1"))
WORKBOOK_XML: Final = Alphabet(
    (
        *characters(b'<>/" 0['),
        *(b'<c s="1">', b"<f>", b"<v>1</v>", b"</c>", b'<numFmt numFmtId="9" formatCode="', b"<xf ", b"<hyperlink "),
        *(b"<table:table-cell ", b' table:formula="x"', b'-spanned="2"', b"<text:p>", b'<text:a xlink:href="'),
        b"<draw:a>",
        *(b'office:value-type="float" office:value="1', b'office:value-type="time" office:time-value="-PT'),
    ),
    (
        *(b"", b'<c s="1">', b"<c><f>", b'<c t="str"><f>HYPERLINK("https:', b'<table:table-cell table:formula="'),
        b"<text:p><text:a",
    ),
    (b"", b"</c>", b"<text:p>0"),
)
WKB: Final = Alphabet(
    (*characters(b"\0\1\xff"), b"\1\7\0\0\0\1\0\0\0", b"\1\2\0\0\0\0\0\0\0", b"\1\1\0\0\0" + bytes(16)),
    (b"", b"\1\3\0\0\0\xff\xff\xff\xff", b"\1\7\0\0\0\xff\xff\xff\xff"),
)
GZIP: Final = Alphabet(
    (b"\0", b"\xff", b"\x1f\x8b", _GZIPPED[0], _GZIPPED[2]), (b"", _GZIPPED[1], b"\x1f\x8b\x08\x08\0\0\0\0\0\0")
)
ZSTD: Final = Alphabet(
    (b"\0", b"\xff", b"\x50\x2a\x4d\x18\0\0\0\0", _EMPTY_FRAME, _FRAME), (b"", _EMPTY_FRAME, _FRAME[:6])
)
ZIP: Final = Alphabet(
    (b"\0", b"\xff", b"PK\x01\x02", b"PK\x03\x04", b"PK\x05\x06" + b"\0" * 18, b"stores.csv", b"../"),
    (b"", archives()[0], b"PK\x03\x04\x14\0\0\0\x08\0"),
)
MANIFESTS: Final = Alphabet(
    (*_JSON, b'"%b.csv":{"sha256":""},' % SERIAL, b"/", b"\\u0000"), (b'{"files":{', b'{"generated_at":"')
)
MAPPINGS: Final = Alphabet(
    (
        *(b"\n", b'"', b" = ", b"{ ", b" }", b"[", b"]", b", ", b"'", b"#", b"\\u001b", b"9", b"\xff"),
        *(
            *(b"from", b"join", b"first", b"values", b"split", b"part", b"date", b"dd.mm.yyyy", b"am/pm"),
            *(b"point", b"lat lon", b"hh:mm", b"../", b"true", b"closing_date"),
        ),
        *(b"[stores.fields]\n", b"[companies]\n", b'"x", ', b'"%b" = "y", ' % SERIAL, b'k%b = "x"\n' % SERIAL),
    ),
    (
        *(b"", b"[stores.fields]\n", b"[stores.fields]\ncity = { join = ["),
        *(b'[stores.fields]\ncity = { from = "x", values = {', b'[stores.fields]\nis_open = { closing_date = "x", '),
    ),
)
BAKED: Final = Alphabet(characters(b'\0\xff {"'), (b"", b"\xf8\xff\x0f\0\0\0\0\0", b"\0\1\0\0\0\0\0\0"))
HEADERS: Final = Alphabet(
    (*_JSON, b'"%b":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},' % SERIAL),
    (b"{", b'{"__metadata__":{},"header_crc32":{"dtype":"U8","shape":['),
)
