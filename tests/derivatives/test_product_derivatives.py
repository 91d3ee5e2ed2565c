"""Derivatives of products, where partial products overflow or underflow, and at zeros, against rational numbers."""

from collections.abc import Callable
from fractions import Fraction
from functools import cache
from itertools import combinations, islice, product
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import lawful.numpy as lnp
from lawful import ops
from lawful.autodiff import grad, jacfwd, jacrev, jvp, vjp
from lawful.batching import vmap
from lawful.core import plain
from lawful.staging import jit

# All of one length, so that each function is compiled once.
POINTS = {
    "moderate": [1.5, -2.0, 0.25, 3.0, -1.0],
    "overflow": [1e200, 1e200, 1e-300, 1.0, 2.0],
    "underflow": [1e-200, 1e-200, 1e300, 1.0, 0.5],
    "alternating": [1e200, 1e-200, 1e200, 1e-200, 1.0],
    "unlike": [1e200, 1e-300, 1e200, 1e-300, 2.0],
    "zero": [0.0, 2.0, 3.0, 4.0, 5.0],
    "zero and overflow": [1e200, 0.0, 1e200, 1e-250, 1.0],
    "two zeros": [0.0, 1e200, 0.0, 1e200, 1e-200],
    "three zeros": [0.0, 0.0, 1e-200, 0.0, 1e300],
    "subnormal": [5e-324, 1e300, 1e20, 1.0, 1.0],
}
PRODUCTS: dict[str, Callable[[Any], Any]] = {
    "prod": lnp.prod,
    "reduce_prod": lambda x: ops.reduce_prod(x, (0,)),
    "multiply.reduce": np.multiply.reduce,
    "nanprod": lnp.nanprod,
    "matrix": lambda x: lnp.prod(lnp.stack([x, x + 1])[:1], axis=1)[0],
}
CUMULATIVE: dict[str, Callable[[Any], Any]] = {
    "cumprod": lnp.cumprod,
    "cumulative_prod": lnp.cumulative_prod,
    "nancumprod": lnp.nancumprod,
    "multiply.accumulate": np.multiply.accumulate,
}
MODES: dict[str, Callable[[Any], Any]] = {
    "eager": lambda f: f,
    "xla": cache(lambda f: jit(f, backend="xla")),
    "numpy": lambda f: jit(f, backend="numpy"),
}
FIRST = {"jacfwd": cache(jacfwd), "jacrev": cache(jacrev)}
SECOND = {f"{a} of {b}": (FIRST[a], FIRST[b]) for a, b in product(FIRST, FIRST)}


def rounded(x: Fraction) -> float:
    try:
        return float(x)
    except OverflowError:
        return float("inf") if x > 0 else float("-inf")


def expected(x: Any, order: int) -> Any:
    """Returns the derivatives of the product by distinct elements; those by an element twice are 0."""
    exact = [Fraction(float(y)) for y in x]
    out = np.zeros((len(x),) * order)
    for chosen in product(range(len(x)), repeat=order):
        if len(set(chosen)) == order:
            total = Fraction(1)
            for i, y in enumerate(exact):
                total *= 1 if i in chosen else y
            out[chosen] = rounded(total)
    return out


def expected_cumulative(x: Any, order: int) -> Any:
    out = np.zeros((len(x),) * (order + 1))
    for end in range(len(x)):
        out[(end, *((slice(0, end + 1),) * order))] = expected(x[: end + 1], order)
    return out


def assert_equal(found: Any, wanted: Any, rtol: float = 1e-12) -> None:
    np.testing.assert_allclose(np.asarray(found, np.float64), wanted, rtol=rtol, atol=0)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("point", POINTS)
def test_derivatives_of_products(point: str, mode: str) -> None:
    x, compiled = np.array(POINTS[point]), MODES[mode]
    if point == "subnormal" and mode == "xla":
        pytest.skip("XLA takes subnormal numbers as zero")
    with np.errstate(all="ignore"):
        for first in FIRST.values():
            for function in islice(PRODUCTS.values(), 1 if mode == "xla" else None):
                assert_equal(compiled(first(function))(x), expected(x, 1))
            for function in islice(CUMULATIVE.values(), 1 if mode == "xla" else None):
                assert_equal(compiled(first(function))(x), expected_cumulative(x, 1))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("point", [name for name in POINTS if name != "subnormal"])
def test_second_derivatives_of_products(point: str, mode: str) -> None:
    x, compiled = np.array(POINTS[point]), MODES[mode]
    with np.errstate(all="ignore"):
        for outer, inner in list(SECOND.values())[1:2] if mode == "xla" else SECOND.values():
            assert_equal(compiled(outer(inner(lnp.prod)))(x), expected(x, 2))
            assert_equal(compiled(outer(inner(lnp.cumprod)))(x), expected_cumulative(x, 2))


