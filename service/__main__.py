"""`python -m service` is `store-directory`."""

import sys


def main() -> None:
    """Run the program. Neither an interrupt, from its first moment on, nor a full disk behind a pipe is a traceback."""
    try:
        from service.commands import main as commands  # noqa: PLC0415 - an import can be interrupted too

        commands()
    except KeyboardInterrupt:
        sys.exit(130)  # as shells tell of an end by SIGINT
    except OSError as error:
        sys.exit(f"Error: {error.strerror or error}")


if __name__ == "__main__":
    main()
