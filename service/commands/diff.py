"""`store-directory diff`: what differs between two data sets."""

import asyncio
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import click
import msgspec
from msgspec import Raw
from msgspec.structs import fields, replace

from service.baking.baked_file import load_baked
from service.commands.export import load_local
from service.commands.options import SETTINGS, data_errors, dataset_error, make_settings, setting_errors
from service.dataset import Dataset, Rejected
from service.engine.table import ROW_END, Table
from service.model.records import ATTRIBUTES, COMPANIES, STORES, Resource
from service.publishing.choice import check_unread, choose_source, holds_baked
from service.publishing.source import Unavailable
from service.server.log import shown_progress
from service.settings import Settings
from service.spool import Spools

_ERROR: Final = 2
_ROWS: Final = 4096  # read at once
_KINDS: Final = ("added", "removed", "changed")
_LINE: Final = b'{"resource":"%b","change":"%b","record":%b%b}\n'
_BEFORE: Final = b',"before":%b'
_DECODE: Final = msgspec.json.Decoder(dict[str, Raw]).decode


@click.command(params=[SETTINGS[name] for name in ("mapping", "encoding", "invalid")])
@click.argument("old", metavar="OLD")
@click.argument("new", metavar="NEW")
@click.option("--summary", is_flag=True, help="Print only how many records differ.")
@click.pass_context
def diff(context: click.Context, /, old: str, new: str, *, summary: bool, **values: Any) -> None:
    """Print the records that differ between the data sets in OLD and NEW, each as a line of JSON.

    Both are what `serve --data` takes: a folder, a data file, a zip archive, a baked file or a URL. Records are
    compared as they are served; companies come first, each by identifier. Standard error has the numbers. Exit with 0
    if nothing differs, 1 if something does, and 2 after an error.
    """
    try:
        settings = make_settings(values)
        if holds_baked(old) and holds_baked(new):
            with setting_errors("mapping"):
                check_unread(settings.read_options)
        unread = replace(settings, mapping="", encoding="")
        datasets = [_load(data, unread if holds_baked(data) else settings) for data in (old, new)]
        counts = _compare(datasets, summary=summary)
    except click.ClickException as error:
        vars(error).update(exit_code=_ERROR)  # of the class, for type checkers
        raise
    for name, numbers in counts.items():
        click.echo(f"{name}: {', '.join(f'{number:,} {kind}' for kind, number in numbers.items())}", err=True)
    context.exit(any(numbers[kind] for numbers in counts.values() for kind in _KINDS))


def _load(data: str, settings: Settings) -> Dataset:
    if "://" not in data:
        with data_errors(Path(data)):
            return load_local(Path(data), settings, Spools())
    with TemporaryDirectory() as folder, shown_progress() as progress:
        file = Path(folder, "fetched.baked")
        try:
            source = choose_source(data, settings, Path(folder, "cache"))
            asyncio.run(source.fetch(file, known="", check=lambda _: None, progress=progress))
            return load_baked(file, checked=True)
        except ValueError as error:
            raise click.UsageError(str(error)) from error
        except Unavailable as error:
            raise click.ClickException(str(error)) from error
        except Rejected as rejected:
            raise dataset_error(source.name, rejected) from rejected


def _compare(datasets: list[Dataset], *, summary: bool) -> dict[str, Counter[str]]:
    """Print the changes, unless only their numbers matter; return these by resource and kind."""
    counts, out = {}, None if summary or sys.stdout is None else sys.stdout.buffer  # which may be closed
    try:
        for resource in (COMPANIES, STORES):
            old, new = (getattr(dataset, resource.name) for dataset in datasets)
            numbers = counts[resource.name] = Counter(dict.fromkeys(_KINDS, 0))
            for kind, row, before in changes(old, new, resource):
                numbers[kind] += 1
                if out:
                    out.write(_LINE % (resource.name.encode(), kind.encode(), row, before))
            numbers["unchanged"] = len(old) - numbers["removed"] - numbers["changed"]
        if out:
            out.flush()
    except BrokenPipeError:
        raise  # click ends the program without a message
    except OSError as error:
        raise click.ClickException(f"the lines cannot be written: {error.strerror}") from error
    return counts


def changes(old: Table, new: Table, resource: Resource) -> Iterator[tuple[str, bytes, bytes]]:
    """Yield the changes from one table to another, by identifier: the kind, the record as JSON, the end of its line.

    That has the old values of a changed record.
    """
    names = [*(field.name for field in fields(resource.record)), ATTRIBUTES]
    olds, news = _by_identifier(old), _by_identifier(new)
    one, other = next(olds, None), next(news, None)
    while one or other:
        if one and (other is None or one[0] < other[0]):
            yield "removed", one[1], b""
            one = next(olds, None)
        elif other and (one is None or other[0] < one[0]):
            yield "added", other[1], b""
            other = next(news, None)
        elif one and other:
            if one[1] != other[1] and (before := _differing(_DECODE(one[1]), _DECODE(other[1]), names)):
                yield "changed", other[1], _BEFORE % msgspec.json.encode(before)
            one, other = next(olds, None), next(news, None)


def _by_identifier(table: Table) -> Iterator[tuple[bytes, bytes]]:
    """Yield the identifier and the row of each record, by identifier."""
    column = table.columns[table.key]
    for start in range(0, len(table), _ROWS):
        rows = table.rows.views(column.order[start : start + _ROWS], without=len(ROW_END))
        if column.values is not None:
            yield from zip(column.values.part(start, start + _ROWS), map(bytes, rows), strict=True)


def _differing(old: Mapping[str, Raw], new: Mapping[str, Raw], names: list[str]) -> dict[str, Any]:
    """Return the old values of the members that differ, in order; of the attributes those that differ."""
    before: dict[str, Any] = {name: old.get(name) for name in names if old.get(name) != new.get(name)}
    if ATTRIBUTES in before and ATTRIBUTES in old and ATTRIBUTES in new:
        were, are = _DECODE(old[ATTRIBUTES]), _DECODE(new[ATTRIBUTES])
        before[ATTRIBUTES] = _differing(were, are, [*dict.fromkeys((*are, *were))])
        if not before[ATTRIBUTES]:  # they are declared in another order
            del before[ATTRIBUTES]
    return before
