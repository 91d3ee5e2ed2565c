"""NaN, infinities, division by zero, positions outside of an array: NumPy and XLA give the same, but for three things.

Those are written down in docs/numpy.md, and tested at the end.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import lawful.numpy as lnp
from lawful.core import get_aval
from lawful.staging import jit

nan, inf = np.nan, np.inf
SPECIAL = np.array([nan, inf, -inf, 0.0, -0.0, 1.5, -1.5, 1e300, -1e300])
OTHERS = SPECIAL[::-1].copy()
COMPLEX = np.array([complex(nan, 0), complex(inf, 1), complex(0, inf), 0j, 1 + 1j, complex(-inf, nan)])
BYTES = np.array([0, 1, -1, 5, -7, 127, -128], "int8")
BITS = np.array([8, 9, -1, 7, 0, 100, 1], "int8")
PLACES = np.array([0, 2, -1, -3, 3, -4, 100])
VALUES = np.array([1.0, 2.0, 3.0])

OF_ONE = [
    "negative",
    "absolute",
    "sign",
    "sqrt",
    "square",
    "cbrt",
    "exp",
    "exp2",
    "expm1",
    "log",
    "log2",
    "log10",
    "log1p",
    "sin",
    "cos",
    "tan",
    "arcsin",
    "arccos",
    "arctan",
    "sinh",
    "cosh",
    "tanh",
    "arcsinh",
    "arccosh",
    "arctanh",
    "floor",
    "ceil",
    "rint",
    "trunc",
    "isnan",
    "isinf",
    "isfinite",
    "signbit",
    "reciprocal",
    "modf",
    "frexp",
    "nan_to_num",
    "sinc",
    "i0",
    "deg2rad",
    "sort",
    "argsort",
    "max",
    "min",
    "argmax",
    "argmin",
    "nanmax",
    "nanmin",
    "nanmean",
    "nansum",
    "nanmedian",
    "median",
    "cumsum",
    "cumprod",
    "mean",
    "std",
    "var",
    "ptp",
    "diff",
    "unwrap",
    "isposinf",
    "isneginf",
    "angle",
    "round",
    "average",
    "gradient",
    "ediff1d",
    "flip",
    "trapezoid",
]
OF_TWO = [
    "add",
    "subtract",
    "multiply",
    "divide",
    "floor_divide",
    "remainder",
    "fmod",
    "divmod",
    "power",
    "maximum",
    "minimum",
    "fmax",
    "fmin",
    "arctan2",
    "hypot",
    "logaddexp",
    "logaddexp2",
    "copysign",
    "nextafter",
    "heaviside",
    "less",
    "less_equal",
    "greater",
    "equal",
    "not_equal",
    "logical_and",
    "logical_or",
    "logical_xor",
    "float_power",
    "isclose",
]
OF_COMPLEX = ["sqrt", "exp", "log", "square", "abs", "sin", "tanh", "conj", "isnan", "isfinite", "angle", "sort"]
OF_INTEGERS = ["floor_divide", "remainder", "fmod", "divide", "left_shift", "right_shift", "gcd", "lcm"]

Calls = dict[str, tuple[Callable[..., Any], tuple[Any, ...]]]


def named(names: list[str], *args: Any, of: str = "") -> Calls:
    return {f"{name}{of}": (lambda *x, name=name: getattr(lnp, name)(*x), args) for name in names}


CALLS: Calls = {
    **named(OF_ONE, SPECIAL),
    **named(OF_TWO, SPECIAL, OTHERS),
    **named(OF_COMPLEX, COMPLEX, of=" of complex numbers"),
    **named(["add", "multiply", "divide", "power"], COMPLEX, COMPLEX[::-1].copy(), of=" of complex numbers"),
    **named(OF_INTEGERS, BYTES, np.zeros_like(BYTES), of=" by zero"),
    **named(OF_INTEGERS, BYTES, BITS, of=" of integers"),
    **named(["abs", "negative", "square"], BYTES, of=" of integers"),
    **{
        f"take, {mode}": (lambda x, i, mode=mode: lnp.take(x, i, mode=mode), (VALUES, PLACES))
        for mode in ("clip", "wrap", "fill")
    },
    **{
        f"ravel_multi_index, {mode}": (lambda i, mode=mode: lnp.ravel_multi_index((i, i), (3, 4), mode), (PLACES,))
        for mode in ("raise", "clip", "wrap")
    },
    **{
        f"at, {mode}": (lambda x, i, mode=mode: lnp.asarray(x).at[i].add(9.0, mode=mode), (VALUES, PLACES))
        for mode in ("drop", "clip")
    },
    "index": (lambda x, i: x[i], (VALUES, PLACES)),
    "take of what is traced": (lambda x, i: lnp.take(x, i), (VALUES, PLACES)),
    "take_along_axis": (lambda x, i: lnp.take_along_axis(x, i, 0), (VALUES, PLACES)),
    "put": (lambda x, i: lnp.put(x, i, 9.0, inplace=False), (VALUES, PLACES)),
    "choose": (lambda x, i: lnp.choose(i, [x[:1], 2 * x[:1]]), (VALUES, PLACES)),
    "bincount": (lambda i: lnp.bincount(i, length=4), (PLACES,)),
    "unravel_index": (lambda i: lnp.unravel_index(i, (2, 3)), (PLACES,)),
    "searchsorted": (lambda x: lnp.searchsorted(np.array([0.0, 1.0, nan]), x), (SPECIAL,)),
    "digitize": (lambda x: lnp.digitize(x, np.array([0.0, 1.0, 2.0])), (SPECIAL,)),
    "histogram": (lambda x: lnp.histogram(x, np.array([0.0, 1.0, 2.0])), (SPECIAL,)),
    "clip": (lambda x: lnp.clip(x, -1, 1), (SPECIAL,)),
    "interp": (lambda x: lnp.interp(x, np.array([0.0, 1.0]), np.array([5.0, 6.0])), (SPECIAL,)),
    "isin": (lambda x: lnp.isin(x, np.array([nan, inf])), (SPECIAL,)),
    "where": (lambda x: lnp.where(x, 1, 2), (SPECIAL,)),
    "unique": (lambda x: lnp.unique(x, size=7), (SPECIAL,)),
    "quantile": (lambda x: lnp.quantile(x, 0.3), (SPECIAL,)),
    "inv": (lambda x: lnp.linalg.inv(x), (np.ones((2, 2)),)),
    "solve": (lambda x: lnp.linalg.solve(x, x), (np.ones((2, 2)),)),
    "cholesky": (lambda x: lnp.linalg.cholesky(x), (-np.eye(2),)),
    "det": (lambda x: lnp.linalg.det(x), (np.full((4, 4), nan),)),
    "slogdet": (lambda x: lnp.linalg.slogdet(x), (np.zeros((4, 4)),)),
    "svd": (lambda x: lnp.linalg.svd(x), (np.full((2, 2), inf),)),
}


def same(got: Any, want: Any) -> None:
    for one, other in zip(*[x if isinstance(x, tuple | list) else [x] for x in (got, want)], strict=True):
        assert get_aval(one) == get_aval(other)
        one, other = np.asarray(one), np.asarray(other)
        np.testing.assert_allclose(one, other, rtol=1e-12)
        if one.dtype.kind == "f":
            signed = ~np.isnan(one)
            np.testing.assert_array_equal(np.signbit(one)[signed], np.signbit(other)[signed])


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", CALLS)
def test_special_values_numpy_and_xla_agree(name: str):
    call, args = CALLS[name]
    same(jit(call, backend="xla")(*args), jit(call, backend="numpy")(*args))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", [x for x in [*OF_ONE, *OF_TWO] if x != "i0"])  # NumPy's i0 is NaN at infinity
def test_special_values_numpy_itself_agrees(name: str):
    call, args = CALLS[name]
    # The order of both zeros in NumPy's default sort depends on the processor.
    options = {"kind": "stable"} if name == "sort" else {}
    same(jit(call, backend="xla")(*args), getattr(np, name)(*args, **options))


class TestDifferences:
    def test_special_values_numbers_not_normal_are_zero_for_xla(self):
        x = np.array([5e-324, -1e-310, np.finfo(float).tiny])
        np.testing.assert_array_equal(jit(lambda x: x * 2.0, backend="numpy")(x), 2.0 * x)
        np.testing.assert_array_equal(jit(lambda x: x * 2.0, backend="xla")(x), [0.0, 0.0, 2.0 * x[2]])
        assert jit(lnp.spacing, backend="xla")(0.0) == 0.0 < np.spacing(0.0)

    @pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "uint8", "uint64"])
    def test_special_values_floats_that_no_integer_is_near(self, dtype: str):
        """XLA gives the nearest integer, and 0 for NaN; NumPy what the processor does, which NumPy warns of."""
        limits = np.iinfo(dtype)
        got = jit(lambda x: lnp.astype(x, dtype), backend="xla")(np.array([nan, inf, -inf, 1e300, -1e300]))
        np.testing.assert_array_equal(got, [0, limits.max, limits.min, limits.max, limits.min])

    def test_special_values_integers_to_a_negative_power(self):
        """For traced operands, only XLA gives a result."""
        x, y = np.array([2, 1, -1]), np.array([-1, -1, -1])
        for run in (lnp.power, jit(lnp.power, backend="numpy")):
            with pytest.raises(ValueError, match="negative integer power"):
                run(x, y)
        np.testing.assert_array_equal(jit(lnp.power, backend="xla")(x, y), [0, 1, -1])
