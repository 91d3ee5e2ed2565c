"""Derivatives of every differentiable elementwise op of one float, to the third order, at special points.

An op is included by its declaration: without a reference function here, the first test fails.
"""

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import mpmath as mp
import numpy as np
import pytest

from lawful import ops
from lawful.autodiff import jvp
from lawful.core import Primitive
from lawful.ops._elementwise.declaration import Elementwise
from lawful.staging import jit

ORDERS = 4
mp.mp.dps = 40


def dawson(x: Any) -> Any:
    return mp.sqrt(mp.pi) / 2 * mp.exp(-x * x) * mp.erfi(x)


# References, smooth except at the kinks below.
REFERENCES: dict[str, Callable[[Any], Any]] = {
    "abs": abs,
    "acos": mp.acos,
    "acosh": mp.acosh,
    "asin": mp.asin,
    "asinh": mp.asinh,
    "atan": mp.atan,
    "atanh": mp.atanh,
    "bessel_i0e": lambda x: mp.exp(-abs(x)) * mp.besseli(0, x),
    "bessel_i1e": lambda x: mp.exp(-abs(x)) * mp.besseli(1, x),
    "bessel_in": lambda x: mp.besseli(1, x),
    "bessel_ine": lambda x: mp.exp(-abs(x)) * mp.besseli(2, x),
    "cbrt": lambda x: mp.sign(x) * mp.cbrt(abs(x)),
    "cos": mp.cos,
    "cosh": mp.cosh,
    "cosine_integral": lambda x: mp.ci(abs(x)),
    "dawsn": lambda x: dawson(x),
    "dawsn_derivative": lambda x: 1 - 2 * x * dawson(x),
    "digamma": mp.digamma,
    "entr": lambda x: -x * mp.log(x),
    "gamma": mp.gamma,
    "erf": mp.erf,
    "erfc": mp.erfc,
    "erf_inv": mp.erfinv,
    "erfc_inv": lambda y: mp.erfinv(1 - y),
    "erfcx": lambda x: mp.exp(x * x) * mp.erfc(x),
    "erfcx_derivative": lambda x: 2 * (x * mp.exp(x * x) * mp.erfc(x) - 1 / mp.sqrt(mp.pi)),
    "exp": mp.exp,
    "exp1": lambda x: mp.e1(x) if x > 0 else mp.nan,
    "exp2": lambda x: mp.mpf(2) ** x,
    "expi": mp.ei,
    "expm1": mp.expm1,
    "fresnel_cosine": mp.fresnelc,
    "fresnel_sine": mp.fresnels,
    "integer_pow": lambda x: x**3,
    "lgamma": lambda x: mp.log(abs(mp.gamma(x))),
    "log": mp.log,
    "log1p": lambda x: mp.log(1 + x),
    "log_ndtr": lambda x: mp.log(mp.erfc(-x / mp.sqrt(2)) / 2),
    "log_ndtr_derivative": lambda x: mp.npdf(x) / mp.erfc(-x / mp.sqrt(2)) * 2,
    "logistic": lambda x: 1 / (1 + mp.exp(-x)),
    "ndtri": lambda p: mp.sqrt(2) * mp.erfinv(2 * p - 1),
    "neg": lambda x: -x,
    "reduce_precision": lambda x: x,
    "rsqrt": lambda x: 1 / mp.sqrt(x),
    "sign": mp.sign,
    "sin": mp.sin,
    "sinc_derivative": mp.sinc,
    "sine_integral": mp.si,
    "sinh": mp.sinh,
    "spence": lambda x: mp.polylog(2, 1 - x),
    "spence_derivative": lambda x: mp.log(x) / (1 - x) if x != 1 else mp.mpf(-1),
    "sqrt": mp.sqrt,
    "square": lambda x: x * x,
    "tan": mp.tan,
    "tanh": mp.tanh,
}
PARAMS: dict[str, dict[str, Any]] = {
    "bessel_in": {"order": 1},
    "bessel_ine": {"order": 2},
    "dawsn_derivative": {"order": 1},
    "erfcx_derivative": {"order": 1},
    "integer_pow": {"y": 3},
    "log_ndtr_derivative": {"order": 1},
    "sinc_derivative": {"order": 0},
    "spence_derivative": {"order": 0},
    "reduce_precision": {"exponent_bits": 11, "mantissa_bits": 52},
}
POINTS = (0.0, 1e-9, -1e-9, 1e-3, 0.5, -0.5, 1.0, -1.0, 3.0, -3.0, 20.0, -20.0, 40.0, -40.0)

