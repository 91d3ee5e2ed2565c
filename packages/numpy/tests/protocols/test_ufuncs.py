"""Every elementwise function equals NumPy's in value, dtype and errors, over dtypes and Python scalars."""

import itertools
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy
import pytest

import lawful.numpy as lnp
from lawful.autodiff import grad
from lawful.batching import vmap
from lawful.core import get_aval
from lawful.numpy._ufuncs.ufunc import Ufunc
from lawful.staging import jit

UFUNCS = {name: value for name in lnp.__all__ if isinstance(value := getattr(lnp, name), Ufunc)}
OF_INTEGERS = frozenset(
    name for name in UFUNCS if any(word in name for word in ("bitwise", "invert", "shift", "gcd", "lcm"))
)
DTYPES = ("bool", "int8", "int64", "uint8", "uint64", "float16", "float32", "float64", "complex64", "complex128")
PYTHON = (True, 3, 0.75, 0.5 + 0.25j)
VALUES = [0.25, 0.5, 0.75]


def operand(dtype: str, scale: float = 1.0) -> numpy.ndarray[Any, Any]:
    x = numpy.array(VALUES) * scale
    kind = numpy.dtype(dtype).kind
    if kind == "c":
        return (x + 0.5j).astype(dtype)
    return (numpy.array([True, False, True]) if kind == "b" else x if kind == "f" else numpy.array([1, 2, 3])).astype(
        dtype
    )


def operands(nin: int) -> Iterator[tuple[Any, ...]]:
    arrays: list[Any] = [operand(dtype) for dtype in DTYPES]
    if nin == 1:
        yield from ((x,) for x in (*arrays, *PYTHON))
        return
    yield from itertools.product(arrays, [operand(dtype, 0.75) for dtype in DTYPES])
    yield from itertools.chain(itertools.product(arrays, PYTHON), itertools.product(PYTHON, arrays))
    yield 0.75, 0.5
    yield operand("float32")[:, None], operand("float64")


def numpy_answer(function: Any, args: Sequence[Any]) -> Any:
    """Returns NumPy's result, or the class of its error."""
    try:
        return function(*args)
    except (TypeError, OverflowError, ValueError) as error:
        return next(cls for cls in (TypeError, OverflowError, ValueError) if isinstance(error, cls))


def check(run: Any, args: Sequence[Any], want: Any) -> None:
    if isinstance(want, type):
        with pytest.raises(want):
            run(*args)
        return
    got = run(*args)
    for one, other in zip(got, want, strict=True) if isinstance(want, tuple) else [(got, want)]:
        assert get_aval(one) == get_aval(other), (get_aval(one), get_aval(other), args)
        dtype = numpy.asarray(other).dtype
        digits = 8 * numpy.finfo(dtype).eps if dtype.kind in "fc" else 0
        numpy.testing.assert_allclose(one, other, rtol=digits, atol=digits)


@pytest.mark.parametrize("name", sorted(UFUNCS))
def test_ufunc_value_dtype_and_error(name: str):
    ours, theirs = UFUNCS[name], getattr(numpy, name)
    compiled = jit(lambda *args: ours(*args), backend="numpy")
    with warnings.catch_warnings(), numpy.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # of arguments outside of a function's domain
        for args in operands(ours.nin):
            if name.startswith("logaddexp") and any(get_aval(x).dtype.kind == "c" for x in args):
                continue  # NumPy's is of real numbers only
            want = numpy_answer(theirs, args)
            check(ours, args, want)
            check(compiled, args, want)


@pytest.mark.parametrize("name", sorted(UFUNCS))
def test_ufunc_attributes_are_numpy_s(name: str):
    ours, theirs = UFUNCS[name], getattr(numpy, name)
    assert ours.__name__ == theirs.__name__
    assert repr(ours) == f"<function lawful.numpy.{theirs.__name__}>"
    assert ours.__doc__
    assert ours.__doc__.startswith("Returns")
    with pytest.raises(TypeError, match=f"{ours.__name__}: expected {theirs.nin} arguments"):
        ours(*[1.0] * (theirs.nin + 1))
    with pytest.raises(TypeError, match=r"out=.*use the result"):
        ours(*[1.0] * theirs.nin, out=numpy.zeros(()))
    with pytest.raises(TypeError, match="asarray"):
        ours(*[[1.0, 2.0]] * theirs.nin)


