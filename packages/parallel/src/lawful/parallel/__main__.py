"""``python -m lawful.parallel -n 2 script.py``: runs a program in several processes on this machine."""

import sys

from lawful.parallel._processes.launcher import main

if __name__ == "__main__":
    sys.exit(main())
