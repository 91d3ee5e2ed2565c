"""``python -m lawful.jax program.py``: runs an unmodified JAX program, with ``jax`` standing for ``lawful.jax``."""

import runpy
import sys
from pathlib import Path

from lawful.jax._support.alias import install

USAGE = "usage: python -m lawful.jax program.py [arguments]\n       python -m lawful.jax -m module [arguments]"


def main(arguments: list[str]) -> None:
    """Runs a program or a module as ``__main__``."""
    is_module = arguments[:1] == ["-m"]
    arguments = arguments[is_module:]
    if not arguments or arguments[0].startswith("-"):
        sys.exit(USAGE)
    install()
    sys.argv = arguments
    if is_module:
        sys.path.insert(0, str(Path.cwd()))
        runpy.run_module(arguments[0], run_name="__main__", alter_sys=True)
    else:
        sys.path.insert(0, str(Path(arguments[0]).resolve().parent))
        runpy.run_path(arguments[0], run_name="__main__")


if __name__ == "__main__":
    main(sys.argv[1:])