@pytest.mark.parametrize("name", sorted(UFUNCS))
def test_ufunc_vmap_is_the_function_itself(name: str):
    ours = UFUNCS[name]
    dtype = "int64" if name in OF_INTEGERS else "float64"
    x, y = operand(dtype), operand("int64" if name == "ldexp" else dtype)[::-1]
    with numpy.errstate(all="ignore"):
        if ours.nout > 1:
            numpy.testing.assert_allclose(vmap(ours)(*[x] * ours.nin), ours(*[x] * ours.nin), rtol=1e-14)
        elif ours.nin == 1:
            numpy.testing.assert_allclose(vmap(ours)(x), ours(x), rtol=1e-14)
        else:
            table = vmap(lambda a: vmap(lambda b: ours(a, b))(y))(x)
            numpy.testing.assert_allclose(table, ours(x[:, None], y), rtol=1e-14)


DIFFERENTIABLE = sorted(
    name
    for name in UFUNCS.keys() - OF_INTEGERS
    if UFUNCS[name].nout == 1
    and name != "ldexp"
    and not any(word in name for word in ("logical", "equal", "less", "greater", "is", "signbit"))
)


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_ufunc_gradient_is_the_difference_quotient(name: str):
    ours, theirs = UFUNCS[name], getattr(numpy, name)
    point = [1.375] if name in ("arccosh", "acosh") else [0.375, 0.8125][: ours.nin]
    step = 1e-6
    for i in range(ours.nin):
        above, below = list(point), list(point)
        above[i] += step
        below[i] -= step
        slope = (theirs(*above) - theirs(*below)) / (2 * step)
        assert grad(lambda *args: ours(*args), argnums=i)(*point) == pytest.approx(slope, rel=1e-7, abs=1e-7)
        # NumPy's own function, of the tracer.
        assert grad(lambda *args: theirs(*args), argnums=i)(*point) == pytest.approx(slope, rel=1e-7, abs=1e-7)


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("hypot", (1e200, 1e200)),
        ("hypot", (0.0, 0.0)),
        ("hypot", (-numpy.inf, 1.0)),
        ("hypot", (3e-200, 4e-200)),
        ("logaddexp", (1000.0, 1000.0)),
        ("logaddexp", (-numpy.inf, -numpy.inf)),
        ("logaddexp", (numpy.inf, 1.0)),
        ("logaddexp", (-numpy.inf, 1.0)),
        ("trunc", (-0.5,)),
        ("trunc", (numpy.nan,)),
        ("isinf", (numpy.nan,)),
        ("isinf", (-numpy.inf,)),
        ("isnan", (numpy.nan,)),
        ("isfinite", (numpy.nan,)),
        ("sign", (numpy.nan,)),
        ("logical_not", (numpy.nan,)),
        ("reciprocal", (0.0,)),
        ("floor_divide", (-7.5, 2.0)),
        ("floor_divide", (-1.0, numpy.inf)),
        ("floor_divide", (numpy.inf, 2.0)),
        ("floor_divide", (-1.0, 0.0)),
        ("floor_divide", (0.0, 0.0)),
        ("floor_divide", (1.0, 0.1)),
        ("floor_divide", (float(2**53 - 1), 1.0)),
        ("remainder", (-7.5, 2.0)),
        ("remainder", (-1.0, numpy.inf)),
        ("fmod", (-7.5, 2.0)),
    ],
)
def test_ufunc_edges(name: str, args: tuple[float, ...]):
    with numpy.errstate(all="ignore"):
        want = getattr(numpy, name)(*args)
        got = jit(lambda *args: UFUNCS[name](*args), backend="numpy")(*args)
    numpy.testing.assert_allclose(got, want, rtol=1e-15)
    assert numpy.signbit(got) == numpy.signbit(want)


