"""python -m relu_cert"""

import sys


def run() -> int:
    """Run one command; Ctrl-C while it is still being loaded ends it as cleanly as later."""
    try:
        from relu_cert.cli import main

        return main()
    except KeyboardInterrupt:
        print("\ninterrupted; nothing was written", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(run())
