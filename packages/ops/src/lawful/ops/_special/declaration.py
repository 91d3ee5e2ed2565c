"""The declaration of special functions that are one algorithm in float64."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

import numpy as np

from lawful.core import Interval, Primitive, cached_function
from lawful.ops._elementwise.arithmetic.arithmetic import mul, neg
from lawful.ops._elementwise.complex_parts import complex
from lawful.ops._elementwise.declaration import Elementwise
from lawful.ops._elementwise.declaration import pure_elementwise as elementwise
from lawful.ops._special.parts import Parts
from lawful.ops._support.double import REAL_PROMOTION, EvaluatedInDouble, Lower, lowered_in_double


def special_function(
    name: str,
    doc: str,
    algorithm: Callable[..., Any],
    derivatives: Sequence[Callable[..., Any] | None],
    domain: Sequence[Interval],
    *,
    lower: Lower | None = None,
    **options: Any,
) -> Elementwise:
    """Declares a function of real numbers.

    Args:
      name: the primitive's name, and the function's.
      doc: the function's docstring.
      algorithm: evaluates it on arrays of float64 and of one shape, and is staged to lower it.
      derivatives: one for each argument; see `elementwise`, as for the rest.
      domain: an interval for each argument.
      lower: the lowering rule, if it is not that of the algorithm.
      options: further arguments of `elementwise`.
    """
    return elementwise(
        name,
        doc,
        EvaluatedInDouble(name, algorithm),
        lower or lowered_in_double(algorithm),
        arity=len(domain),
        promote_as=REAL_PROMOTION[len(domain)],
        derivatives=derivatives,
        domain=domain,
        **options,
    )


def complex_function(
    name: str, derivative: Callable[[Any, Any, int], Parts], domain: Sequence[Interval], **options: Any
) -> tuple[Primitive, Primitive]:
    """Declares the real and the imaginary part of the derivatives of a function of ``x + i y``.

    Their derivatives follow by the equations of Cauchy and Riemann.

    Args:
      name: that of the primitives begins with it.
      derivative: ``derivative(x, y, order)`` gives both parts of a derivative by the complex number; order 0 is the
        value.
      domain: an interval for each part of the number.
      options: as for `special_function`.

    Returns:
      Primitives ``f(x, y, order=)`` of real numbers.
    """

    def real(x: Any, y: Any, *, order: int = 0) -> Any:
        return derivative(x, y, order)[0]

    def imag(x: Any, y: Any, *, order: int = 0) -> Any:
        return derivative(x, y, order)[1]

    def next_real(t: Any, ans: Any, x: Any, y: Any, *, order: int) -> Any:
        return mul(t, real_p.bind(x, y, order=order + 1))

    def next_imag(t: Any, ans: Any, x: Any, y: Any, *, order: int) -> Any:
        return mul(t, imag_p.bind(x, y, order=order + 1))

    def minus_next_imag(t: Any, ans: Any, x: Any, y: Any, *, order: int) -> Any:
        return neg(next_imag(t, ans, x, y, order=order))

    def lowered(part: int) -> Lower:
        # One function of both parts, which is compiled and called once for both primitives.
        def lower(ctx: Any, x: Any, y: Any, *, order: int) -> Any:
            # XLA simplifies the number of the parts of a number to it.
            z = ctx.once(("complex", x, y), lambda: _complex_of(ctx, x, y))
            (out,) = ctx.apply(_in_complex(derivative, order), z, inlined=False)
            return ctx.hlo.convert(ctx.tensor_type(ctx.avals_out[0]), (ctx.hlo.real, ctx.hlo.imag)[part](out))

        return lower

    options["params"] = lambda choose: {"order": choose.integer(0, 1)}
    by_real, by_imag = (next_real, minus_next_imag), (next_imag, next_real)
    real_p = special_function(f"{name}_real", "", real, by_real, domain, lower=lowered(0), **options).primitive
    imag_p = special_function(f"{name}_imag", "", imag, by_imag, domain, lower=lowered(1), **options).primitive
    return real_p, imag_p


def _complex_of(ctx: Any, x: Any, y: Any) -> Any:
    aval = ctx.avals_in[0]
    if aval.dtype.itemsize < np.dtype(np.float32).itemsize:
        single = ctx.tensor_type(aval.update(dtype=np.dtype(np.float32)))
        x, y = ctx.hlo.convert(single, x), ctx.hlo.convert(single, y)
    return ctx.hlo.complex(x, y)


@cached_function("functions of complex numbers", 256)
def _in_complex(derivative: Callable[[Any, Any, int], Parts], order: int) -> Callable[[Any], Any]:
    @wraps(derivative)
    def function(z: Any) -> Any:
        return complex(*derivative(z.real.astype(np.float64), z.imag.astype(np.float64), order))

    return function