@pytest.mark.parametrize("name", sorted(UFUNCS))
def test_ufunc_bfloat16(name: str):
    ours = UFUNCS[name]
    if name in OF_INTEGERS or name == "ldexp":
        return
    x = numpy.array([0.25, 0.5, 0.75])
    with numpy.errstate(all="ignore"):
        wanted = getattr(numpy, name)(*[x] * ours.nin)
        for run in (ours, jit(lambda *args: ours(*args), backend="numpy")):
            found = run(*[x.astype(lnp.bfloat16)] * ours.nin)
            for got, want in zip(found, wanted, strict=True) if ours.nout > 1 else [(found, wanted)]:
                assert got.dtype == (lnp.bfloat16 if want.dtype.kind == "f" else want.dtype)
                numpy.testing.assert_allclose(got.astype(float), want, rtol=2e-2, atol=2e-2)


class TestPower:
    def test_power_static_exponents_are_multiplied_out(self):
        assert grad(lambda x: lnp.power(x, 3))(-2.0) == 12.0
        assert grad(lambda x: lnp.power(x, 2))(0.0) == 0.0

    def test_power_of_booleans_as_numpy(self):
        x = numpy.array([True, False])
        got = jit(lambda x: lnp.power(x, 2), backend="numpy")(x)
        numpy.testing.assert_array_equal(got, numpy.power(x, 2))
        assert got.dtype == numpy.power(x, 2).dtype

    def test_power_negative_exponents_of_integers(self):
        for run in (lnp.power, jit(lnp.power, static_argnums=1, backend="numpy")):
            with pytest.raises(ValueError, match="negative"):
                run(numpy.array([1, 2]), -1)


class TestParts:
    """Numbers are taken apart exactly, at the ends of the range too."""

    @pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
    def test_frexp_ldexp_modf_at_the_ends_of_the_range(self, dtype: str):
        limits = numpy.finfo(dtype)
        ends = [limits.max, limits.tiny, limits.smallest_subnormal, -limits.tiny / 4, 0, -0.0, 1, -2, 3.7, -3.7]
        x = numpy.array([*ends, numpy.inf, -numpy.inf, numpy.nan], dtype)
        with numpy.errstate(all="ignore"):
            for name in ("modf", "frexp", "spacing"):
                got = jit(lambda x, name=name: UFUNCS[name](x), backend="numpy")(x)
                numpy.testing.assert_array_equal(got, getattr(numpy, name)(x))
            for exponent in (0, 5, -5, -1060, -1074, -1500, 2000, 2098, -2150, 10**6):
                got = jit(lambda x, n=exponent: lnp.ldexp(x, n), backend="numpy")(x)
                numpy.testing.assert_array_equal(got, numpy.ldexp(x, exponent))

    def test_modf_frexp_ldexp_derivatives(self):
        assert grad(lambda x: lnp.modf(x)[0])(-2.5) == 1.0
        assert grad(lambda x: lnp.modf(x)[1])(2.5) == 0.0
        assert grad(lambda x: lnp.frexp(x)[0])(5.0) == 0.125
        assert grad(lambda x: lnp.ldexp(x, 3))(5.0) == 8.0
        assert grad(lambda x: lnp.spacing(x))(5.0) == 0.0
        assert grad(lambda x: lnp.divmod(x, 2.0)[1])(5.5) == 1.0


