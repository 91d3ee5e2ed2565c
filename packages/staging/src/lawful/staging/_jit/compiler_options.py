"""Options of a backend's compiler that belong to a function of ``jit``: they travel with the name of its backend."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lawful.core import ArgumentTypeError, ArgumentValueError, record, shorten
from lawful.staging._backends import CompilerOptions as CompilerOptions


@record
class BackendWithOptions:
    """The name of a backend, or None for the default, and options of its compiler, sorted by name."""

    name: str | None
    #: Each with the name of its type, so that ``1`` and ``True`` are not equal.
    options: tuple[tuple[str, str, Any], ...]

    def __repr__(self) -> str:
        return f"{self.name or 'default'} with {options_of(self)}"


#: What `jit_p` is told of its backend.
ChosenBackend = str | BackendWithOptions | None


def with_options(backend: ChosenBackend, options: Any) -> ChosenBackend:
    """Returns a backend with compiler options, a mapping or None.

    Raises:
      ArgumentTypeError: the options are no mapping from names to strings and numbers.
    """
    if options is None:
        return backend
    if not isinstance(options, Mapping) or not all(
        isinstance(name, str) and isinstance(value, str | bool | int | float) for name, value in options.items()
    ):
        raise ArgumentTypeError(
            f"jit: expected compiler_options as a mapping from names to strings and numbers, got {shorten(options)}; "
            "write {'xla_backend_optimization_level': 0}"
        )
    if not options:
        return backend
    return BackendWithOptions(
        name_of(backend), tuple([(name, type(value).__name__, value) for name, value in sorted(options.items())])
    )


def name_of(backend: ChosenBackend) -> str | None:
    """Returns the name of a backend, or None for the default."""
    return backend.name if isinstance(backend, BackendWithOptions) else backend


def options_of(backend: ChosenBackend) -> CompilerOptions:
    """Returns the compiler options that travel with a backend."""
    return {name: value for name, _, value in backend.options} if isinstance(backend, BackendWithOptions) else {}


def refuse_nested(name: str, backend: ChosenBackend = None) -> None:
    """Raises ArgumentValueError if a call within a program that is compiled has compiler options of its own."""
    if options := options_of(backend):
        raise ArgumentValueError(
            f"jit of {name}: expected compiler_options at the outermost jit alone, which compiles all that it calls, "
            f"got {options} inside of another jit, or of a loop, which compiles its body; give them to a jit around it"
        )
