"""The URL of an object: s3://bucket/key."""

import re
from typing import Final

import msgspec

SCHEMES: Final = ("s3", "gs", "az")
_URL: Final = re.compile(
    rf"(?P<scheme>{'|'.join(SCHEMES)})://(?P<bucket>[a-z0-9][a-z0-9._-]*)(?:/(?P<key>[^?#]*))?",
    re.IGNORECASE | re.ASCII,
)


class ObjectUrl(msgspec.Struct, frozen=True):
    """The scheme of a store, the bucket, and the key of an object, or the start of the keys in a folder."""

    scheme: str
    bucket: str
    key: str

    def __str__(self) -> str:
        return f"{self.scheme}://{self.bucket}/{self.key}"


def parse_object_url(text: str) -> ObjectUrl:
    """Return the parts of a URL. Raises ValueError, without its text, which may have a secret."""
    url = _URL.fullmatch(text)
    if url is None:
        raise ValueError("the URL of an object is s3://bucket/key, gs://bucket/key or az://container/key, and no more")
    parsed = ObjectUrl(url["scheme"].lower(), url["bucket"], url["key"] or "")
    if not {"", ".", ".."}.isdisjoint(parsed.key.removesuffix("/").split("/")) and parsed.key:
        raise ValueError("the key of an object has no empty part, and neither . nor ..")
    return parsed
