"""`python -m service` is `store-directory`."""

import gc
import os
import sys
from contextlib import suppress


def main() -> None:
    """Run the program. An interrupt, however early, or an error writing the output ends it without a traceback."""
    # Imports create many objects but no reference cycles; the service sets a threshold of its own.
    gc.set_threshold(200_000)
    # The C library keeps twice as much free memory as the largest block that was freed. With less, each piece of a CSV
    # file took its memory from the system again: a third of its CPU time.
    bytes(4 << 20)
    # OpenBLAS, which NumPy loads, starts threads that wait busily for some 30 ms; nothing here multiplies large
    # matrices.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        from service.commands import main as commands  # noqa: PLC0415 - the import can be interrupted, too

        commands()
    except KeyboardInterrupt:
        sys.exit(130)  # the shells' exit code for SIGINT
    except OSError as error:
        sys.exit(f"Error: {error.strerror or error}")
    finally:
        gc.freeze()  # Python would look at all objects once more, a twentieth of a second
        # Drop what could not be printed, an error by then: at its exit Python would try again, and exit with 120.
        with suppress(OSError):
            if sys.stdout is not None:  # standard output may be closed
                sys.stdout.close()


if __name__ == "__main__":
    main()
