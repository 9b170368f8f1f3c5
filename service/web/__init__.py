"""HTTP: the only rooms that know aiohttp."""
