"""Runs a program with ``autograd`` standing for ``lawful.autograd``: ``python -m lawful.autograd script.py [args]``."""

from __future__ import annotations

import runpy
import sys
from collections.abc import Sequence
from pathlib import Path

from lawful.autograd._program import install_alias

USAGE = "usage: python -m lawful.autograd script.py [args], or python -m lawful.autograd -m module [args]"


def main(arguments: Sequence[str]) -> None:
    """Runs a script or module.

    Args:
      arguments: the path of a script, or ``-m`` and the name of a module, and then the program's own arguments.
    """
    if not arguments or arguments[0] in ("-h", "--help") or list(arguments) == ["-m"]:
        sys.exit(USAGE)
    install_alias()
    if arguments[0] == "-m":
        sys.argv = [*arguments[1:]]
        sys.path[0] = ""
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = [*arguments]
        sys.path[0] = str(Path(arguments[0]).resolve().parent)
        runpy.run_path(arguments[0], run_name="__main__")


if __name__ == "__main__":
    main(sys.argv[1:])
