"""The stores that a response finds."""

import msgspec


class Finding(msgspec.Struct, frozen=True):
    """The identifiers of the stores on a page, in order, and the number of stores that match, None if not answered."""

    ids: list[str]
    total: int | None

    def agrees(self, other: "Finding", unlike: int) -> bool:
        """Return whether another response finds the same.

        If `unlike` is not 0, so many identifiers may be others, in any order.
        """
        is_same_total = self.total is None or other.total is None or self.total == other.total
        is_same_page = len(set(self.ids) - set(other.ids)) <= unlike if unlike else self.ids == other.ids
        return is_same_total and is_same_page and len(self.ids) == len(other.ids)


class _Store(msgspec.Struct):
    store_id: str


class _Page(msgspec.Struct):
    data: list[_Store]
    total_count: int


def on_page(body: bytes) -> Finding:
    """Return what a page of stores in the form of the service finds."""
    page = msgspec.json.decode(body, type=_Page)
    return Finding([store.store_id for store in page.data], page.total_count)
