"""python -m relu_cert"""

import gc
import sys

FEW_COLLECTIONS = 20_000, 50, 100  # loading and exact numbers make many objects, and hardly a cycle


def run() -> int:
    """Run one command; Ctrl-C while it is still being loaded ends it as cleanly as later."""
    gc.set_threshold(*FEW_COLLECTIONS)
    try:
        from relu_cert.cli import main

        return main()
    except KeyboardInterrupt:
        print("\ninterrupted; nothing was written", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(run())
