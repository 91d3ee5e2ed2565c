"""The compiled program of a jaxpr, made once for each jaxpr and backend."""

from __future__ import annotations

from typing import Any

from lawful.core import ClosedJaxpr, memoize_program, refuse_nesting
from lawful.staging._backends import CompiledProgram, get_backend
from lawful.staging._jit.compiling import compiling


@memoize_program
def compiled(
    closed: ClosedJaxpr, name: str, donated: tuple[int, ...], backend: str | None,
    shardings: tuple[Any, ...] | None,
) -> CompiledProgram:  # fmt: skip
    """Returns the compiled program of a jaxpr.

    Args:
      closed: the jaxpr.
      name: the function's name.
      donated: the positions of donated arguments.
      backend: the name of the backend.
      shardings: how the arguments of the first call lie on several devices; None if they do not. Others are compiled
        for when they come.
    """
    try:
        with compiling(name):
            lowered = get_backend(backend).lower(closed, name=name, donated=donated)
            return lowered.compile() if shardings is None else lowered.compile(shardings=shardings)
    except RecursionError as error:
        refuse_nesting(error, error.__traceback__, f"jit of {name}")
        raise
