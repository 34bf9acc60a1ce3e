"""python -m properties"""

import sys

from properties.cli import main

if __name__ == "__main__":
    sys.exit(main())
