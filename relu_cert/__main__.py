"""python -m relu_cert"""

import sys

from relu_cert.cli import main

if __name__ == "__main__":
    sys.exit(main())
