"""The checks of the data format as an oracle: one record after another, as plainly as possible."""

import json
import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from decimal import Decimal

from tests.engine.oracle import words
from tests.loading.data_files import COMPANY_FIELDS, STORE_FIELDS, Record

Reported = tuple[str, int, str | None, str | None]  # code, record, field, value
REQUIRED = {"stores": ["store_id", "company_id", "address_1", "city", "country"], "companies": ["company_id", "name"]}
FIELDS = {"stores": STORE_FIELDS, "companies": COMPANY_FIELDS}
TRUE = ["1", "t", "y", "on", "yes", "true"]
FALSE = ["0", "f", "n", "no", "off", "false"]
DATE = re.compile(r"(\d{4}-\d\d-\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d+))?)?(Z|[+-]\d\d:\d\d)?)?", re.ASCII)


PLACEHOLDERS = [
    *("null", "(null)", "\\n", "nan", "n/a", "#n/a", "na", "none", "undefined", "-", "--", "\u2013"),
    *("\u2014", "() -"),
]
MEANT = {"name": ["na", "nan", "none"], "city": ["nan", "none"], "province": ["na", "nan"], "country": ["na"]}
DECIMAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d{1,3})?", re.ASCII | re.IGNORECASE)


class Flawed(Exception):
    """A cell has no value, for the reason of a code."""


class Oracle:
    """Checks the records of one kind, whose cells are texts or values of JSON."""

    def __init__(self, kind: str, companies: Sequence[str]) -> None:
        self.kind, self.companies = kind, companies
        self.errors: list[Reported] = []
        self.warnings: list[Reported] = []
        self.served: dict[str, Record] = {}

    def check(self, records: Sequence[Record]) -> None:
        """Check all records in order."""
        for number, record in enumerate(records, 1):
            self._check_record(number, record)
        if self.kind == "companies":
            self._check_parents(records)

    def _check_record(self, number: int, record: Record) -> None:
        values: Record = {}
        errors: list[Reported] = []
        warnings: list[Reported] = []
        for field in FIELDS[self.kind]:
            try:
                values[field] = self._value(field, record.get(field))
            except Flawed as flawed:
                errors.append((str(flawed), number, field, self._shown(record.get(field), str(flawed))))
                continue
            value = values[field]
            if isinstance(value, str) and (code := self._odd(field, value)):
                warnings.append((code, number, field, value))
            if self.kind == "stores" and field == "company_id" and values[field] not in self.companies:
                errors.append(("company", number, field, str(values[field])))
        self._compare(number, values, errors, warnings)

    def _compare(self, number: int, values: Record, errors: list[Reported], warnings: list[Reported]) -> None:
        key = "store_id" if self.kind == "stores" else "company_id"
        identifier = values.get(key)
        answer = {field: value for field, value in values.items() if field not in ("created_at", "updated_at") or value}
        if self.kind == "companies":
            answer.pop("created_at", None)
        if isinstance(identifier, str) and identifier in self.served:
            if not errors and answer == self.served[identifier]:
                warnings.insert(
                    warnings[:1] == [("formula", number, key, identifier)], ("repeated", number, key, identifier)
                )
            else:
                errors.insert(0, ("duplicate", number, key, identifier))
        elif not errors:
            self.served[str(identifier)] = answer
        self.errors += errors
        self.warnings += warnings

    def _check_parents(self, records: Sequence[Record]) -> None:
        first: set[str] = set()
        for number, record in enumerate(records, 1):
            try:
                parent = self._value("parent_company_id", record.get("parent_company_id"))
            except Flawed:
                continue
            identifier = str(record.get("company_id"))
            kept = identifier in self.served and identifier not in first and self._is_valid(number)
            if kept:
                first.add(identifier)
            if parent is not None and (parent not in self.served or (kept and self._comes_back(identifier))):
                self.warnings.append(("parent", number, "parent_company_id", str(parent)))
        self.warnings.sort(key=lambda warning: warning[1])

    def _is_valid(self, number: int) -> bool:
        return all(error[1] != number for error in self.errors)

    def _comes_back(self, start: str) -> bool:
        company: object = start
        for _ in self.served:
            company = self.served.get(str(company), {}).get("parent_company_id")
            if company is None or company == start:
                return company == start
        return False

    def _value(self, field: str, cell: object) -> object:
        if isinstance(cell, int) and not isinstance(cell, bool):
            cell = str(cell)
        if field == "is_open":
            return self._flag(cell)
        if cell is not None and not isinstance(cell, str):
            raise Flawed("type")
        if cell is None or cell.strip() == "":
            if field in REQUIRED[self.kind]:
                raise Flawed("missing")
            return None
        if field in ("created_at", "updated_at"):
            return answered_date(cell)
        if any((ord(letter) < 32 and letter not in "\t\n\r") or 127 <= ord(letter) < 160 for letter in cell):
            raise Flawed("text")
        return cell

    def _flag(self, cell: object) -> bool:
        if cell is None or (isinstance(cell, str) and not cell.strip()):
            return True
        if isinstance(cell, bool):
            return cell
        if isinstance(cell, str) and cell.isascii() and cell.lower() in TRUE + FALSE:
            return cell.lower() in TRUE
        raise Flawed("type")

    def _odd(self, field: str, value: str) -> str | None:
        """Return the code of a warning of a value, None where it deserves none."""
        if field in ("created_at", "updated_at"):
            return None
        if field in ("latitude", "longitude") and (number := decimal(value)) is not None:
            return "range" if abs(number) > (90 if field == "latitude" else 180) else None
        if value[:2] == '="' and value[-1] == '"' and value.count('"') == 2:
            return "formula"
        if field.endswith("_id"):
            return "parent" if self._lacks_parent(field, value) else None
        if words(value) in set(PLACEHOLDERS) - set(MEANT.get(field, ())):
            return "placeholder"
        return "number" if field in ("latitude", "longitude") else None

    def _lacks_parent(self, field: str, value: str) -> bool:
        return self.kind == "stores" and field == "parent_company_id" and value not in self.companies

    def _shown(self, cell: object, code: str) -> str | None:
        if code == "missing":
            return None
        return str(cell) if isinstance(cell, str) else json.dumps(cell, ensure_ascii=False)


def decimal(text: str) -> Decimal | None:
    """Return the decimal that a text is, None where it is none."""
    return Decimal(text.strip()) if DECIMAL.fullmatch(text.strip()) else None


def answered_date(text: str) -> str:
    """Return a date as it is answered."""
    match = DATE.fullmatch(text)
    if not match:
        raise Flawed("date")
    date, hour, minute, second, fraction, offset = match.groups()
    micro = ((fraction or "") + "000000")[:6]
    try:
        moment = datetime.fromisoformat(f"{date} {hour or '00'}:{minute or '00'}:{second or '00'}.{micro}")
        if offset not in (None, "Z"):
            if int(offset[1:3]) > 23 or int(offset[4:]) > 59:
                raise Flawed("date")
            moment - int(offset[0] + "1") * timedelta(hours=int(offset[1:3]), minutes=int(offset[4:]))
    except (ValueError, OverflowError):
        raise Flawed("date") from None
    zone = "Z" if offset in (None, "Z", "+00:00", "-00:00") else offset
    return f"{moment:%H:%M:%S}".join([f"{date}T", f".{micro}" if int(micro) else ""]) + zone
