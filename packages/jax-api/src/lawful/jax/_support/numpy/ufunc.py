"""`ufunc`: JAX's class of elementwise functions with methods, over lawful's."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection
from typing import Any

from lawful import numpy
from lawful.core import ArgumentValueError
from lawful.jax._support.array import plain
from lawful.jax._support.namespaces.number_operands import is_number
from lawful.jax._support.namespaces.wrapping import returns_arrays
from lawful.jax._support.user_functions import given


class ufunc:
    """A function applied to each element of arrays, with NumPy's methods; results are `Array`s.

    Args:
      func: a function of ``nin`` scalars; see `lawful.numpy.frompyfunc`.
      nin: the number of arguments.
      nout: the number of results.
      name: its name, by default that of the function.
      nargs: the number of arguments, which is ``nin``: JAX counts no results.
      identity: the unit of a function of two arguments.

    Source: ``jax.numpy.ufunc``.

    >>> import numpy as np
    >>> scaled = ufunc(lambda x, y: x + 2 * y, 2, 1)
    >>> scaled(np.arange(3), 1)
    Array([2, 3, 4], dtype=int64)
    """

    def __init__(
        self,
        func: Callable[..., Any],
        /,
        nin: int,
        nout: int,
        *,
        name: str | None = None,
        nargs: int | None = None,
        identity: Any = None,
    ) -> None:
        if nargs not in (None, nin):
            raise ArgumentValueError(f"ufunc: expected nargs to be nin={nin}, got {nargs}; leave it out")
        self._wrap(numpy.frompyfunc(func, nin, nout, identity=identity))
        if name is not None:
            self.__name__ = self.__qualname__ = name

    @classmethod
    def of(cls, function: Any, signature: Any = None) -> ufunc:
        """Returns a ufunc of lawful's as one of this class, with JAX's signature."""
        self = cls.__new__(cls)
        self._wrap(function, signature)
        return self

    def _wrap(self, function: Any, signature: Any = None) -> None:
        functools.update_wrapper(self, function, updated=())
        self._function, self._call = function, returns_arrays(function, signature)
        self.reduce = returns_arrays(_with_mask(function.reduce))
        for name in ("accumulate", "reduceat", "outer", "at"):
            setattr(self, name, returns_arrays(getattr(function, name)))
        if signature is not None:
            self.__signature__ = signature

    @property
    def nin(self) -> int:
        """The number of arguments."""
        return int(self._function.nin)

    @property
    def nout(self) -> int:
        """The number of results."""
        return int(self._function.nout)

    @property
    def nargs(self) -> int:
        """The number of arguments: JAX counts no results."""
        return self.nin

    @property
    def identity(self) -> Any:
        """The unit of a function of two arguments; None if it has none."""
        return self._function.identity

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Returns the results for each element of the arguments, broadcast together."""
        return self._call(*args, **kwargs)

    def _key(self) -> tuple[Any, ...]:
        return getattr(self._function, "__wrapped__", self._function), self.nin, self.nout, self.identity

    def __hash__(self) -> int:
        return hash(self._key())

    def __eq__(self, other: object) -> bool:
        return self._key() == other._key() if isinstance(other, ufunc) else NotImplemented

    def __repr__(self) -> str:
        return f"<jnp.ufunc '{self.__name__}'>"


def _with_mask(reduce: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a reduction that takes ``where=None``, JAX's default, for all elements; NumPy takes it for none."""

    @functools.wraps(reduce)
    def call(*args: Any, where: Any = None, **kwargs: Any) -> Any:
        return reduce(*args, **kwargs) if where is None else reduce(*args, where=where, **kwargs)

    return call


def vectorize(
    pyfunc: Callable[..., Any], *, excluded: Collection[int | str] = frozenset(), signature: str | None = None
) -> Callable[..., Any]:
    """Returns a function that maps over all elements of its arguments; see `lawful.numpy.vectorize`.

    A Python number reaches the function as an array that yields to the dtype of others.

    Source: ``jax.numpy.vectorize``.

    >>> import numpy as np
    >>> import lawful.jax.numpy as jnp
    >>> jnp.vectorize(lambda x, y: x + y)(np.ones(2, np.float32), 1.0)
    Array([2., 2.], dtype=float32)
    """
    if signature is not None:
        return numpy.vectorize(pyfunc, excluded=excluded, signature=signature)

    @functools.wraps(pyfunc)
    def call(*args: Any, **kwargs: Any) -> Any:
        numbers = [i for i, x in enumerate(args) if i not in excluded and is_number(plain(x))]
        taken = [given(x) if i in numbers else x for i, x in enumerate(args)]
        return numpy.vectorize(pyfunc, excluded={*excluded, *numbers})(*taken, **kwargs)

    return call


def frompyfunc(func: Callable[..., Any], /, nin: int, nout: int, *, identity: Any = None) -> ufunc:
    """Returns a function of scalars as a ufunc; see `lawful.numpy.frompyfunc`.

    Source: ``jax.numpy.frompyfunc``.

    >>> import numpy as np
    >>> frompyfunc(lambda x, y: x + y, 2, 1, identity=0).reduce(np.arange(4))
    Array(6, dtype=int64)
    """
    return ufunc(func, nin, nout, identity=identity)
