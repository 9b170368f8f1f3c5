"""Fuzz one target with atheris: `python -m fuzz.harness TARGET [option of libFuzzer]…`.

It ends with the first finding, which is kept as a file.
"""

import sys

import atheris

with atheris.instrument_imports(include=["service"]):
    from fuzz.targets import TARGETS

if __name__ == "__main__":
    name, *options = sys.argv[1:]
    atheris.Setup([name, *options], TARGETS[name].read)
    atheris.Fuzz()
