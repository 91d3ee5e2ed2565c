"""JAX's scalar types: called, they give an array; as a dtype they are NumPy's types."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy

from lawful import numpy as lawful_numpy
from lawful.jax._support.array import as_jax, plain


class _ScalarType(type):
    """The type of JAX's scalar types, which are equal to NumPy's."""

    dtype: numpy.dtype[Any]

    def __call__(cls, x: Any) -> Any:
        return as_jax(lawful_numpy.asarray(plain(x), dtype=cls.dtype))

    def __eq__(cls, other: object) -> bool:
        return cls is other or cls.dtype.type == other or (isinstance(other, numpy.dtype) and cls.dtype == other)

    def __instancecheck__(cls, x: object) -> bool:
        return isinstance(x, cls.dtype.type)

    def __hash__(cls) -> int:
        return hash(cls.dtype.type)

    def __repr__(cls) -> str:
        return f"<class 'jax.numpy.{cls.__name__}'>"


def _scalar_type(name: str, kind: Any) -> Any:
    doc = f"""The dtype {name}.

    >>> import lawful.jax.numpy as jnp
    >>> jnp.{name}(1).dtype.name
    '{name}'
    """
    return _ScalarType(name, (object,), {"dtype": numpy.dtype(kind), "__doc__": doc})


for _name in ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32",
              "float64", "complex64", "complex128"):  # fmt: skip
    globals()[_name] = _scalar_type(_name, getattr(numpy, _name))
for _name in ("int2", "int4", "uint2", "uint4"):
    globals()[_name] = _scalar_type(_name, getattr(ml_dtypes, _name))
bfloat16 = _scalar_type("bfloat16", ml_dtypes.bfloat16)
bool_ = globals()["bool"]
int_, uint, float_, complex_ = (globals()[_name] for _name in ("int64", "uint64", "float64", "complex128"))
single, double = globals()["float32"], globals()["float64"]
csingle, cdouble = globals()["complex64"], globals()["complex128"]
