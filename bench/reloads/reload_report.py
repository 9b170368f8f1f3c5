"""The results of the benchmark of reloads and workers."""

from collections.abc import Sequence

import msgspec

from bench.reloads import footprints, latency, sharing, starts
from bench.reloads.footprints import Footprint
from bench.reloads.latency import Reloads
from bench.reloads.sharing import Sharing
from bench.reloads.starts import Start
from bench.wire.machine import Surroundings


class Report(msgspec.Struct, frozen=True):
    """The results by part; a part that did not run is empty."""

    surroundings: Surroundings
    starts: Sequence[Start]
    reloads: Sequence[Reloads]
    footprints: Sequence[Footprint]
    sharings: Sequence[Sharing]

    @property
    def missed(self) -> list[str]:
        """The bounds that are exceeded."""
        results: tuple[Reloads | Footprint | Sharing, ...] = (*self.reloads, *self.footprints, *self.sharings)
        return [miss for each in results for miss in each.missed]


def markdown(report: Report) -> str:
    """Return the surroundings, then the tables of the parts."""
    tables = (
        report.starts and starts.markdown(report.starts),
        report.reloads and latency.markdown(report.reloads),
        report.footprints and footprints.markdown(report.footprints),
        report.sharings and sharing.markdown(report.sharings),
    )
    missed = "".join(f"- Bound missed: {miss}.\n" for miss in report.missed)
    return "\n".join(part for part in (f"{report.surroundings}\n", *tables, missed) if isinstance(part, str) and part)
