"""Print the stores of two cities with their distance from a point, and the errors of an invalid request."""

import sys

from store_directory_client import AuthenticatedClient
from store_directory_client.api.directory import list_stores
from store_directory_client.models import (
    HTTPValidationError,
    PaginatedResponsePartialStore,
    PaginatedResponseStoreWithDistance,
)
from store_directory_client.types import Unset

address, key = sys.argv[1:]
client = AuthenticatedClient(address, token=key, prefix="", auth_header_name="x-api-key")
page = list_stores.sync(client=client, city=["Toronto", "Ottawa"], near="43.65,-79.38")
assert isinstance(page, PaginatedResponseStoreWithDistance | PaginatedResponsePartialStore), page
for store in page.data:
    distance: float | Unset | None = store.distance
    print(store.city, f"{distance:.1f}" if isinstance(distance, float) else "unknown")
refused = list_stores.sync(client=client, limit=0)
assert isinstance(refused, HTTPValidationError), refused
for item in refused.detail or ():
    print(*item.loc, item.type_)
