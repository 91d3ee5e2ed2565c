"""The stages of a compilation, as `lawful.staging` has them; results of a compiled program are `Array`s."""

from __future__ import annotations

from typing import Any

from lawful import staging
from lawful.jax._support.namespaces.wrapping import to_jax


class Traced(staging.Traced):
    """A traced function; see `lawful.staging.Traced`."""

    __slots__ = ()

    def lower(self, *, lowering_platforms: tuple[str, ...] | None = None) -> Lowered:
        """Returns the function in the backend's input language."""
        return lowered(super().lower(lowering_platforms=lowering_platforms))


class Lowered(staging.Lowered):
    """A function in the backend's input language; see `lawful.staging.Lowered`."""

    __slots__ = ()

    def compile(self, compiler_options: Any = None, device_assignment: Any = None) -> Compiled:
        """Returns the function ready to run."""
        found = super().compile(compiler_options, device_assignment)
        return Compiled(found.traced, found.program)


class Compiled(staging.Compiled):
    """A compiled function; see `lawful.staging.Compiled`."""

    __slots__ = ()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Runs the function."""
        return to_jax(super().__call__(*args, **kwargs))


def traced(found: staging.Traced) -> Traced:
    """Returns a traced function as one of `lawful.jax`."""
    return Traced(**{name: getattr(found, name) for name in staging.Traced.__match_args__})


def lowered(found: staging.Lowered) -> Lowered:
    """Returns a lowered function as one of `lawful.jax`."""
    return Lowered(found.traced, found.program)
