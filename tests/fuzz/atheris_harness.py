"""Fuzz one target with atheris: `python -m tests.fuzz.atheris_harness TARGET [option of libFuzzer]…`.

It stops at the first finding, which it writes to a file.
"""

import sys

import atheris

with atheris.instrument_imports(include=["service"]):
    from tests.fuzz.targets import TARGETS

if __name__ == "__main__":
    name, *options = sys.argv[1:]
    atheris.Setup([name, *options], TARGETS[name].read)
    atheris.Fuzz()
