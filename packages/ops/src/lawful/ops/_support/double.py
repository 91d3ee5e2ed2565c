"""Functions that are one algorithm for all backends, in the dtype of their arguments or in float64.

An algorithm is a function of arrays composed of NumPy's functions. It is called to evaluate, and staged to lower:
NumPy's functions of tracers are ops.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, Final

import numpy as np

from lawful.core import Hook, ShapedArray, cached_function, get_aval
from lawful.ops._support.number import Number, algorithm_hook
from lawful.ops._support.promotion import operand_dtypes

Algorithm = Callable[..., Any]
Lower = Callable[..., Any]

#: By the number of arguments, a ufunc that refuses complex numbers and converts integers to floats.
REAL_PROMOTION: dict[int, np.ufunc | None] = {1: np.cbrt, 2: np.arctan2, 3: None}

#: The coefficients of Stirling's series in odd powers of ``1 / x``, DLMF 5.11.1.
STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156)
# From here on the series vanishes beside the logarithm of the gamma function.
_VANISHING = 1e20

_DOUBLE = np.dtype(np.float64)
_NATIVE = (np.dtype(np.float32), _DOUBLE)
_ARRAYS = (np.ndarray, np.float64, np.float32)


class Evaluated:
    """A function of real arrays of any dtypes, made of an algorithm for arrays of one shape and floating dtype.

    Args:
      name: the function, for error messages.
      algorithm: called without warnings; outside of its domain it returns NaN or infinity.

    Attributes:
      algorithm: the same.
    """

    #: The dtype of the algorithm's arguments; None for any.
    computed_in: np.dtype[Any] | None = None

    def __init__(self, name: str, algorithm: Algorithm) -> None:
        self.__name__ = name
        self.algorithm = algorithm

    def __call__(self, *args: Any, **params: Any) -> Any:
        operands, dtype = _unpromoted(args) or _promoted(self.__name__, args)
        shape = operands[0].shape
        with np.errstate(all="ignore"):
            # NumPy's powers of single numbers round differently from its powers of arrays.
            arrays = [x.astype(self.computed_in or dtype, copy=False).reshape(shape or 1) for x in operands]
            computed = algorithm_hook.use(self.algorithm, arrays, params)
            return np.asarray(computed).reshape(shape).astype(dtype, copy=False)[()]


class EvaluatedInDouble(Evaluated):
    """`Evaluated` with an algorithm for arrays of float64."""

    computed_in = _DOUBLE


def _switch_evaluation(call: Callable[..., Any]) -> None:
    Evaluated.__call__ = call  # type: ignore[method-assign]


#: ``Evaluated.__call__``, which an accelerator replaces by itself.
evaluated_hook: Final[Hook[Callable[..., Any]]] = Hook(
    "evaluation of special functions", Evaluated.__call__, _switch_evaluation
)


def _unpromoted(args: Sequence[Any]) -> tuple[Sequence[Any], np.dtype[Any]] | None:
    """Returns arguments and their dtype if they are arrays of one shape and floating dtype, else None."""
    operands = [np.float64(x) if type(x) is float else x for x in args]
    first = operands[0]
    for x in operands:
        if type(x) not in _ARRAYS or x.dtype != first.dtype or x.shape != first.shape:
            return None
    return (operands, first.dtype) if first.dtype in _NATIVE else None


def _promoted(name: str, args: Sequence[Any]) -> tuple[Sequence[Any], np.dtype[Any]]:
    """Returns arguments as arrays of one shape, and the dtype of the result."""
    avals = [get_aval(x) for x in args]
    types = [(aval.dtype, aval.weak_type) for aval in avals]
    dtype, weak = operand_dtypes(name, REAL_PROMOTION[len(args)], False, *types)
    dtype, _ = operand_dtypes(name, np.cbrt, False, (dtype, weak))
    return _broadcast([np.asarray(x) for x in args]), dtype


def _broadcast(arrays: list[Any]) -> Sequence[Any]:
    """Returns arrays broadcast together; numbers beside arrays of one shape as views, which NumPy takes longer for."""
    shapes = {x.shape for x in arrays if x.ndim}
    if len(shapes) != 1 or not all([x.ndim or x.dtype.isbuiltin == 1 for x in arrays]):
        return np.broadcast_arrays(*arrays)
    (shape,) = shapes
    for i, x in enumerate(arrays):
        if not x.ndim:
            arrays[i] = view = np.ndarray(shape, x.dtype, x, 0, (0,) * len(shape))
            view.flags.writeable = False
    return arrays


def lowered(algorithm: Algorithm) -> Lower:
    """Returns the lowering rule of an algorithm, computed in the dtype of the operands."""
    return _lowered(algorithm, None)


def lowered_in_double(algorithm: Algorithm, *, inlined: bool = True) -> Lower:
    """Returns the lowering rule of an algorithm, computed in float64.

    Args:
      algorithm: of arrays of float64.
      inlined: whether the program is inlined, so that XLA can fuse it. Otherwise it is a function that is compiled
        once, which suits long programs.
    """
    return _lowered(algorithm, _DOUBLE, inlined)


def _lowered(algorithm: Algorithm, computed_in: np.dtype[Any] | None, inlined: bool = True) -> Lower:
    def lower(ctx: Any, *operands: Any, **params: Any) -> Any:
        dtype = ctx.avals_out[0].dtype
        (out,) = ctx.apply(_converted(algorithm, computed_in, dtype, **params), *operands, inlined=inlined)
        return out

    return lower


def lowered_with_rare(algorithm: Algorithm, is_rare: Algorithm, corrected: Algorithm) -> Lower:
    """Returns the lowering rule of an algorithm that is wrong for rare elements, and corrected if there are any.

    Args:
      algorithm: of arrays of float64.
      is_rare: of the same arrays, which elements are rare.
      corrected: of the result and of the same arrays, the result with the right rare elements.
    """

    def rule(ctx: Any, *operands: Any, **params: Any) -> Any:
        dtype = ctx.avals_out[0].dtype
        (out,) = ctx.apply(_converted(algorithm, _DOUBLE, dtype, **params), *operands)
        branches = [_first, _converted(corrected, _DOUBLE, dtype, **params)]
        if ctx.platform != "cpu":  # a device would wait for the host to choose a branch
            return ctx.apply(branches[1], out, *operands)
        (rare,) = ctx.apply(_converted(is_rare, _DOUBLE, np.dtype(bool)), *operands)
        some = ctx.reduce(rare, False, range(len(rare.type.shape)), "or_")  # some operands may be scalars
        index = ctx.hlo.convert(ctx.tensor_type(ShapedArray((), np.dtype(np.int32))), some)
        return ctx.case(index, [ctx.program(branch, out, *operands) for branch in branches], [out, *operands])

    def lower(ctx: Any, *operands: Any, **params: Any) -> Any:
        return ctx.call_rule(rule, *operands)

    return lower


def _first(x: Any, *_: Any) -> Any:
    return x


@cached_function("algorithms in double precision", 1024)
def _converted(
    algorithm: Algorithm, computed_in: np.dtype[Any] | None, dtype: np.dtype[Any], **params: Any
) -> Algorithm:
    @wraps(algorithm)
    def converted(*operands: Any) -> Any:
        if computed_in is not None:
            operands = tuple([x.astype(computed_in) for x in operands])
        return algorithm(*operands, **params).astype(dtype)

    return converted


def each(function: Callable[[float], float], x: Any) -> Any:
    """Applies a function of Python floats to each element of an array."""
    if type(x) is Number:
        return x._trace.call(function, x)
    x = np.asarray(x)
    return np.fromiter(map(function, x.ravel().tolist()), _DOUBLE, x.size).reshape(x.shape)


def is_staged(x: Any) -> bool:
    """Returns whether an argument of an algorithm is a tracer of the program that lowers it."""
    return not isinstance(x, Number | np.ndarray | np.generic)


def is_nowhere(mask: Any) -> bool:
    """Returns whether a mask is known to be false everywhere; nothing is known of a traced one."""
    return isinstance(mask, np.ndarray | np.bool) and not mask.any()


def rounding(a: Any, b: Any) -> Any:
    """Returns the rounding error of ``a + b``."""
    total = a + b
    part = total - a
    return (a - (total - part)) + (b - part)


def weighted_sum(function: Callable[..., Any], *terms: tuple[Any, ...]) -> Any:
    """Returns the sum of ``weight * function(*args)`` over terms ``(weight, *args)``; one of weight 0 is 0.

    A staged program evaluates the function once, of longer arrays, so that it is short.

    Args:
      function: elementwise.
      terms: each has a weight, which is 1, -1 or an array, and arrays.
    """
    if not is_staged(terms[0][1]):
        return _sum_of_terms(function, terms)
    weights, *args = [stacked(parts, terms[0][1].ndim) for parts in zip(*terms, strict=True)]
    return np.where(weights == 0, 0.0, weights * function(*args)).sum(0)


def _sum_of_terms(function: Callable[..., Any], terms: Sequence[tuple[Any, ...]]) -> Any:
    total: Any = None
    for weight, *args in terms:
        value = function(*args)
        if type(weight) is not int:
            value, weight = np.where(weight == 0, 0.0, weight * value), 1
        if total is None:
            total = value if weight > 0 else -value
        else:
            total = total + value if weight > 0 else total - value
    return total


def stacked(parts: Sequence[Any], ndim: int) -> Any:
    """Returns numbers and arrays of as many dimensions as one array with a first axis, by selects, which XLA fuses."""
    which = np.arange(len(parts)).reshape((-1,) + (1,) * ndim)
    out = parts[-1]
    for i in range(len(parts) - 2, -1, -1):
        out = np.where(which == i, parts[i], out)
    return out


def power(x: Any, exponent: float) -> Any:
    """Returns ``x ** exponent`` for one static exponent, to the same bits for arrays and for single numbers.

    Before NumPy 2.3 the operator of an array divides for the exponent -1, while ``numpy.power`` does not.
    """
    return np.power(x, exponent)


def polynomial(x: Any, *, coefficients: tuple[float, ...]) -> Any:
    """Evaluates a polynomial by Horner's rule; the constant coefficient is first."""
    total = coefficients[-1] + 0.0 * x
    for coefficient in coefficients[-2::-1]:
        total = total * x + coefficient
    return total


