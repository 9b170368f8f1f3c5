"""Propose the entries of a mapping, from the first records of a file."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, combinations, filterfalse
from typing import Final, TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

from service.model.kinds import FLAG, INSTANT, MAX_LATITUDE, MAX_LONGITUDE, NUMBER_PATTERN, fold, parse_instant, trim
from service.model.records import STORES, Field
from service.reading.batch import RecordFile, written
from service.reading.columns.countries import countries_by_name, provinces_of
from service.reading.columns.dates import format_without_days, may_be_date
from service.reading.columns.field_names import (
    COORDINATES,
    columns_by_nearest_name,
    end_of_path,
    is_house_number,
    named_identifiers,
    names_company,
    suggest_field,
)
from service.reading.columns.flags import IS_OPEN
from service.reading.mapping.conversions import padded
from service.reading.mapping.points import (
    are_degrees,
    coordinate,
    degrees,
    have_hemispheres,
    propose_notation,
    with_decimal_points,
)
from service.reading.mapping.toml import quoted
from service.reading.proposal.entry import (
    Entries,
    ProposedEntry,
    entry_of,
    fill_in,
    find_flags,
    flag_entry,
    is_flag,
    join,
    propose_closing,
    prove_formats,
    says_yes_and_no,
    unused_columns,
    with_formats,
)
from service.reading.proposal.first_records import ColumnSample, FirstRecords

_ADDRESS: Final = ("postal_code", "city")
# 10119 Berlin, D-10119 Berlin, 1012AB Amsterdam; not 1012 AB Amsterdam, which a space splits in the postal code.
_POSTAL_CODE_AND_CITY: Final = re.compile(
    r"((?:[A-Z]{1,3}-)?[0-9][0-9-]{2,7}(?:[A-Z]{2})?)(,? +)(?![A-Z]{2} )([^\W\d_].*)"
)
_WORD: Final = re.compile(r"[^\W\d_]+")
_NEARLY_ALL: Final = 0.9  # of the texts of a column; `check` reports the others
_ADDRESS_FIELDS: Final = "address_1"
_NUMBER: Final = re.compile(r"[+-]?[0-9]{1,3}(?:[.,][0-9]+)?")
_PROOF: Final = 10  # one latitude in so many is beyond 90 degrees if it is a longitude: fewer are misspelt
_EXCHANGED: Final = "the names of the two columns are exchanged: values beyond 90 degrees are longitudes"
_IDENTIFYING: Final = ("name", _ADDRESS_FIELDS, "city", "postal_code")
_MOST_PARTS: Final = 3
_MOST_LOST: Final = 2  # zeros
_NO_IDENTIFIER: Final = "no column is named like an identifier of stores; this is distinct in all records"
Integers: TypeAlias = NDArray[np.int64]
_FACTORS: Final[Integers] = np.array([0x9E3779B97F4A7C15 * 3**power % 2**63 for power in range(16)], np.int64)


def _split_columns(columns: Sequence[ColumnSample], chosen: Mapping[str, str]) -> Iterator[dict[str, ProposedEntry]]:
    """Yield the entries of each column with the values of two fields, for which no other column was chosen."""
    taken = dict(chosen)
    for column in columns:
        field_of_column = {name: field for field, name in taken.items()}.get(column.name)
        for found in filter(None, (_coordinates(column), _postal_code_and_city(column, field_of_column))):
            others = taken.keys() - {field_of_column}
            if field_of_column in (None, *found) and others.isdisjoint(found):
                taken |= dict.fromkeys(found, column.name)
                yield found


def _coordinates(column: ColumnSample) -> dict[str, ProposedEntry]:
    """Return the entries of both coordinates, the first with what to check; none if they are not in the column."""
    if (found := propose_notation(column.name, column.texts)) is None:
        return {}
    point = {"point": found[0]}
    return {COORDINATES[0]: entry_of(column, point, found[1]), COORDINATES[1]: entry_of(column, point)}


def _postal_code_and_city(column: ColumnSample, field: str | None) -> dict[str, ProposedEntry]:
    named = {suggest_field(word, STORES) for word in _WORD.findall(column.name)}
    found = list(filter(None, map(_POSTAL_CODE_AND_CITY.fullmatch, column.texts)))
    if not found or (field not in _ADDRESS and not named >= set(_ADDRESS)):
        return {}
    separator, count = Counter(each[2].strip() or " " for each in found).most_common(1)[0]
    if count < _NEARLY_ALL * len(column.texts):
        return {}
    return {each: entry_of(column, {"split": separator, "part": part}) for part, each in enumerate(_ADDRESS, 1)}


def propose_entries(first: FirstRecords, *, paths: bool) -> dict[str, ProposedEntry]:
    """Return an entry for each field of stores that has a column. `paths` if the names of columns are paths."""
    filled = [column for column in first.columns.values() if column.has_values or not first.count]
    columns = [column for column in filled if not _are_rows_numbered(column)]
    flags = {column.name for column in columns if says_yes_and_no(column) and names_company(end_of_path(column.name))}
    named = columns_by_nearest_name([column.name for column in columns if column.name not in flags], paths=paths)
    exchanged = _are_exchanged(first.columns, named)
    if exchanged:
        named |= {field: named[other] for field, other in zip(COORDINATES, COORDINATES[::-1], strict=True)}
    split = {field: entry for found in _split_columns(columns, named) for field, entry in found.items()}
    named |= {field: entry.columns[0] for field, entry in split.items()}
    valued = _columns_by_values(columns, named)
    chosen = named | valued
    fields = [field for field in STORES.fields if field.name in chosen]
    entries = {field.name: propose_entry(field, first.columns[chosen[field.name]], first) for field in fields}
    comments = dict.fromkeys(valued, "found by its values") | dict.fromkeys(COORDINATES * exchanged, _EXCHANGED)
    for field, comment in comments.items():
        entries[field] = msgspec.structs.replace(entries[field], comment=comment)
    entries |= split
    entries |= _padded_codes(entries, first)
    entries |= propose_closing(list(unused_columns(first, entries).values()), entries, first)
    return entries | _joined_address([column.name for column in columns], chosen, paths=paths)


def _are_exchanged(columns: Mapping[str, ColumnSample], chosen: Mapping[str, str]) -> bool:
    """Return whether the column chosen for latitudes has longitudes, and the other one latitudes."""
    if not chosen.keys() >= set(COORDINATES):
        return False
    latitudes, longitudes = ([*_all_degrees(columns[chosen[field]])] for field in COORDINATES)
    beyond = sum(each > MAX_LATITUDE for each in latitudes)
    fit = max(latitudes, default=0) <= MAX_LONGITUDE and max(longitudes, default=MAX_LONGITUDE) <= MAX_LATITUDE
    return fit and _PROOF * beyond > len(latitudes)


def _columns_by_values(columns: Sequence[ColumnSample], chosen: Mapping[str, str]) -> dict[str, str]:
    """Return the columns, of those that are not chosen, whose values are coordinates, states, or say what is open.

    The latter replaces a column that is chosen by its name alone, such as `Open` with opening hours.
    """
    others = [column for column in columns if column.name not in chosen.values() and column.texts]
    missing = [field for field in COORDINATES if field not in chosen]
    found = {field: each.name for field in missing for each in others if have_hemispheres(each.texts, field)}
    found = found or _missing_coordinates([column for column in others if are_degrees(column.texts)], missing)
    states = {code for code, _, _ in provinces_of("US")}
    of_states = [each for each in others if each.name.casefold() == "st" and states.issuperset(each.texts)]
    found |= {"province": of_states[0].name} if of_states and "province" not in chosen else {}
    named = next((column for column in columns if column.name == chosen.get(IS_OPEN.name)), None)
    if named is not None and is_flag(named):
        return found
    flags = find_flags(others)
    return found | ({IS_OPEN.name: flags.name} if flags else {})


def _missing_coordinates(columns: Sequence[ColumnSample], missing: Sequence[str]) -> dict[str, str]:
    """Return the columns of missing coordinates among columns of degrees: latitudes come first, unless they cannot."""
    for fitting in (columns[: len(missing)], columns[: len(missing)][::-1]):
        found = dict(zip(missing, fitting, strict=False))
        latitudes = _all_degrees(found[COORDINATES[0]]) if COORDINATES[0] in found else ()
        if len(found) == len(missing) and max(latitudes, default=0) <= MAX_LATITUDE:
            return {field: column.name for field, column in found.items()}
    return {}


def _all_degrees(column: ColumnSample) -> Iterator[float]:
    return (degrees(text) for text in column.texts if _NUMBER.fullmatch(text))


def _padded_codes(entries: Entries, first: FirstRecords) -> dict[str, ProposedEntry]:
    """Return the entry of postal codes some of which lost zeros in front, as those of all countries of a file show."""
    columns = [first.columns[entries[field].columns[0]] for field in ("postal_code", "country") if field in entries]
    if len(columns) < len(("postal_code", "country")) or len(entries["postal_code"].columns) > 1:
        return {}
    codes, countries = columns
    known = [countries_by_name().get(fold(text).encode()) for text in countries.texts]
    digits = {country.postal_digits if country else None for country in known}
    wanted = digits.pop() if len(digits) == 1 else None
    short = [text for text in codes.texts if wanted and padded(wanted, text) != text]
    if not wanted or not short or any(len(text.partition("-")[0]) < wanted - _MOST_LOST for text in short):
        return {}
    entry = entries["postal_code"]
    keys = {**entry.keys, "pad": wanted}
    return {"postal_code": msgspec.structs.replace(entry, keys=keys, comment="leading zeros seem to be missing")}


def _are_rows_numbered(column: ColumnSample) -> bool:
    """Return whether a column without a word in its name, as `#`, has the number of each row: no identifiers."""
    numbers = [str(number) for number, _ in enumerate(column.cells, 1)]
    return not any(map(str.isalnum, column.name)) and column.cells == numbers and len(numbers) > 1


def find_identifier(file: RecordFile, entries: Entries, first: FirstRecords) -> dict[str, ProposedEntry]:
    """Return the entry of the identifier of stores: the shortest distinct join of columns of names and addresses.

    Of stores without a name, an identifier beside one is such a column; if it is taken, the name has an entry, too.
    If there is none, it is to be filled in, with two records that no join distinguishes; none for a file without
    records. Raises FileError.
    """
    unused = unused_columns(first, entries)
    named = {} if "name" in entries else named_identifiers(unused)
    distinct = [(each,) for each in named if len(unused[each].texts) >= first.count]
    others = [entries[field].columns for field in _IDENTIFYING if field in entries and entries[field].columns]
    parts = [*distinct[:1], *others]
    columns = list(dict.fromkeys(chain(*parts)))
    if not (first.count and columns):
        return {}
    numbers, hashes = _hash(file, columns)
    keys = hashes[:, 0]
    for some in chain(*(combinations(parts, size) for size in range(1, _MOST_PARTS + 1))):
        joined = tuple(dict.fromkeys(chain(*some)))
        keys = hashes[:, list(map(columns.index, joined))] @ _FACTORS[: len(joined)]
        if np.unique(keys).size == len(keys) and keys.all():  # a record without any part has the key 0
            name = {"name": entry_of(unused[named[joined[0]]])} if joined[0] in named else {}
            return {STORES.identifier: join(joined, _NO_IDENTIFIER, separator="|")} | name
    _, places, counts = np.unique(keys, return_inverse=True, return_counts=True)
    alike = " and ".join(map(str, numbers[places == counts.argmax()][:2]))
    why = f"No join of up to {_MOST_PARTS} of {', '.join(map(quoted, columns))} is distinct: see records {alike}."
    return {STORES.identifier: msgspec.structs.replace(fill_in(STORES.fields[0], unused.values(), first), notes=(why,))}


def _hash(file: RecordFile, columns: Sequence[str]) -> tuple[Integers, Integers]:
    """Return the number of each record, and a row of hashes of its cells in some columns, 0 for no value."""
    numbers, hashes = [], []
    for batch in file.batches(columns):
        cells = ([hash(trim(written(cell))) for cell in batch.columns[name]] for name in columns)
        numbers.append(np.array(batch.numbers, np.int64))
        hashes.append(np.array([*cells], np.int64).T)
    return np.concatenate(numbers), np.concatenate(hashes)


def propose_entry(field: Field, column: ColumnSample, first: FirstRecords) -> ProposedEntry:
    """Return the entry of a field that is made of one column."""
    if field.kind is FLAG:
        return flag_entry(column)
    if field.kind is INSTANT and any(parse_instant(text) is None for text in column.texts):
        return _instant_entry(field, column, first)
    numbers = (NUMBER_PATTERN.fullmatch(text.replace(",", ".", 1)) for text in column.texts)
    odd = next((text for text, number in zip(column.texts, numbers, strict=True) if number is None), "")
    odd = odd if field.name in COORDINATES else ""
    if odd and all(coordinate(with_decimal_points(text), (), field.name) for text in column.texts):
        return entry_of(column, {"point": "degrees"})
    return entry_of(column, comment=f"{quoted(odd)} is no decimal, and served as text" if odd else "")


def _joined_address(names: Sequence[str], chosen: Mapping[str, str], *, paths: bool) -> dict[str, ProposedEntry]:
    street = chosen.get(_ADDRESS_FIELDS)
    if street is None:
        return {}
    parent = street.removesuffix(end_of_path(street)) if paths else ""
    others = [name for name in names if name.startswith(parent) and name not in chosen.values()]
    prefixes = ("", "street") if parent else ("",)  # in an object with a street, `number` is that of its house
    numbers = [name for each in prefixes for name in others if is_house_number(each + name.removeprefix(parent))]
    return {_ADDRESS_FIELDS: join([name for name in names if name in (street, numbers[0])])} if numbers else {}


def _instant_entry(field: Field, column: ColumnSample, first: FirstRecords) -> ProposedEntry:
    if declared := format_without_days(column.texts):
        return entry_of(column, {"date": declared}, "the first day of the month or year")
    dates = list(filter(may_be_date, column.texts))
    others = list(filterfalse(set(dates).__contains__, column.texts))[:1]
    hint = "; if it means that there is no value, add it to no_value" if dates else ""
    notes = [f"{quoted(text)} in {quoted(column.name)} matches no date format{hint}." for text in others]
    example = next((text for text in dates if parse_instant(text) is None), "")
    if dates and not example:
        return entry_of(column, notes=notes)
    formats, comment = prove_formats(dates, first)
    if not (formats or others):
        notes.append(f"The dates in {quoted(column.name)} have several formats, which contradict each other.")
    entry = ProposedEntry({}, (column.name,), comment, tuple(notes))
    return with_formats(entry, field.name, {"from": column.name}, formats, example)
