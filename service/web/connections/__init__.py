"""The server side of HTTP connections: parsing, limits, timeouts. The only package that uses aiohttp's parser."""
