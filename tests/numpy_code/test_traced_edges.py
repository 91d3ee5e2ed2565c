"""Traced calls at points where a formula of one dtype goes wrong: each gives what the eager call does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import lawful.numpy as lnp
from lawful import ops, special
from lawful.autodiff import grad
from lawful.batching import vmap
from lawful.core import ArgumentTypeError, IntegerOverflowError
from lawful.staging import jit

from .calls.dtypes import DtypeCall, disagreements

nan, inf = np.nan, np.inf
SIGNED, UNSIGNED = (
    np.array([2**53 + 1, -1, 5, 2**62 + 1]),
    np.array([2**53, 2**64 - 1, 5, 2**62], "uint64"),
)
ORDERED = np.array([1 + 1j, 1 + 2j, 2, complex(2, nan), complex(nan, 1)])
COMPLEX = np.array([[1 + 2j, 1 + 3j, 0], [5, complex(nan, 0), 1], [1j, 2j, 2j]])
#: With elements of which one part is NaN: NumPy sorts these last, and gives the last one as the median.
MISSING = [
    np.array([[complex(1, nan), complex(nan, 2)], [3, 4j]]),
    np.array([[complex(1, nan), 2], [3, complex(2, nan)], [0.5j, 1 - 1j]]),
    np.array(
        [[complex(nan, 2), complex(1, nan), complex(nan, 3)], [complex(3, nan), complex(nan, nan), complex(1, nan)]]
    ),
    np.array([[1 + 2j, 2], [3j, 4]], "complex64"),
]
HALF = np.float16([100, 1000.5, -7.3, 65504, 3]), np.float16([0.1, 0.0301, 2.1, 0.5, inf])
BYTES = np.array([1, 2, 3], "uint8"), np.array([2, 2, 2], "uint8")
ENDLESS = [complex(inf, 0), complex(inf, 1), complex(inf, inf), complex(-inf, 1), complex(-inf, inf), complex(inf, nan)]
WIDTHS = [np.array([1, 0, 3]).astype(d) for d in ("bool", "int8", "uint8", "int16", "float16", "complex64")]

COMPARISONS = ("less", "less_equal", "equal", "not_equal", "greater", "greater_equal")
EXTREMA = ("max", "min", "ptp", "argmax", "argmin", "nanmax", "nanmin")
CALLS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    **{name: (getattr(lnp, name), (SIGNED, UNSIGNED)) for name in COMPARISONS},
    **{f"{name} swapped": (getattr(lnp, name), (UNSIGNED, SIGNED)) for name in COMPARISONS},
    "compare with large numbers": (
        lambda u: [u < 2**70, u > -1, lnp.less(u, 2**63 + 1), lnp.equal(u, -(2**70)), lnp.maximum(u, 2**63 + 1)],
        (UNSIGNED,),
    ),
    "add a large number": (lambda u, x: [lnp.add(u, 2**63), x + 2**70], (UNSIGNED, np.array([1.0]))),
    **{
        f"{name} of complex numbers, {axis}": (
            lambda z, name=name, axis=axis: getattr(lnp, name)(z, axis=axis),
            (COMPLEX,),
        )
        for name in EXTREMA
        for axis in (None, 0, 1)
    },
    "searchsorted of complex numbers": (
        lambda a, v: [lnp.searchsorted(a, v, side) for side in ("left", "right")],
        (ORDERED, np.array([1 + 1j, 1 + 1.5j, complex(nan, 1), 3, complex(2, nan), complex(nan, nan)])),
    ),
    **{
        f"{name} of complex numbers, {axis}": (
            lambda *args, name=name, axis=axis: [
                part(getattr(lnp, name)(z, axis=axis)) for z in args for part in (lnp.real, lnp.imag)
            ],
            (*MISSING, *[np.array(line)[:, None] for line in ([nan + 2j], ENDLESS[:3], [1 + 2j, 3, 1.7e308])]),
        )
        for name in ("median", "nanmedian")
        for axis in (None, 0, (0, 1))
    },
    "medians of no and of few numbers": (
        lambda x, y, z: [part(lnp.median(z)) for part in (lnp.real, lnp.imag)] + [lnp.nanmedian(x), lnp.nanmedian(y)],
        (np.array([1.7e308, nan]), np.array([nan, 1.7e308, 1.0, 1.7e308]), np.zeros(0, complex)),
    ),
    "isclose of bytes": (lambda a, b: [lnp.isclose(a, b), lnp.isclose(b, a), lnp.allclose(a > 1, b > 1)], BYTES),
    "var of complex numbers": (
        lambda z, x: [f(y, dtype=t) for f in (lnp.var, lnp.std, lnp.nanvar) for y in (z, x) for t in (None, complex)],
        (ORDERED[:3], np.array([1.0, 2.0, 4.0])),
    ),
    "floor_divide of halfs": (lambda a, b: [lnp.floor_divide(a, b), lnp.remainder(a, b)], HALF),
    "i0": (lnp.i0, (np.array([712.0, 713.5, -713.0, 1e-300, 0, 5]),)),
    "Bessel functions of the largest number": (
        lambda x: [f(x) for f in (special.i0, special.i1, special.i0e, special.i1e)],
        (np.array([np.finfo(float).max, -np.finfo(float).max, 1e300]),),
    ),
    "relative entropy of the ends of the range": (
        lambda x, y: [special.rel_entr(x, y), special.rel_entr(y, x)],
        (np.array([np.finfo(float).tiny, 1e-300]), np.array([np.finfo(float).max, 1e300])),
    ),
    "reciprocal": (lambda x, y: [lnp.reciprocal(x), lnp.reciprocal(y)], (np.array([0, 1, -1, 2]), BYTES[0] - 1)),
    "exp2": (lnp.exp2, (np.array([0.0, 1, 10, 1000, -1000, 0.3]),)),
    "log1p": (lnp.log1p, (np.array([1e-20 + 1e-20j, 1e-9, -1e-10j, 0.3, 5j, -2]),)),
    "log1p near -1": (
        lnp.log1p,
        (np.array([complex(-1, y) for y in (1e-200, -1e-300, 1e-20, 0.4)] + [-0.75 + 1e-170j, complex(-1, -0.0)]),),
    ),
    "log1p near -1 of complex64": (lnp.log1p, (np.array([complex(-1, y) for y in (1e-20, -1e-30, 0.1)], "complex64"),)),
    "sign and reciprocal of complex numbers": (
        lambda *args: [part(f(z)) for z in args for f in (lnp.sign, lnp.reciprocal) for part in (lnp.real, lnp.imag)],
        (
            np.array([1.7e308 + 1.7e308j, complex(1.7e308, np.nan), -1.7e308j, 1e-300 + 1e-300j, 0, -0.0j]),
            np.array([3e38 - 3e38j, 0], "complex64"),
        ),
    ),
    "expm1": (lnp.expm1, (np.array([*ENDLESS, 1e-20 + 1e-20j, complex(800, 1)]),)),
    "expm1 near the largest number": (
        lambda *args: [part(lnp.expm1(z)) for z in args for part in (lnp.real, lnp.imag)],
        (np.array([709.9 + 1j, 710 + 1.5j, 710 - 0.0j]), np.array([88.9 + 1j, 89 - 1.5j], "complex64")),
    ),
    "power": (lambda x: [x**64, x**100, x**-70, lnp.power(x, 200)], (np.array([1.1, -1.01, 0.5, 2.0, 1e3, 0, inf]),)),
    "ediff1d": (lambda x: lnp.ediff1d(x, to_end=np.array([3, 4])), (np.array([1, 4, 9], "int8"),)),
    "multiply a boolean": (lambda x, y: [lnp.multiply(x, y), lnp.divide(x, x[0])], (BYTES[0] > 3, np.full(3, inf))),
    **{
        name: (lambda *args, name=name: [getattr(lnp, name)(x) for x in args], tuple(WIDTHS))
        for name in ("angle", "sinc", "round", "square")
    },
    "powers of every width": (lambda *args: [y for x in args for y in (lnp.power(x, x), lnp.power(x, 2))], (*WIDTHS,)),
    "unwrap of bytes": (lnp.unwrap, (np.array([1, 200, 7], "uint8"),)),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CALLS)
def test_jit_where_formulas_go_wrong(name: str):
    function, args = CALLS[name]
    assert disagreements([DtypeCall(name, function, args)]) == []


def test_log1p_of_small_complex_numbers_is_exact():
    z = np.array([1e-20 + 1e-20j, 1e-9, -1e-10j])
    np.testing.assert_allclose(lnp.log1p(z), z - z * z / 2, rtol=1e-15)


def test_scaled_bessel_functions_of_the_largest_number():
    """They are ``1 / sqrt(2 π x)`` there, whose square root must not overflow."""
    largest = np.finfo(float).max
    for f in (special.i0e, special.i1e):
        np.testing.assert_allclose(f(largest), 2.975447459315899e-155, rtol=1e-13)


def test_i0_is_finite_as_long_as_it_can_be():
    assert 2.4e307 < lnp.i0(712.0) < 2.5e307


def test_integers_beyond_those_of_the_array_are_refused():
    for run in (lambda f: f, jit):
        with pytest.raises(IntegerOverflowError, match="convert the array first"):
            run(lambda x: lnp.add(x, 2**63))(np.array([1]))


def test_kaiser_of_complex_beta_is_refused():
    for run in (lambda f: f, jit):
        with pytest.raises(ArgumentTypeError, match="expected a real beta"):
            run(lambda beta: lnp.kaiser(5, beta))(1j)


@pytest.mark.parametrize("backend", ["numpy", "xla"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_det_of_pivots_far_apart(backend: str, dtype: str):
    a = np.diag(np.array([1e3] * 16 + [1e-3] * 16, dtype))
    rtol = 200 * np.finfo(dtype).eps
    np.testing.assert_allclose(jit(lnp.linalg.det, backend=backend)(a), 1.0, rtol=rtol)
    if np.dtype(dtype).kind == "f":
        gradient = jit(grad(lnp.linalg.det), backend=backend)(a)
        np.testing.assert_allclose(np.diag(gradient)[[0, -1]], [1e-3, 1e3], rtol=rtol)


ROWS_OF_SIZES = {
    "two": [1e200] * 2 + [1e-200] * 2,
    "alternating": [1e300, 1e-300] * 2,
    "near the ends": [1e308] * 3 + [1e-307] * 3,
    "singular": [1e200, 1e-200, 1.0, 0.0],
}


@pytest.mark.parametrize("backend", ["numpy", "xla"])
@pytest.mark.parametrize("name", ROWS_OF_SIZES)
def test_det_of_rows_of_other_sizes(name: str, backend: str):
    """A matrix whose rows differ in size by more than the precision is not singular."""
    a = np.diag(ROWS_OF_SIZES[name])[::-1]
    np.testing.assert_allclose(jit(lnp.linalg.det, backend=backend)(a), np.linalg.det(a), rtol=1e-12)
    stack = np.stack([a, np.eye(len(a))])
    found = jit(vmap(lnp.linalg.det), backend=backend)(stack)
    np.testing.assert_allclose(found, np.linalg.det(stack), rtol=1e-12)


@pytest.mark.parametrize("uplo", ["L", "U"])
def test_eigh_reads_the_triangle_of_uplo(uplo: str):
    a = np.array([[2.0, 9.0], [1.0, 3.0]])
    want = np.linalg.eigvalsh(a, uplo)
    for run in (lambda f: f, lambda f: jit(f, backend="numpy"), lambda f: jit(f, backend="xla")):
        np.testing.assert_allclose(run(lambda a: np.linalg.eigvalsh(a, uplo))(a), want)
        np.testing.assert_allclose(run(lambda a: lnp.linalg.eigh(a, UPLO=uplo).eigenvalues)(a), want)


def test_cholesky_reads_the_upper_triangle():
    a = np.array([[4.0, 0.0], [1.0, 4.0]])
    for run in (lambda f: f, lambda f: jit(f, backend="numpy"), lambda f: jit(f, backend="xla")):
        np.testing.assert_allclose(run(lambda a: lnp.linalg.cholesky(a, upper=True))(a), 2 * np.eye(2))


MIXTURES = {
    "concatenate of flattened arrays and a Python number": (
        lambda x, y: lnp.concatenate([x, y], axis=None),
        [(np.arange(4, dtype="int8").reshape(2, 2), 3), (np.float32([[1.0]]), 0.5), (2, np.uint8([1]))],
    ),
    "gradient with distances of another dtype": (
        lnp.gradient,
        [
            (np.array([1.0, 2.0, 4.0]), 1.5 + 0.5j),
            (np.array([1, 2, 4], "int8"), np.array([0.5, 1.0, 2.25], "float32")),
            (np.array([1.0, 2.0, 4.0], "float32"), 1.5 + 0.5j),
            (np.array([1.0, 2.0, 4.0]), np.array([True, False, True])),
        ],
    ),
    "trapezoid of narrow floats": (
        lnp.trapezoid,
        [
            (np.array([1, 2, 4], "int16"), np.array([0.5, 1.0, 2.0]).astype(name))
            for name in ("bfloat16", "float8_e5m2")
        ],
    ),
    "histogramdd with ranges of some directions": (
        lambda x: lnp.histogramdd(x, 2, [(0.0, 2.0), None]),
        [(np.array([[0.5, 1.0], [1.5, 2.0]]).astype(name),) for name in ("float16", "float32", "float64")],
    ),
    "accumulate of complex numbers": (
        lambda x: (lnp.maximum.accumulate(x), lnp.minimum.accumulate(x)),
        [(np.array([1 + 2j, 1 + 1j, 0 + 5j, 3j], name),) for name in ("complex64", "complex128")],
    ),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", MIXTURES)
def test_jit_of_mixtures_of_dtypes(name: str):
    function, arguments = MIXTURES[name]
    assert disagreements([DtypeCall(f"{name} {i}", function, args) for i, args in enumerate(arguments)]) == []


U = np.array([1, 2], "uint8")
#: Python integers that the dtype of an array does not have: a compiler would wrap them around.
TOO_LARGE = {
    "convert_element_type": lambda x: ops.convert_element_type(300, x.dtype) + x,
    "a negative one": lambda x: ops.convert_element_type(-1, x.dtype) + x,
    "initial": lambda x: lnp.sum(x, initial=-1),
    "insert": lambda x: lnp.insert(x, 0, 300),
    "piecewise": lambda x: lnp.piecewise(x, [x > 1], [-1, 300]),
    "fill_value of unique": lambda x: lnp.unique(x, size=5, fill_value=-1),
    "arange": lambda x: lnp.arange(300, 303, dtype=x.dtype) + x[0],
}


@pytest.mark.parametrize("name", TOO_LARGE)
def test_python_integer_beyond_a_dtype_is_refused(name: str):
    for run in (TOO_LARGE[name], *[jit(TOO_LARGE[name], backend=backend) for backend in ("numpy", "xla")]):
        with pytest.raises(OverflowError):
            run(U)


INTEGERS: dict[str, Callable[[Any], Any]] = {
    "pad wraps around": lambda x: lnp.pad(x, 1, constant_values=300),
    "pad of each side wraps around": lambda x: lnp.pad(x, 1, constant_values=(300, -1)),
    "searchsorted of a negative one": lambda x: lnp.searchsorted(x, -1),
    "searchsorted of a large one": lambda x: lnp.searchsorted(x, 300, "right"),
    "ediff1d wraps around": lambda x: lnp.ediff1d(lnp.astype(x, "int8"), to_begin=300, to_end=[7, 8]),
    "std of integers": lambda x: lnp.std(x * 7, dtype="int8"),
    "nanstd of integers": lambda x: lnp.nanstd(x * 7, dtype=int),
    "std with a mask": lambda x: lnp.std(x * 7, dtype="int16", where=x > 0),
    "round of integers to tens": lambda x: (x * 7).round(-1),
    "round beyond the dtype": lambda x: lnp.stack([lnp.round(x + 250, -1), lnp.round(x + 245, -2)]),
    "round beyond int8": lambda x: lnp.round(lnp.astype(x, "int8") + 122, -1),
    "round beyond int32": lambda x: lnp.round(2147483640 + lnp.astype(x, "int32"), -2),
    "round of floats to tens": lambda x: (x * 26.0).round(-2),
    "round of floats to tenths": lambda x: (x / 3).round(1),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", INTEGERS)
def test_jit_of_integers_that_wrap_or_round(name: str):
    assert disagreements([DtypeCall(name, INTEGERS[name], (U,))]) == []


def test_complex_power_of_zero_is_numpy_s():
    """XLA's own power of zero with a complex exponent is NaN."""
    x = np.zeros(5, complex)
    y = np.array([1 + 2j, 2 + 0j, 0.5 - 1j, 0j, 3 - 4j])
    for dtype in ("complex64", "complex128"):
        args = x.astype(dtype), y.astype(dtype)
        np.testing.assert_array_equal(jit(lnp.power, backend="xla")(*args), np.power(*args))
    np.testing.assert_array_equal(jit(lambda x: lnp.power(x, 1 + 2j), backend="xla")(x), np.power(x, 1 + 2j))
    np.testing.assert_array_equal(jit(lambda y: lnp.power(0j, y), backend="xla")(y), np.power(0j, y))


