"""Shardings of a compiled function's arguments and results: ``lawful.parallel`` says here what they do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lawful.core import ArgumentTypeError, shorten

#: Makes a function of pytrees compiled, as the rest of the arguments of ``jit`` say.
Compile = Callable[[Callable[..., Any]], Any]
#: ``apply(function, in_shardings, out_shardings, compile)`` returns what ``jit`` returns.
Apply = Callable[[Callable[..., Any], Any, Any, Compile], Any]

_apply: Apply | None = None


def register_shardings(apply: Apply) -> None:
    """Sets what ``in_shardings`` and ``out_shardings`` of ``jit`` do.

    >>> from lawful.staging import jit
    >>> from lawful.staging._jit import shardings
    >>> before = shardings._apply  # what lawful.parallel does
    >>> register_shardings(lambda function, in_shardings, out_shardings, compile: compile(function))
    >>> float(jit(lambda x: x * 2.0, in_shardings="rows", backend="numpy")(3.0))
    6.0
    >>> register_shardings(before)
    """
    global _apply
    _apply = apply


def with_shardings(function: Callable[..., Any], in_shardings: Any, out_shardings: Any, compile: Compile) -> Any:
    """Returns a compiled function whose arguments and results have shardings.

    Raises:
      ArgumentTypeError: nothing is there that knows shardings.
    """
    if _apply is None:
        raise ArgumentTypeError(
            f"jit: expected no shardings without lawful.parallel, got {shorten((in_shardings, out_shardings))}; import "
            "lawful.parallel and give NamedSharding(mesh, spec)"
        )
    return _apply(function, in_shardings, out_shardings, compile)
