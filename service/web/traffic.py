"""What was answered, in numbers."""

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import accumulate
from typing import Final

from prometheus_client import Metric
from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily
from prometheus_client.registry import Collector

# A client may write any token as a method: those beyond the standard's share one label.
_METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH"})
_BUCKETS: Final = (0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0)


class Traffic(Collector):
    """What was answered, counted in plain numbers: a request pays for no lock and no search for a label."""

    def __init__(self) -> None:
        self._requests: Counter[tuple[str, str, int]] = Counter()
        self._within: dict[str, list[int]] = defaultdict(lambda: [0] * (len(_BUCKETS) + 1))
        self._seconds: dict[str, float] = defaultdict(float)

    def observe(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count an answered request."""
        self._requests[method if method in _METHODS else "other", route, status] += 1
        self._within[route][bisect_left(_BUCKETS, seconds)] += 1
        self._seconds[route] += seconds

    def collect(self) -> Iterator[Metric]:
        """Tell what was counted."""
        requests = CounterMetricFamily(
            "store_directory_http_requests", "Requests answered.", labels=["method", "route", "status"]
        )
        for (method, route, status), count in self._requests.items():
            requests.add_metric([method, route, str(status)], count)
        seconds = HistogramMetricFamily(
            "store_directory_http_request_duration_seconds", "Time to compose an answer.", labels=["route"]
        )
        for route, counts in self._within.items():
            within = zip((*map(str, _BUCKETS), "+Inf"), accumulate(counts), strict=True)
            seconds.add_metric([route], list(within), self._seconds[route])
        return iter((requests, seconds))
