"""``jax.experimental.sparse``: the types of sparse arrays, so that a library can ask whether an array has one.

None has: sparse arrays are not part of lawful.

>>> import numpy
>>> isinstance(numpy.arange(3.0), JAXSparse)
False
"""

from __future__ import annotations

from typing import Any, NoReturn

from lawful.core import LawfulError


class SparseArrayError(LawfulError, NotImplementedError):
    """A sparse array is asked for. Use arrays, or a function that applies the matrix."""


class _Absent(type):
    """The class of types without instances."""

    def __call__(cls, *args: Any, **kwargs: Any) -> NoReturn:
        raise SparseArrayError(f"{cls.__name__}: expected an array, got a sparse one, which lawful lacks; use todense")

    def __getattr__(cls, name: str) -> NoReturn:
        raise AttributeError(f"{cls.__name__}.{name} is left out: sparse arrays are not part of lawful")


class JAXSparse(metaclass=_Absent):
    """The base of JAX's sparse arrays."""


class BCOO(JAXSparse):
    """JAX's arrays of coordinates and values."""


class BCSR(JAXSparse):
    """JAX's arrays of compressed rows."""


def __getattr__(name: str) -> NoReturn:
    raise AttributeError(f"jax.experimental.sparse.{name} is left out: sparse arrays are not part of lawful")
