"""The compiled program of a jaxpr, made once for each jaxpr and backend."""

from __future__ import annotations

from typing import Any

from lawful.core import ClosedJaxpr, memoize_program, refuse_nesting
from lawful.staging._backends import CompiledProgram, get_backend
from lawful.staging._jit.cache_misses import reasons_to_compile
from lawful.staging._jit.compiler_options import ChosenBackend, name_of, options_of
from lawful.staging._jit.compiling import compiling


@memoize_program
def compiled(
    closed: ClosedJaxpr, name: str, donated: tuple[int, ...], backend: ChosenBackend,
    shardings: tuple[Any, ...] | None,
) -> CompiledProgram:  # fmt: skip
    """Returns the compiled program of a jaxpr.

    Args:
      closed: the jaxpr.
      name: the function's name.
      donated: the positions of donated arguments.
      backend: the name of the backend, alone or with options of its compiler.
      shardings: how the arguments of the first call lie on several devices; None if they do not. Others are compiled
        for when they come.
    """
    try:
        with compiling(name, *reasons_to_compile(closed, name)):
            lowered = get_backend(name_of(backend)).lower(closed, name=name, donated=donated)
            options = options_of(backend) or None
            return lowered.compile(options, **({} if shardings is None else {"shardings": shardings}))
    except RecursionError as error:
        refuse_nesting(error, error.__traceback__, f"jit of {name}")
        raise