class TestMethods:
    def test_reduce_preserves_the_order_of_elements(self):
        """NumPy's reduction overwrites elements that it reads later, and returns 4."""
        x = numpy.array([2.0, 3.0, 2.0])
        assert lnp.power.reduce(x) == jit(lnp.power.reduce, backend="numpy")(x) == 64.0

    def test_ufunc_methods_refused(self):
        x = numpy.ones((2, 3))
        for run in (lambda f: f(x), lambda f: jit(f, backend="numpy")(x)):
            with pytest.raises(ValueError, match=r"sin\.reduce: expected a function of two arguments"):
                run(lnp.sin.reduce)
            with pytest.raises(TypeError, match=r"less\.reduce: expected a function that gives numbers"):
                run(lnp.less.reduce)
            with pytest.raises(ValueError, match=r"subtract\.reduce: expected at most one dimension"):
                run(lambda x: lnp.subtract.reduce(x, axis=None))
            with pytest.raises(ValueError, match=r"maximum\.reduce: expected at least one element"):
                run(lambda x: lnp.maximum.reduce(x[:0]))
            with pytest.raises(ValueError, match=r"maximum\.reduce: expected an initial value"):
                run(lambda x: lnp.maximum.reduce(x, where=x > 2))
            with pytest.raises(numpy.exceptions.AxisError, match=r"add\.reduce: expected an axis"):
                run(lambda x: lnp.add.reduce(x, axis=2))
            with pytest.raises(TypeError, match=r"add\.reduce: expected no out="):
                run(lambda x: lnp.add.reduce(x, out=x))
            with pytest.raises(IndexError, match=r"add\.reduceat: expected positions from 0 to 1"):
                run(lambda x: lnp.add.reduceat(x, [0, 5]))
            with pytest.raises(ValueError, match=r"add\.at: expected inplace=False"):
                run(lambda x: lnp.add.at(x, 0, 1.0))
            with pytest.raises(TypeError, match=r"add\.accumulate: expected an array of at least one dimension"):
                run(lambda x: lnp.add.accumulate(x[0, 0]))


@pytest.mark.parametrize("name", [name for name, ufunc in UFUNCS.items() if ufunc.nin == 2])
def test_ufunc_composite_sees_new_untraced_values(name: str) -> None:
    """A function of several ops is one composite from the third call on, for any value of the other operand."""
    ufunc, dtype = UFUNCS[name], "int64" if name in OF_INTEGERS or name == "ldexp" else "float64"
    others = [numpy.array(row).astype(dtype) for row in ([1, 2, 3], [3, 1, 2], [2, 2, 2], [0, 1, 3], [1, 0, 2])]
    x = numpy.array([2, 1, 3]).astype("float64" if name == "ldexp" else dtype)
    with numpy.errstate(all="ignore"):
        for other in others:
            expected = ufunc.numpy_function(x, other)
            numpy.testing.assert_allclose(vmap(ufunc)(x, other), expected, rtol=1e-15)
            numpy.testing.assert_allclose(vmap(lambda x, y=other[0]: ufunc(x, y))(x), ufunc.numpy_function(x, other[0]))


@pytest.mark.parametrize("name", ["logaddexp", "logaddexp2"])
def test_log_of_a_complex_sum(name: str) -> None:
    """NumPy has none: it is the logarithm of the sum, with an imaginary part of at most half a period."""
    base = numpy.e if name == "logaddexp" else 2
    function = getattr(lnp, name)
    random = numpy.random.default_rng(0)
    x, y = random.normal(size=(2, 20)) + 5j * random.normal(size=(2, 20))
    expected = numpy.log(base**x + base**y) / numpy.log(base)
    for call in (function, jit(function, backend="numpy")):
        numpy.testing.assert_allclose(call(x, y), expected, rtol=1e-12)
        large = call(x + 800, y + 800)
        numpy.testing.assert_allclose(large.real, (expected + 800).real, rtol=1e-12)
    gradient = grad(lambda x: function(x, y).sum().real)(x)
    numpy.testing.assert_allclose(gradient, base**x / (base**x + base**y), rtol=1e-12)
    low, high = complex(-numpy.inf, 0), complex(numpy.inf, 0)
    assert (function(low, low), function(high, high), function(low, 1j)) == (low, high, 1j)
    assert function(numpy.complex64(1), 1.0).dtype == numpy.complex64
