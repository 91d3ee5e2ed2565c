"""Complex numbers and their parts.

Derivatives follow JAX's conventions: the product of a cotangent and a tangent is the real part of their product,
without conjugation, so that the transpose of `imag` multiplies with minus the imaginary unit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from lawful.core import (
    ArgumentTypeError,
    Call,
    Choose,
    Primitive,
    ShapedArray,
    UndefinedPrimal,
    Zero,
    get_aval,
    promote_dtypes,
)
from lawful.ops._elementwise.arithmetic.arithmetic import neg
from lawful.ops._elementwise.declaration import pure_elementwise as elementwise
from lawful.ops._support.dtypes import COMPLEX_OF, REAL_OF
from lawful.ops._support.promotion import OfKinds, broadcast_shapes, broadcast_to, convert
from lawful.ops._support.structural import cotangent, strong, zeros_of

__all__ = ["complex", "complex_p", "conj", "conj_p", "imag", "imag_p", "real", "real_p"]

Dtypes = dict[np.dtype[Any], np.dtype[Any]]


def real(x: Any) -> Any:
    """Returns the real part elementwise: of a real ``x`` itself.

    >>> real(np.array([1 + 2j]))
    array([1.])

    Source: ``jax.lax.real``, which takes complex arrays only.
    """
    return _of_complex(real_p, x)


def imag(x: Any) -> Any:
    """Returns the imaginary part elementwise: of a real ``x`` zeros.

    >>> imag(np.array([1 + 2j]))
    array([2.])

    Source: ``jax.lax.imag``, which takes complex arrays only.
    """
    aval = get_aval(x)
    return _of_complex(imag_p, x) if aval.dtype.kind == "c" else zeros_of(aval)


def conj(x: Any) -> Any:
    """Returns the complex conjugate elementwise: of a real ``x`` itself.

    >>> conj(np.array([1 + 2j]))
    array([1.-2.j])

    Source: ``jax.numpy.conj``; ``jax.lax.conj`` makes a real array complex.
    """
    return _of_complex(conj_p, x)


def complex(x: Any, y: Any) -> Any:
    """Returns ``x + iy`` elementwise, promoted to float32 or float64 and broadcast.

    Args:
      x: the real part, of a real dtype.
      y: the imaginary part, of a real dtype.

    Raises:
      ArgumentTypeError: one of them is complex.
      ArgumentValueError: the shapes do not broadcast together.

    >>> complex(np.array([1.0, 2.0]), 3.0)
    array([1.+3.j, 2.+3.j])

    Source: ``jax.lax.complex``.
    """
    avals = get_aval(x), get_aval(y)
    dtype, weak = promote_dtypes(*[(aval.dtype, aval.weak_type) for aval in avals])
    if dtype.kind == "c":
        raise ArgumentTypeError(f"complex: expected two real parts, got {avals[0]} and {avals[1]}; take real(x) first")
    # NumPy's promotion with a Python complex number.
    dtype = REAL_OF[promote_dtypes((dtype, weak), (np.dtype(np.complex128), True))[0]]
    shape = broadcast_shapes("complex", *[aval.shape for aval in avals])
    return complex_p.bind(*[broadcast_to(convert(part, dtype), shape) for part in (x, y)])


def _of_complex(primitive: Primitive, x: Any) -> Any:
    aval = get_aval(x)
    if aval.dtype.kind != "c":
        return strong(x)
    return primitive.bind(strong(x))


def _require(name: str, results: Dtypes, dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Returns the dtype of a result, if the operand's is one that a primitive is defined for."""
    if dtype not in results:
        raise ArgumentTypeError(
            f"{name}_p: expected operands of dtype {' or '.join(map(str, results))}, got {dtype}; "
            f"call lawful.ops.{name}, which converts"
        )
    return results[dtype]


def _numpy_complex(x: Any, y: Any) -> Any:
    dtype = np.result_type(x, y)
    out = np.empty(np.broadcast_shapes(np.shape(x), np.shape(y)), _require("complex", COMPLEX_OF, dtype))
    out.real, out.imag = x, y
    return out[()]


def _lower_conj(ctx: Any, x: Any) -> Any:
    return ctx.hlo.complex(ctx.hlo.real(x), ctx.hlo.negate(ctx.hlo.imag(x)))


def _zeros_like(x: Any) -> Any:
    return zeros_of(get_aval(x))


def _declare(
    name: str,
    numpy_function: Callable[..., Any],
    hlo: str | Callable[..., Any],
    results: Dtypes,
    derivatives: tuple[Callable[..., Any], ...],
    transposes: tuple[Callable[[Any], Any], ...],
    kinds: str = "c",
) -> Primitive:
    """Declares an elementwise op that is linear over the real numbers only: it is not its own transpose.

    Args:
      name: the primitive's name.
      numpy_function: evaluates it.
      hlo: lowers it.
      results: the dtypes that it is defined for, each with that of its result.
      derivatives: ``derivative(tangent, ans, *primals)`` for each argument.
      transposes: ``transpose(ct)`` for each argument.
      kinds: the dtype kinds that it is defined for.
    """
    primitive = elementwise(
        name,
        "",
        numpy_function,
        hlo,
        arity=len(transposes),
        derivatives=derivatives,
        result=lambda dtype: _require(name, results, dtype),
        linear=(tuple(range(len(transposes))),),
        promote_as=OfKinds(kinds),
        kinds=kinds,
    ).primitive

    @primitive.def_transpose
    def transpose(ct: Any, *args: Any) -> list[Any]:
        return [
            None
            if not isinstance(x, UndefinedPrimal)
            else Zero(x.aval)
            if type(ct) is Zero
            else cotangent(rule(ct), x.aval)
            for x, rule in zip(args, transposes, strict=True)
        ]

    return primitive


real_p = _declare(
    "real",
    lambda x: np.asarray(x).real[()],
    "real",
    REAL_OF,
    derivatives=(lambda t, ans, x: real(t),),
    transposes=(lambda ct: complex(ct, _zeros_like(ct)),),
)
imag_p = _declare(
    "imag",
    lambda x: np.asarray(x).imag[()],
    "imag",
    REAL_OF,
    derivatives=(lambda t, ans, x: imag(t),),
    transposes=(lambda ct: complex(_zeros_like(ct), neg(ct)),),
)
conj_p = _declare(
    "conj",
    np.conjugate,
    _lower_conj,
    {dtype: dtype for dtype in REAL_OF},
    derivatives=(lambda t, ans, x: conj(t),),
    transposes=(conj,),
)
complex_p = _declare(
    "complex",
    _numpy_complex,
    "complex",
    COMPLEX_OF,
    derivatives=(lambda t, ans, x, y: complex(t, _zeros_like(t)), lambda t, ans, x, y: complex(_zeros_like(t), t)),
    transposes=(real, lambda ct: neg(imag(ct))),
    kinds="f",
)


def _sample_complex(choose: Choose) -> Call:
    aval = ShapedArray(choose.shape(), choose.one_of(tuple(COMPLEX_OF)))
    return (aval, aval), {}


assert complex_p.declaration is not None
complex_p.declaration = replace(complex_p.declaration, sample=_sample_complex)
