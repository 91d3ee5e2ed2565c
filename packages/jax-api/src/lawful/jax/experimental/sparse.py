"""``jax.experimental.sparse``: the types of sparse arrays, so that a library can ask whether an array has one.

None has: sparse arrays are not part of lawful.

>>> import numpy
>>> isinstance(numpy.arange(3.0), JAXSparse)
False
"""

from __future__ import annotations

import typing as _typing

from lawful.core import LawfulError as _LawfulError


class SparseArrayError(_LawfulError, NotImplementedError):
    """A sparse array is asked for. Use arrays, or a function that applies the matrix.

    >>> BCOO()
    Traceback (most recent call last):
    lawful.jax.experimental.sparse.SparseArrayError: ... BCOO: expected an array, got a sparse one, ...
    """


class _Absent(type):
    """The class of types without instances."""

    def __call__(cls, *args: _typing.Any, **kwargs: _typing.Any) -> _typing.NoReturn:
        raise SparseArrayError(f"{cls.__name__}: expected an array, got a sparse one, which lawful lacks; use todense")

    def __getattr__(cls, name: str) -> _typing.NoReturn:
        raise AttributeError(f"{cls.__name__}.{name} is left out: sparse arrays are not part of lawful")


class JAXSparse(metaclass=_Absent):
    """The base of JAX's sparse arrays.

    >>> isinstance(1.0, JAXSparse)
    False
    """


class BCOO(JAXSparse):
    """JAX's arrays of coordinates and values.

    >>> issubclass(BCOO, JAXSparse)
    True
    """


class BCSR(JAXSparse):
    """JAX's arrays of compressed rows.

    >>> issubclass(BCSR, JAXSparse)
    True
    """


def __getattr__(name: str) -> _typing.NoReturn:
    raise AttributeError(f"jax.experimental.sparse.{name} is left out: sparse arrays are not part of lawful")