@pytest.mark.parametrize("where", [1, 0.5, [1, 0]])
@pytest.mark.parametrize("name", ["sum", "prod", "mean", "var", "std", "all", "any", "nansum", "nanmean", "nanstd"])
def test_where_of_numbers_is_refused(name: str, where: Any):
    def call(x: Any) -> Any:
        return getattr(lnp, name)(x, where=where)

    for run in (call, jit(call, backend="numpy"), jit(call, backend="xla")):
        with pytest.raises(TypeError):
            run(np.array([1.0, 2.0]))
    assert getattr(lnp, name)(np.array([1.0, 2.0]), where=[True, True]) is not None


@pytest.mark.parametrize("transform", [grad, jit, vmap])
def test_round_of_a_complex_number_is_refused(transform: Callable[..., Any]):
    with pytest.raises(ArgumentTypeError, match="expected a real number"):
        transform(lambda x: round(x * 1j) * 1.0)(np.array([3.0]) if transform is vmap else 3.0)


@pytest.mark.parametrize("backend", ["numpy", "xla"])
def test_round_of_tracers_is_an_integer(backend: str):
    """`round` of a known number gives Python's exact integer."""
    assert grad(lambda x: x * round(x))(1e20) == 1e20
    found = jit(lambda x: round(x), backend=backend)(2.5)
    assert (found, lnp.result_type(found)) == (2, np.int64)
    np.testing.assert_array_equal(vmap(lambda x: round(x))(np.array([0.5, 1.5])), [0, 2])
