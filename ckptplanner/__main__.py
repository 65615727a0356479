"""`python -m ckptplanner` is the same as the command `ckptplanner`."""

import sys

from ckptplanner.cli import main

if __name__ == "__main__":
    sys.exit(main())
