"""The stores that a response contains, by which peers are compared with the service."""

import msgspec


class Matches(msgspec.Struct, frozen=True):
    """The identifiers of the stores on a page, in order, and the total number of matches, None if unknown."""

    ids: list[str]
    total: int | None

    def agrees(self, other: "Matches", tolerance: int) -> bool:
        """Return whether another response matches: same order, or at most `tolerance` other identifiers, if not 0."""
        is_same_total = None in (self.total, other.total) or self.total == other.total
        is_same_page = len(set(self.ids) - set(other.ids)) <= tolerance if tolerance else self.ids == other.ids
        return is_same_total and is_same_page and len(self.ids) == len(other.ids)


class _Store(msgspec.Struct):
    store_id: str


class _Page(msgspec.Struct):
    data: list[_Store]
    total_count: int


def matches_of_page(body: bytes) -> Matches:
    """Return the matches of a page in the format of the service."""
    page = msgspec.json.decode(body, type=_Page)
    return Matches([store.store_id for store in page.data], page.total_count)
