"""python -m properties

`check` is answered before anything of the producer is loaded, and with Python's own integers in sympy: where
python-flint is installed sympy would count with that, and the third opinion would be none.
"""

import os
import sys


def main() -> int:
    """Run the command line; the exit code."""
    os.environ.setdefault("SYMPY_GROUND_TYPES", "python")
    if sys.argv[1:2] == ["check"]:
        from properties.symbolic.command import main as check

        return check(sys.argv[2:])
    from properties.cli import main as rest

    return rest()


if __name__ == "__main__":
    sys.exit(main())
