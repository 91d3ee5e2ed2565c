"""Backends, which compile jaxprs. They are found by entry points, and used by name.

A distribution offers a backend by an entry point of the group ``lawful.backends`` that names an object of the
protocol :class:`Backend`. A module that makes one may also register it, which saves the search once the module is
imported. The default is XLA if it is installed, else NumPy.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Protocol, cast

from lawful.core import ArgumentValueError, ClosedJaxpr


class MissingBackendError(ArgumentValueError, RuntimeError):
    """There is no backend, or no platform of devices, of a name. In JAX it is a RuntimeError.

    Cure: choose one of those that the message names, or install what it says.

    >>> get_backend("abacus")
    Traceback (most recent call last):
    lawful.staging._backends.MissingBackendError: ...: backend: expected one of ..., got 'abacus'; ...
    """


#: Options of a backend's compiler, by the backend's own names.
CompilerOptions = Mapping[str, str | bool | int | float]


class CompiledProgram(Protocol):
    """A compiled program: called with flat arguments, it returns the flat list of results.

    It may have two more methods, for direct calls by `jit`. ``run_exact`` takes a sequence of any values, and returns
    the results if these have exactly the types that the program was compiled for, else None. ``run_one``, which may be
    None, does the same for a program of one argument and one result. Where an attribute ``checks_shardings`` is True,
    ``run_exact`` also demands that the arguments lie on devices as those that the program was called with.

    >>> from lawful.staging import make_jaxpr
    >>> program = get_backend("numpy").lower(make_jaxpr(lambda x: x * x)(3.0), name="square").compile()
    >>> program(3.0)
    [9.0]
    """

    def __call__(self, *args: Any) -> list[Any]:
        """Runs the program on arrays of the types that it was compiled for."""

    def as_text(self) -> str:
        """Returns the compiled program in the backend's own language."""

    def cost_analysis(self) -> dict[str, Any]:
        """Returns the backend's estimate of the cost of a call."""

    def memory_analysis(self) -> Any:
        """Returns the backend's estimate of the memory of a call, or None."""


class LoweredProgram(Protocol):
    """A program in the backend's input language.

    It may have one more method. ``line_sources()`` returns, for each line of ``as_text()``, the source line of the
    equation that the line was made for, or None. The page of ``lawful show --html`` marks lines by it.

    >>> from lawful.staging import make_jaxpr
    >>> print(get_backend("numpy").lower(make_jaxpr(lambda x: x * x)(3.0), name="square").as_text().rstrip())
    def program(v0):
        v0 = mul_0(v0, v0)
        return [v0]
    """

    def as_text(self, dialect: str | None = None, *, debug_info: bool = False) -> str:
        """Returns the program as text.

        Args:
          dialect: one of the backend's languages; None for its default.
          debug_info: whether the text has locations, where the language has them.

        Raises:
          ArgumentValueError: the backend has no such dialect.
        """

    def compiler_ir(self, dialect: str | None = None) -> Any:
        """Returns the program as an object of the backend; see `as_text`."""

    def compile(
        self,
        compiler_options: CompilerOptions | None = None,
        *,
        shardings: Sequence[Any] | None = None,
        devices: Sequence[Any] | None = None,
    ) -> CompiledProgram:
        """Returns the program ready to run.

        Args:
          compiler_options: the backend's own options, by name; None for its defaults.
          shardings: how each argument lies on several devices, or None where it does not.
          devices: those that the program is to run on, where its shardings are on meshes without devices.
        """


class Backend(Protocol):
    """The object that an entry point of ``lawful.backends`` gives.

    >>> get_backend("numpy").name, get_backend("numpy").platform
    ('numpy', 'cpu')
    """

    @property
    def name(self) -> str:
        """The name that `jit` and `get_backend` take."""

    @property
    def platform(self) -> str:
        """The platform that programs run on, such as ``"cpu"``."""

    def lower(self, closed: ClosedJaxpr, *, name: str, donated: Sequence[int] = ()) -> LoweredProgram:
        """Lowers a jaxpr whose constants are concrete.

        Args:
          closed: the program.
          name: of the function, for the lowered text.
          donated: positions of arguments whose memory the program may reuse.
        """


_registered: dict[str, Backend] = {}


def register_backend(backend: Backend) -> None:
    """Registers a backend under its name, which saves the search of the entry points.

    Args:
      backend: the object of the distribution's entry point of that name.

    Law: what programs mean does not depend on whether the backend is registered or found.

    >>> register_backend(get_backend("numpy"))
    """
    _registered[backend.name] = backend
    get_backend.cache_clear()


@cache
def _installed() -> dict[str, Any]:
    # A lazy import: it takes 25 ms, and neither eager gradients nor a registered backend need it.
    from importlib.metadata import entry_points

    return {point.name: point for point in entry_points(group="lawful.backends")}


@cache
def get_backend(name: str | None = None) -> Backend:
    """Returns an installed backend.

    Args:
      name: ``"xla"`` or ``"numpy"``; ``"cpu"``, ``"cuda"`` or ``"gpu"`` for XLA on that platform; or what another
        distribution registers. None for the default: the environment variable ``LAWFUL_BACKEND``, else XLA where it is
        installed, else NumPy.

    Raises:
      MissingBackendError: there is no such backend.

    >>> get_backend("numpy").name
    'numpy'
    """
    wanted = name or os.environ.get("LAWFUL_BACKEND") or ("xla" if _is_there("xla") else "numpy")
    if wanted in _registered:
        return _registered[wanted]
    installed = _installed()
    if wanted not in installed:
        # A distribution registers further ones when its entry point is loaded: XLA's one of each platform.
        for point in installed.values():
            point.load()
        if wanted in _registered:
            return _registered[wanted]
        known = ", ".join(sorted({*_registered, *installed}))
        raise MissingBackendError(
            f"backend: expected one of {known}, got '{wanted}'; install a distribution that offers it "
            "(lawful-xla-backend for 'xla', 'cpu' and 'cuda')"
        )
    return cast(Backend, installed[wanted].load())


def _is_there(name: str) -> bool:
    return name in _registered or name in _installed()
