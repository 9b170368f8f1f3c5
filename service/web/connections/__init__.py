"""The listening side of HTTP: connections, their limits and timeouts. The only place that knows aiohttp's parser."""
