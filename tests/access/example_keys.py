"""Entries of keys for tests."""

from datetime import UTC, datetime, timedelta
from typing import Any

from service.access.api_key import digest, new_key
from service.access.key_file import KeyEntry

NOW = datetime(2026, 7, 1, tzinfo=UTC)
DAY = timedelta(days=1)


def entry(key: str | None = None, **values: Any) -> KeyEntry:
    """Return the entry of a key, by default of a new one."""
    made: dict[str, Any] = {"name": "shop", "sha256": digest(key or new_key()).hex(), "created_at": NOW - DAY}
    return KeyEntry(**made | values)
