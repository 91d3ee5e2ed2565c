"""``jit`` with JAX's arguments and the switches that act on it."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from typing import Any

from lawful import staging, tree
from lawful.core import ArgumentValueError
from lawful.jax._support.array import Array, is_sharded, on_device, plain, weak
from lawful.jax._support.devices import xla_backend
from lawful.jax._support.namespaces.wrapping import Returned, to_jax
from lawful.jax._support.stages import Lowered, Traced, lowered, traced

__all__ = ["jit"]


def jit(
    fun: Callable[..., Any] | None = None,
    /,
    *,
    static_argnums: Any = None,
    static_argnames: Any = None,
    donate_argnums: Any = None,
    donate_argnames: Any = None,
    backend: str | None = None,
    inline: bool = False,
    in_shardings: Any = None,
    out_shardings: Any = None,
    keep_unused: bool = False,
    device: Any = None,
    abstracted_axes: Any = None,
    compiler_options: Any = None,
) -> Any:
    """Returns a function that is compiled when it is first called; without ``fun``, the decorator.

    Args:
      fun: the function.
      static_argnums: arguments that are known when the function is traced.
      static_argnames: the same by name.
      donate_argnums: arguments whose memory results may use.
      donate_argnames: the same by name.
      backend: the platform that it runs on, wherever its arguments are: ``"cpu"``, ``"gpu"`` or ``"cuda"``.
      inline: whether the function is inlined in others.
      in_shardings: how positional arguments are laid out on devices: a prefix of their tree.
      out_shardings: the same for the result; None leaves it to the compiler.
      keep_unused: has no effect: results are the same.
      device: has no effect: programs run where their arguments are.
      abstracted_axes: None.
      compiler_options: XLA's options by name; only the outermost ``jit`` may have some.

    Raises:
      ArgumentValueError: ``abstracted_axes`` is given.
      ArgumentTypeError: ``compiler_options`` is no mapping from names to strings and numbers.

    >>> import lawful.jax as jax
    >>> float(jax.jit(lambda x: x * 2.0)(3.0))
    6.0

    Source: ``jax.jit``.
    """
    if abstracted_axes is not None:
        raise ArgumentValueError(
            f"jit: expected abstracted_axes=None, because shapes are known here, got {abstracted_axes!r}; leave it out"
        )
    chosen = {
        "static_argnums": static_argnums,
        "static_argnames": static_argnames,
        "donate_argnums": donate_argnums,
        "donate_argnames": donate_argnames,
        # Without XLA the processor is the only platform.
        "backend": None if xla_backend is None and backend == "cpu" else backend,
        "in_shardings": in_shardings,
        "out_shardings": out_shardings,
        "compiler_options": compiler_options,
    }
    chosen = {name: value for name, value in chosen.items() if value is not None}
    if fun is None:
        return functools.partial(jit, inline=inline, **chosen)
    if in_shardings is not None or out_shardings is not None:
        importlib.import_module("lawful.parallel")  # defines what shardings do
    donates = donate_argnums is not None or donate_argnames is not None
    return Compiling(fun, staging.jit(fun, inline=inline, **chosen), donates)


class Compiling(Returned):
    """The result of `jit`."""

    def __init__(self, function: Callable[..., Any], compiled: Callable[..., Any], donates: bool) -> None:
        super().__init__(compiled)
        self.__wrapped__ = function
        self._plain = function
        # The memory of an Array is read by its NumPy views: a program must not overwrite it.
        self._given = _donated if donates else on_device

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Returns what the function gives; it is traced and compiled for arguments of new types."""
        if staging.is_jit_disabled():
            return to_jax(self._plain(*args, **kwargs))
        given = self._given
        args = tuple([unwrapped(x, given) for x in args])
        if kwargs:
            kwargs = {name: unwrapped(x, given) for name, x in kwargs.items()}
        result = to_jax(self._function(*args, **kwargs))
        if xla_backend is None:
            result = tree.map(_of_number, result)
        return result

    def lower(self, *args: Any, **kwargs: Any) -> Lowered:
        """Returns the function in the backend's input language, for arguments of some types."""
        function: Any = self._function
        return lowered(function.lower(*args, **kwargs))

    def trace(self, *args: Any, **kwargs: Any) -> Traced:
        """Returns the function traced, for arguments of some types."""
        function: Any = self._function
        return traced(function.trace(*args, **kwargs))


def _of_number(x: Any) -> Any:
    """Returns the Array of a Python number, which the NumPy backend returns for weak results."""
    return weak(x) if type(x) in (bool, int, float, complex) else x


def _donated(x: Any) -> Any:
    return x.origin if type(x) is Array and is_sharded(x.origin) else plain(x)


def unwrapped(x: Any, given: Callable[[Any], Any]) -> Any:
    """Returns an argument with its `Array`s as arrays that the compiled program takes without further checks."""
    cls = type(x)
    if cls is Array:
        return given(x)
    if cls is tuple or cls is list:
        return cls([unwrapped(part, given) for part in x])
    if cls is dict:
        return {key: unwrapped(part, given) for key, part in x.items()}
    return tree.map(given, x) if tree.is_tree_node(cls) and x is not None else x
