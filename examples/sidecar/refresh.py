"""Rewrite a data set every few seconds, as a careful upstream does: `python refresh.py FOLDER`.

Each data set is written completely into a folder of its own, with a manifest. Then an atomic rename switches the link
`..data` to it: a reader sees the old set or the new one, never a mixture.
"""

import argparse
import hashlib
import json
import os
import random
import shutil
import signal
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

CITIES = (("Lisboa", "PT"), ("Porto", "PT"), ("Sevilla", "ES"), ("Valencia", "ES"))


def records(number: int) -> dict[str, list[dict[str, object]]]:
    """Return the records of a data set by file name: one more store in each set, some open and some closed."""
    stores: list[dict[str, object]] = [
        {
            "store_id": f"bakery-{each:03}",
            "company_id": "bakery",
            "name": f"Bakery {city}",
            "address_1": f"{each} Main Street",
            "city": city,
            "country": country,
            "is_open": random.choice((True, True, True, False)),
        }
        for each, (city, country) in enumerate(random.choices(CITIES, k=100 + number))
    ]
    return {"stores.json": stores, "companies.json": [{"company_id": "bakery", "name": "Bakery"}]}


def write(folder: Path, number: int) -> None:
    """Write a data set, switch the link to it, and remove the set before the last."""
    name = f"..set-{number}"
    (folder / name).mkdir(parents=True)
    listed = {}
    for file, rows in records(number).items():
        stored = json.dumps(rows).encode()
        (folder / name / file).write_bytes(stored)
        listed[file] = {"sha256": hashlib.sha256(stored).hexdigest(), "records": len(rows)}
    now = datetime.now(UTC).isoformat(timespec="milliseconds")
    (folder / name / "manifest.json").write_text(json.dumps({"generated_at": now, "files": listed}))
    os.symlink(name, folder / "..next")  # noqa: PTH211 - the argument order of symlink(2)
    (folder / "..next").replace(folder / "..data")
    shutil.rmtree(folder / f"..set-{number - 2}", ignore_errors=True)


def main() -> None:
    """Write data sets until SIGTERM, or `--times` times."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())  # as process 1 of a container it has no other way to end
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--every", type=float, default=5, metavar="SECONDS")
    parser.add_argument("--times", type=int, default=0, help="0: without end")
    arguments = parser.parse_args()
    shutil.rmtree(arguments.folder, ignore_errors=True)
    number = 0
    while True:
        number += 1
        write(arguments.folder, number)
        if number == arguments.times:
            return
        time.sleep(arguments.every)


if __name__ == "__main__":
    main()
