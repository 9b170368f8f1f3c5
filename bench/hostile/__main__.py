"""Measure what some clients cost the service and the others: `python -m bench.hostile`."""

import resource
from collections.abc import Iterable, Mapping, Sequence
from statistics import median
from typing import Any, Final

import click

from bench.hostile.latencies import BOUNDED, RATE, Attack, Beside, Latency, attacks, beside, slow
from bench.report import Spread, finish, save, surroundings, table, with_maximum
from bench.servers import split_cores

_STORES: Final = 1_000_000
_MAX_LATENCY_RATIO: Final = 1.5  # under an attack over without
_MAX_HEALTH_SECONDS: Final = 1
_MAX_ADDED_SECONDS: Final = 0.006
_PARTS: Final = ("slow", "attacks", "beside")
_LATENCY: Final = ("99 %, ms, without", "under attack", "ratio", "from", "to")
_BESIDE: Final = (
    *(f"{RATE} requests a second for companies and for 50 stores of a city", "50 % within, ms", "99 %", "all"),
    *("added to the 99 %, ms", "event loop without a core, %"),
)


@click.command()
@click.option("--part", "parts", type=click.Choice(_PARTS), multiple=True, help="Run only this part; repeatable.")
@click.option("--connections", default=4000, show_default=True, help="Connections of slowhttptest.")
@click.option("--stores", default=_STORES, show_default=True, help="Stores of the part `beside`.")
@click.option("--pairs", default=3, show_default=True, help="Pairs of measurements of each attack.")
@click.option("--seconds", default=1.5, show_default=True, help="Length of a measurement of latency.")
def main(*, parts: Sequence[str], connections: int, stores: int, pairs: int, seconds: float) -> None:
    """Print the tables; exit with 1 if a bound is missed. A run of all parts updates the pages."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    core, load = split_cores()
    wanted, tables, missed = parts or _PARTS, [f"{surroundings()}\n"], list[str]()
    if "beside" in wanted:
        streams = beside(stores, core, load, pairs=2 * pairs, seconds=2 * seconds)
        missed += _above({each: [one.added for one in streams[each]] for each in BOUNDED}, _MAX_ADDED_SECONDS)
        text = f"{stores:,} stores. {surroundings()}\n\n{table(_BESIDE, _beside(streams))}"
        print(text)
        if stores == _STORES:
            save("beside", text)
    if "slow" in wanted:
        held = slow(core, load, connections=connections, pairs=pairs, seconds=2 * seconds)
        missed += _above({name: [each.ratio for each in found] for name, found in held.items()}, _MAX_LATENCY_RATIO)
        rows = ([name, *_latency(found)] for name, found in held.items())
        tables += [f"{connections:,} slow connections:\n", table(("attack", *_LATENCY), rows)]
    if "attacks" in wanted:
        attacked = attacks(core, load, pairs=pairs, seconds=seconds)
        missed += _above({each: [one.stores.ratio for one in attacked[each]] for each in attacked}, _MAX_LATENCY_RATIO)
        missed += _above({each: [one.health.under for one in attacked[each]] for each in attacked}, _MAX_HEALTH_SECONDS)
        head = ("attack", "connections", *_LATENCY, "99 % of /health, ms", "core, %")
        tables += ["Attackers at full speed:\n", table(head, ([*each, *_attack(attacked[each])] for each in attacked))]
    tables += ["".join(f"- Bound missed: {each}.\n" for each in missed)] if missed else []
    finish("hostile", "\n".join(tables), is_full=set(wanted) == set(_PARTS), missed=missed)


def _above(figures: Mapping[Any, Iterable[float]], bound: float) -> list[str]:
    """Return the medians above a bound."""
    medians = {what: median(each) for what, each in figures.items()}
    return [f"{what}: {figure:.3g}, at most {bound:g}" for what, figure in medians.items() if figure > bound]


def _attack(measured: Sequence[Attack]) -> Sequence[str]:
    health, core = (median(each) for each in zip(*((each.health.under, each.core) for each in measured), strict=True))
    return (*_latency([each.stores for each in measured]), f"{health * 1e3:.2f}", f"{core * 100:.0f}")


def _latency(pairs: Sequence[Latency]) -> Sequence[str]:
    without, under = (median(each) for each in zip(*((pair.without, pair.under) for pair in pairs), strict=True))
    return (f"{without * 1e3:.2f}", f"{under * 1e3:.2f}", *Spread.of(pair.ratio for pair in pairs).cells())


def _beside(streams: Mapping[str, Sequence[Beside]]) -> Iterable[Sequence[str]]:
    yield ("alone", *_percentiles([each.alone for found in streams.values() for each in found]), "-", "-")
    for name, found in streams.items():
        added, waited = Spread.of(each.added * 1e3 for each in found), median(each.waited for each in found)
        spread = f"{added.median:.1f}; {added.lowest:.1f} to {added.highest:.1f}"
        yield (f"beside {name}", *_percentiles([each.beside for each in found]), spread, f"{waited * 100:.0f}")


def _percentiles(found: Sequence[tuple[float, ...]]) -> Sequence[str]:
    return [with_maximum(each, scale=1e3, digits=1) for each in zip(*found, strict=True)]


if __name__ == "__main__":
    main()
