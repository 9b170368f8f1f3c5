"""`python -m service` is `store-directory`."""

import gc
import sys
from typing import Final

# Imports make many objects and no cycles to collect, which took a tenth of a start to find out. A page of scattered
# records makes some thousand for a moment, without cycles, too.
_COLLECT_AFTER: Final = 50_000


def main() -> None:
    """Run the program. Neither an interrupt, from its first moment on, nor a full disk behind a pipe is a traceback."""
    gc.set_threshold(_COLLECT_AFTER)
    try:
        from service.commands import main as commands  # noqa: PLC0415 - an import can be interrupted too

        commands()
    except KeyboardInterrupt:
        sys.exit(130)  # as shells tell of an end by SIGINT
    except OSError as error:
        sys.exit(f"Error: {error.strerror or error}")


if __name__ == "__main__":
    main()