# The value and the derivatives of orders 1 to 3 where there are none in the strict sense: the documented convention.
INF, NAN = np.inf, np.nan
CONVENTIONS: dict[tuple[str, float], tuple[float, ...]] = {
    ("abs", 0.0): (0.0, 1.0, 0.0, 0.0),
    ("sign", 0.0): (0.0, 0.0, 0.0, 0.0),
    ("bessel_i0e", 0.0): (1.0, 0.0, 0.5, 0.0),
    ("bessel_i1e", 0.0): (0.0, 0.5, 0.0, 0.375),
    ("bessel_ine", 0.0): (0.0, 0.0, 0.25, 0.0),
    ("cbrt", 0.0): (0.0, INF, -INF, INF),
    ("sqrt", 0.0): (0.0, INF, -INF, INF),
    ("log", 0.0): (-INF, INF, -INF, INF),
    ("log1p", -1.0): (-INF, INF, -INF, INF),
    ("cosine_integral", 0.0): (-INF, INF, NAN, NAN),
    ("expi", 0.0): (-INF, INF, NAN, NAN),
    ("entr", 0.0): (0.0, INF, -INF, INF),
    ("gamma", 0.0): (INF, -INF, INF, -INF),
}
# Derivatives that are sums which cancel are exact absolutely only.
ABSOLUTE = {
    **dict.fromkeys(("bessel_i0e", "bessel_i1e", "bessel_ine"), 1e-16),
    **dict.fromkeys(("fresnel_cosine", "fresnel_sine"), 1e-14),
}


def is_unary(primitive: Any) -> bool:
    declaration = getattr(primitive, "declaration", None)
    return (
        isinstance(primitive, Primitive)
        and declaration is not None
        and declaration.differentiable
        and "f" in declaration.kinds
        and len(declaration.domain) == 1
        and primitive.rules["impl"].__qualname__.startswith("elementwise.")
    )


def declared() -> dict[str, Primitive]:
    found = (getattr(ops, name) for name in dir(ops) if name.endswith("_p"))
    return {primitive.name: primitive for primitive in found if is_unary(primitive)}


UNARY = declared()


def derivatives(function: Callable[..., Any], x: Any) -> list[Any]:
    """Returns the value and the derivatives of orders 1 to 3."""
    functions = [function]
    for _ in range(ORDERS - 1):
        functions.append(lambda x, f=functions[-1]: jvp(f, (x,), (np.ones(np.shape(x)),))[1])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # NumPy's, of infinities
        return [f(x) for f in functions]


def expected(name: str, x: float) -> tuple[float, ...] | None:
    """Returns the reference, None where x is outside of the domain or on its border."""
    if (name, x) in CONVENTIONS:
        return CONVENTIONS[name, x]
    function, step = REFERENCES[name], mp.mpf(10) ** -20
    try:
        for side in (-step, step):
            value = function(mp.mpf(x) + side)
            if (isinstance(value, mp.mpc) and value.imag) or not mp.isfinite(value):
                return None
        with mp.workdps(120):
            return tuple([float(mp.re(mp.diff(function, mp.mpf(x), k, h=step))) for k in range(ORDERS)])
    except (ValueError, ZeroDivisionError):
        return None


def test_every_unary_op_has_a_reference() -> None:
    assert set(UNARY) >= {"sin", "abs", "bessel_in", "integer_pow"}
    assert set(UNARY) - set(REFERENCES) == set(), "add the mpmath function of the op to REFERENCES"


def test_every_elementwise_function_has_a_public_primitive() -> None:
    functions = [f for name in dir(ops) if isinstance(f := getattr(ops, name), Elementwise)]
    assert len(functions) > 80
    public = {id(getattr(ops, name)) for name in dir(ops) if name.endswith("_p")}
    missing = {f"{f.primitive.name}_p" for f in functions if id(f.primitive) not in public}
    assert missing == set(), "add the primitives to __all__ of their modules"