def rational(x: Any, coefficients: tuple[tuple[float, ...], tuple[float, ...]]) -> Any:
    """Evaluates the quotient of two polynomials; see `polynomial`."""
    return polynomial(x, coefficients=coefficients[0]) / polynomial(x, coefficients=coefficients[1])


def log_gamma_correction(x: Any) -> Any:
    """Returns ``lgamma(x) - ((x - 1/2) log(x) - x + log(2π)/2)`` for ``x ≥ 10``: Stirling's series, DLMF 5.11.1.

    All terms but the first are one quotient, as XLA splits a fusion where a quotient is used many times.
    """
    x = np.minimum(x, _VANISHING)
    square = x * x
    rest: Any = STIRLING[1]
    for coefficient in STIRLING[2:]:
        rest = rest * square + coefficient
    sixth = square * square * square
    return (STIRLING[0] + rest / (sixth * sixth)) / x


# Coefficients of the power series of 2 (artanh(v) / v - 1) / v².
_ARTANH = tuple([2 / (2 * k + 3) for k in range(12)])
_NEAR = 0.2


def deviance(a: Any, mean: Any) -> Any:
    """Returns ``a log(a / mean) + mean - a``, with all digits also where both are close to each other.

    There it is ``d v + 2 a (artanh(v) - v)`` of the difference ``d`` and ``v = d / (a + mean)``: Loader (2000).
    """
    change = a - mean
    # Not more than 1; XLA makes a fusion of its own of a quotient with two users.
    ratio = np.minimum(0.5 * change / (0.5 * a + 0.5 * mean), 1.0)
    near = np.where(np.abs(ratio) < _NEAR, ratio, 0.0)
    square = near * near
    close = near * (change + a * (square * polynomial(square, coefficients=_ARTANH)))
    return np.where(np.abs(ratio) < _NEAR, close, a * np.log(a / mean) + (mean - a))


LOG_TWO_PI = math.log(2 * math.pi)