@pytest.mark.parametrize("point", ["unlike", "three zeros", "two zeros"])
def test_third_derivatives_of_products(point: str) -> None:
    x = np.array(POINTS[point])
    with np.errstate(all="ignore"):
        for outer, middle, inner in product(FIRST.values(), repeat=3):
            assert_equal(outer(middle(inner(lnp.prod)))(x), expected(x, 3))
            assert_equal(outer(middle(inner(lnp.cumprod)))(x), expected_cumulative(x, 3))


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("mode", MODES)
def test_derivatives_of_products_of_many(mode: str, reverse: bool) -> None:
    """Long enough for blocks of the compiled program; the products leave the range again and again."""
    x = np.exp(np.cos(np.arange(1200.0) * 0.37) * 300)
    x[7] = 0.0
    ends = np.array([3, 600, 1199])
    jacobian = MODES[mode](jacrev(lambda x: ops.cumprod(x, 0, reverse)[ends]))
    with np.errstate(all="ignore"):
        found = jacobian(x)
        others = MODES[mode](jacrev(lnp.prod))(x)
    exact = [Fraction(y) for y in x]
    for k in (0, 7, 500, 1199):
        for row, end in enumerate(ends):
            used = range(end, len(x)) if reverse else range(end + 1)
            total = Fraction(int(k in used))
            for i in used:
                total *= exact[i] if i != k else 1
            assert_equal(found[row, k], rounded(total), 1e-9)
        total = Fraction(1)
        for i, y in enumerate(exact):
            total *= y if i != k else 1
        assert_equal(others[k], rounded(total), 1e-9)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.float32, np.complex64, np.complex128])
def test_derivatives_of_products_by_dtype(dtype: Any, mode: str) -> None:
    """The elements are powers of two whose products leave the range of the dtype in between."""
    most = 12 if dtype is np.float16 else 100
    unit = 1j if np.dtype(dtype).kind == "c" else 1
    x = np.array([2.0**most, 2.0**most, 2.0**-most, 2.0 ** (4 - most), 3.0]).astype(dtype) * np.asarray(unit, dtype)
    exact = np.array([np.prod(np.delete(x.astype(np.complex128), i)) for i in range(len(x))])
    wanted = exact if unit == 1j else np.real(exact)
    limit = float(ml_dtypes.finfo(x.real.dtype).max)  # type: ignore[no-untyped-call]
    finite = abs(wanted) <= limit
    options = {"holomorphic": True} if unit == 1j else {}
    with np.errstate(all="ignore"):
        for first in [jacrev] if mode == "xla" else FIRST.values():
            found = MODES[mode](first(lnp.prod, **options))(x)
            assert found.dtype == x.dtype
            np.testing.assert_array_equal(np.asarray(found)[finite].astype(complex), wanted[finite])
            assert not np.isfinite(np.asarray(found).astype(complex)[~finite]).any()
            if mode == "xla" and dtype is not np.complex64:
                continue
            jacobian = MODES[mode](first(lnp.cumprod, **options))(x)
            np.testing.assert_array_equal(np.asarray(jacobian[-1])[finite].astype(complex), wanted[finite])


def test_derivatives_of_products_of_nan() -> None:
    x = np.array([np.nan, 2.0, 3.0])
    for first in FIRST.values():
        np.testing.assert_array_equal(first(lnp.prod)(x), [6.0, np.nan, np.nan])
        np.testing.assert_array_equal(jit(first(lnp.prod))(x), [6.0, np.nan, np.nan])


def test_derivatives_of_batched_products() -> None:
    x = np.array([POINTS["alternating"], POINTS["overflow"]]).T
    with np.errstate(all="ignore"):
        for first in FIRST.values():
            for mode in MODES.values():
                found = mode(vmap(first(lnp.prod), in_axes=1))(x)
                assert_equal(found, [expected(row, 1) for row in x.T])
                found = mode(first(lambda x: lnp.prod(x, axis=0)))(x)
                assert_equal(found[0, :, 0], expected(x[:, 0], 1))
                assert not np.any(found[0, :, 1])


def test_jvp_of_products_is_a_sum() -> None:
    x, t = np.array([3.0, 0.0, 2.0, 5.0]), np.array([1.0, 2.0, 0.5, -1.0])
    assert jvp(lnp.prod, (x,), (t,))[1] == 60.0
    pairs = [t[i] * t[j] * np.prod(np.delete(x, [i, j])) for i, j in combinations(range(4), 2)]
    second = jvp(lambda y: jvp(lnp.prod, (y,), (t,))[1], (x,), (t,))[1]
    np.testing.assert_allclose(second, 2 * sum(pairs))