@pytest.mark.parametrize("name", sorted(UNARY))
def test_elementwise_derivatives_at_special_points(name: str) -> None:
    bind = partial(UNARY[name].bind, **PARAMS.get(name, {}))
    known = [(x, values) for x in POINTS if (values := expected(name, x)) is not None]
    assert known
    points = np.array([x for x, _ in known])
    wanted = np.array([values for _, values in known]).T
    eager = derivatives(bind, points)
    for order in range(ORDERS):
        np.testing.assert_allclose(
            eager[order],
            wanted[order],
            rtol=1e-9,
            atol=ABSOLUTE.get(name, 1e-30),
            err_msg=f"order {order}; CONVENTIONS has what holds at a kink or pole",
        )
    compiled = jit(lambda x: derivatives(bind, x), backend="numpy")(points)
    for order in range(ORDERS):
        np.testing.assert_allclose(compiled[order], eager[order], rtol=1e-12, atol=ABSOLUTE.get(name, 0))


# Where terms of a derivative cancel, unless it is written otherwise: far out, near poles and near the ends of a domain.
CANCELLING: dict[str, tuple[float, ...]] = {
    "acos": (1e-9, 1 - 1e-9, 1e-9 - 1),
    "asin": (1e-9, 1 - 1e-9, 1e-9 - 1),
    "asinh": (1e-9, 1e4, 1e100),
    "atanh": (1e-9, 1 - 1e-9, 1e-9 - 1),
    "bessel_i0e": (24.0, 26.0, 300.0, -500.0, 1e4, 1e8),
    "bessel_i1e": (24.0, 26.0, 300.0, -500.0, 1e4, 1e8),
    "bessel_ine": (24.0, 26.0, 300.0, -500.0, 1e4, 1e8),
    "digamma": (-1e-9, -1e-12, 1e-12, -1.0 - 1e-9),
    "lgamma": (-1e-9, -1e-12, 1e-12, -1.0 - 1e-9),
    "log_ndtr": (-8.9, -9.1, -11.9, -12.1, -100.0, -1e4),
    "logistic": (1e-8, -1e-8, 30.0, -300.0),
    "tanh": (1e-9, 10.0, -30.0, 300.0),
}


def reference(name: str, x: float) -> list[float]:
    # Far out a derivative is many orders of magnitude below the value: 1e-260 for tanh at 300.
    with mp.workdps(400 if name in ("logistic", "tanh") else 200):
        step = mp.mpf(10) ** -40 * max(abs(mp.mpf(x)), 1)
        return [float(mp.re(mp.diff(REFERENCES[name], mp.mpf(x), k, h=step))) for k in range(ORDERS)]


@pytest.mark.parametrize("name", sorted(CANCELLING))
def test_elementwise_derivatives_where_terms_cancel(name: str) -> None:
    """The relative error is small, to the third order, of float64 as of float32."""
    points = np.array(CANCELLING[name])
    bind = partial(UNARY[name].bind, **PARAMS.get(name, {}))
    wanted = np.array([reference(name, x) for x in points]).T
    for found, values in zip(derivatives(bind, points), wanted, strict=True):
        np.testing.assert_allclose(found, values, rtol=1e-10, atol=0)


CANCELLING_IN_FLOAT32 = {
    "asin": (1e-6, 0.9999),
    "atanh": (1e-6, 0.9999),
    "log_ndtr": (-4.0, -4.9, -5.1, -8.9, -9.1, -11.9, -12.1, -1e3),
    "logistic": (1e-6, 9.0, 30.0),
    "tanh": (1e-6, 9.0, 30.0),
}


@pytest.mark.parametrize("name", sorted(CANCELLING_IN_FLOAT32))
def test_float32_derivatives_where_terms_cancel(name: str) -> None:
    points = np.array(CANCELLING_IN_FLOAT32[name], np.float32)
    wanted = np.array([reference(name, float(x)) for x in points]).T
    functions = [partial(UNARY[name].bind)]
    for _ in range(ORDERS - 1):
        functions.append(lambda x, f=functions[-1]: jvp(f, (x,), (np.ones_like(x),))[1])
    for function, values in zip(functions, wanted, strict=True):
        np.testing.assert_allclose(function(points), values, rtol=1e-4, atol=1e-37)


def test_log_ndtr_derivatives_at_infinity() -> None:
    """The limits, in which a factor of 0 meets an infinite one."""
    ends = np.array([-INF, INF])
    with np.errstate(all="ignore"):
        for found in (derivatives(ops.log_ndtr, ends), jit(lambda x: derivatives(ops.log_ndtr, x))(ends)):
            np.testing.assert_array_equal(found, [[-INF, 0.0], [INF, 0.0], [-1.0, 0.0], [0.0, 0.0]])
