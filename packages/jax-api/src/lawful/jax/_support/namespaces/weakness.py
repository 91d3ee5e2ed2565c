"""Weak results: a function of numbers that yield to the dtype of an array gives such a number.

NumPy's functions, and lawful's, give a float64 that does not yield; JAX's ``jnp.sqrt(2.0) * x`` has the dtype of ``x``.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, Final

import numpy

from lawful.core import Tracer, get_aval
from lawful.jax._support.array import Array, plain, weak
from lawful.jax._support.devices import DEVICE_ARRAYS
from lawful.numpy._ufuncs.ufunc import Ufunc
from lawful.ops import Elementwise, with_weakness_of

_NUMBERS: Final = frozenset({int, float, complex})
_DTYPES: Final = frozenset(map(numpy.dtype, ("int64", "float64", "complex128")))
#: The functions of which JAX's give weak results for weak operands: of `jax.numpy`, of `jax.lax`, of `jax.nn` and of
#: `jax.scipy`.
_NAMES: Final = (
    "abs absolute acos acosh add arccos arccosh arcsin arcsinh arctan arctan2 arctanh around asin asinh atan "
    "atan2 atanh bitwise_and bitwise_invert bitwise_left_shift bitwise_not bitwise_or bitwise_right_shift "
    "bitwise_xor cbrt ceil clip conj conjugate copysign cos cosh deg2rad degrees divide divmod dot exp exp2 expm1 "
    "fabs float_power floor floor_divide fmax fmin fmod gcd heaviside hypot i0 imag inner invert lcm left_shift "
    "log log1p log2 logaddexp logaddexp2 maximum minimum mod modf multiply negative nextafter positive pow power "
    "rad2deg radians real reciprocal remainder right_shift rint round sign sin sinc sinh sqrt square subtract tan "
    "tanh true_divide trunc vdot where "
    "and array asarray copy empty_like flip full_like kron ones_like squeeze transpose zeros_like "
    "bessel_i0e bessel_i1e betainc clamp clz complex digamma div erf erf_inv erfc igamma igamma_grad_a igammac "
    "integer_pow lgamma logistic max min mul mulhi neg not one_minus_square optimization_barrier polygamma "
    "population_count or rem rsqrt select select_n shift_left shift_right_arithmetic shift_right_logical sub xor zeta "
    "celu elu hard_sigmoid hard_silu hard_swish hard_tanh leaky_relu log1mexp log_sigmoid mish relu relu6 selu sigmoid "
    "silu soft_sign softplus sparse_plus sparse_sigmoid squareplus swish "
    "betaln boxcox boxcox1p comb entr erfinv expit factorial gammainc gammaincc gammaln i0e i1 i1e kl_div loggamma "
    "logit logpdf pdf rel_entr xlog1py xlogy"
)
#: Those with a dtype among their arguments.
_TYPED: Final = frozenset(["array", "asarray", "empty_like", "full_like", "ones_like", "zeros_like"])
_KEEPING: Final = frozenset(_NAMES.split())
#: The kinds of the first operand and of the result for which JAX's result is strong nevertheless.
_STRONG_FOR: Final = {"rint": ("i", "f"), "power": ("b", "i"), "pow": ("b", "i")}


def keeps_weakness(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    """Returns a function whose result without dimensions is weak if its operands are, where JAX's is.

    Args:
      function: a function whose results are `Array`s or tracers.
      name: that of lawful's function.
    """
    if name not in _KEEPING or (name in ("max", "min") and (function.__module__ or "").startswith("lawful.numpy")):
        return function  # those of jax.numpy are reductions
    first = 1 if name in ("where", "select", "select_n") else 0  # the condition has no part in the dtype
    is_typed = name in _TYPED
    strong_for = _STRONG_FOR.get(name)
    operator = None if strong_for else _operator(inspect.unwrap(function))

    @functools.wraps(function, updated=())
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        if operator and not kwargs and any(isinstance(x, Tracer) for x in args) and _are_weak(args):
            return operator(*map(plain, args))
        result = function(*args, **kwargs)
        if not _are_weak((*args[first:], *kwargs.values())):
            return result
        if is_typed and (kwargs.get("dtype") is not None or any(type(x) is str for x in args)):
            return result
        if strong_for and args and strong_for == (get_aval(args[0]).dtype.kind, get_aval(result).dtype.kind):
            return result
        return tuple(map(_weakened, result)) if type(result) is tuple else _weakened(result)

    return wrapper


def _operator(function: Any) -> Callable[..., Any] | None:
    """Returns an elementwise function as Python's operators are: weak operands give a weak result, in one equation."""
    if isinstance(function, Elementwise):
        return function.operator
    return function.operator if isinstance(function, Ufunc) and function.has_operator else None


def _are_weak(operands: tuple[Any, ...]) -> bool:
    """Whether operands stand for Python numbers, one at least for another one than a truth value."""
    found = False
    for x in operands:
        cls = type(x)
        if cls in _NUMBERS:
            found = True
        elif cls is Array or cls in DEVICE_ARRAYS:
            if not x.weak_type:
                return False
            found = found or x.dtype != bool
        elif isinstance(x, Tracer):
            if get_aval(x).dtype != bool and not get_aval(x).weak_type:
                return False
            found = found or get_aval(x).dtype != bool
        elif x is not None and cls is not bool and cls is not str:  # an array of NumPy's, a dtype
            return False
    return found


def _weakened(x: Any) -> Any:
    if isinstance(x, Tracer):
        aval = get_aval(x)
        return x if aval.ndim or aval.dtype not in _DTYPES else with_weakness_of(x, aval.update(weak_type=True))
    return weak(x.item()) if type(x) is Array and not x.ndim and x.dtype in _DTYPES else x