@pytest.mark.parametrize(("size", "reverse"), [(7, True), (30, False)])
def test_compiled_arithmetics_of_products_agree(size: int, reverse: bool) -> None:
    """A compiled program takes exact arithmetic for all products if one leaves the range of floats, else plain one."""
    rng = np.random.default_rng(size)
    moderate = rng.uniform(0.5, 1.5, (size, 4)) * rng.choice([-1.0, 1.0], (size, 4))
    moderate[2, 1], moderate[[0, 4], 2] = 0.0, 0.0
    moderate[:2, 3] = 1e270, 1e-270
    wide = np.where(np.arange(size) % 2, 1e-250, 1e250)[:, None]
    t = rng.normal(size=(2, size, 5))

    def derivatives(x: Any) -> list[Any]:
        def along(f: Callable[[Any], Any], k: int) -> Callable[[Any], Any]:
            return lambda x: jvp(f, (x,), (t[k],))[1]

        found = []
        for f in (lambda x: ops.reduce_prod(x, (0,)), lambda x: ops.cumprod(x, 0, reverse)):
            first = along(f, 0)
            gradients = [grad(lambda x, g=g: (g(x) * t[1][: g(x).shape[0]]).sum())(x) for g in (f, first)]
            found += [first(x), *gradients, along(first, 1)(x)]
        return found

    compiled = jit(derivatives, backend="xla")
    plain = compiled(np.concatenate([moderate, moderate[:, :1]], axis=1))
    exact = compiled(np.concatenate([moderate, wide], axis=1))
    for x, y in zip(plain, exact, strict=True):
        x, y = np.asarray(x)[..., :4], np.asarray(y)[..., :4]
        size_of = np.max(abs(y), axis=0) if y.ndim > 1 else abs(y)
        assert np.all(abs(x - y) <= 1e-12 * size_of)


@pytest.mark.parametrize("factor", [np.inf, np.nan])
def test_compiled_derivatives_along_tangents_not_finite(factor: float) -> None:
    """A term is 0 where the product of the others is, as in eager evaluation."""
    x, t = np.array([0.0, 2.0, 0.0, 3.0]), np.array([1.0, factor, 1.0, 1.0])
    for f in (lnp.prod, lnp.cumprod):

        def tangent(t: Any, f: Any = f) -> Any:
            return jvp(f, (x,), (t,))[1]

        np.testing.assert_array_equal(jit(tangent, backend="xla")(t), tangent(t))


@pytest.mark.parametrize("count", [1, 2, 3, 32, 33, 50])
def test_gradients_of_products_have_the_bits_of_each_line(count: int) -> None:
    """Few rows are multiplied row by row, and lines by one call."""
    x = np.random.default_rng(count).normal(size=(count, 4))

    def total(x: Any, axis: int) -> Any:
        return ops.reduce_prod(x, (axis,)).sum()

    for _ in range(40):  # by then the rules are compiled
        lines = np.stack([grad(total)(x[:, i].copy(), 0) for i in range(4)], axis=1)
        np.testing.assert_array_equal(grad(total)(x, 0), lines)
        np.testing.assert_array_equal(grad(total)(x.T.copy(), 1), lines.T)
    with plain():
        np.testing.assert_array_equal(grad(total)(x, 0), lines)


def test_derivatives_of_products_over_no_dimensions() -> None:
    """The product is the array itself, also where the rules are compiled."""
    x, t = np.array([2.0, 3.0, 5.0]), np.array([1.0, 10.0, 100.0])

    def derivatives(x: Any, t: Any) -> Any:
        y, pull_back = vjp(lambda x: ops.reduce_prod(x, ()), x)
        return y, pull_back(t)[0], jvp(lambda x: ops.reduce_prod(x, ()), (x,), (t,))[1]

    for backend in ("numpy", "xla"):
        np.testing.assert_array_equal(jit(derivatives, backend=backend)(x, t), [x, t, t])
    for _ in range(40):  # by then the rules are compiled
        np.testing.assert_array_equal(derivatives(x, t), [x, t, t])


@pytest.mark.parametrize("backend", ["numpy", "xla"])
@pytest.mark.parametrize("ct", [0.5, np.float64(0.5)], ids=["float", "float64"])
def test_derivative_of_a_product_along_a_number(backend: str, ct: Any) -> None:
    """A factor overflows in between, so that the plain arithmetic is not enough."""
    x = np.array(POINTS["overflow"])

    def derivative(x: Any, ct: Any) -> Any:
        return ops.product_cotangent_p.bind(x, ct, axes=(0,), cumulative=False, reverse=False)

    found = jit(derivative, backend=backend)(x, ct)
    np.testing.assert_allclose(found, [1e-100, 1e-100, np.inf, 1e100, 5e99], rtol=1e-12)
