"""The links of a page and of an error (RFC 8288), the former computed from the target as it is written."""

import re
from typing import Final
from urllib.parse import unquote_plus

from tests.composition.target import Target

_PAGES: Final = re.compile(rb'"num_pages":([0-9]+),"page_num":([0-9]+),')
_ENVELOPE: Final = 500
# The longest link, without its page number, of which a page has more than one.
_LONGEST: Final = 1000
# From an error to the documentation.
HELP: Final = '</docs>; rel="help"'


def base(target: Target) -> str:
    """Return the links to pages in a body, but for the number."""
    kept = [pair for pair in target.pairs if unquote_plus(pair.partition("=")[0]) not in ("page_num", "key")]
    return f"{target.question.path}?{''.join(f'{pair}&' for pair in kept)}page_num="


def links(target: Target, page: bytes) -> str | None:
    """Return the value of the Link field of a page; None if the body is not a page."""
    found = _PAGES.search(page[:_ENVELOPE])
    if found is None:
        return None
    count, number = max(int(found[1]), 1), int(found[2])
    kept = "".join(f"{pair}&" for pair in target.pairs if unquote_plus(pair.partition("=")[0]) != "page_num")
    pages = {"next": number + 1, "prev": min(number - 1, count), "first": 1, "last": count}
    shown = [name for name in pages if (name != "next" or number < count) and (name != "prev" or number > 1)]
    if len(f"?{kept}page_num=") > _LONGEST:
        shown = [name for name in shown if name == "next"]
    return ", ".join(f'<?{kept}page_num={pages[name]}>; rel="{name}"' for name in shown) or None
