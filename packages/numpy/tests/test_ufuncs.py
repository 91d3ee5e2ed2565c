"""Every elementwise function is its NumPy namesake, in value, dtype and errors, over dtypes and Python scalars."""

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
from lawful.numpy._ufunc import Ufunc
from lawful.staging import jit

UFUNCS = {name: value for name, value in vars(lnp).items() if isinstance(value, Ufunc)}
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
    """What NumPy gives, or the class of its error."""
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
    assert get_aval(got) == get_aval(want), (get_aval(got), get_aval(want), args)
    dtype = numpy.asarray(want).dtype
    digits = 8 * numpy.finfo(dtype).eps if dtype.kind in "fc" else 0
    numpy.testing.assert_allclose(got, want, rtol=digits, atol=digits)


@pytest.mark.parametrize("name", sorted(UFUNCS))
def test_value_dtype_and_error(name: str):
    ours, theirs = UFUNCS[name], getattr(numpy, name)
    compiled = jit(lambda *args: ours(*args), backend="numpy")
    with warnings.catch_warnings(), numpy.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # of arguments outside of a function's domain
        for args in operands(ours.nin):
            want = numpy_answer(theirs, args)
            check(ours, args, want)
            check(compiled, args, want)


@pytest.mark.parametrize("name", sorted(UFUNCS))
def test_it_is_presented_as_numpy_s(name: str):
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
def test_vmap_is_the_function_itself(name: str):
    ours = UFUNCS[name]
    dtype = "int64" if "bitwise" in name or name == "invert" else "float64"
    x, y = operand(dtype), operand(dtype)[::-1]
    with numpy.errstate(all="ignore"):
        if ours.nin == 1:
            numpy.testing.assert_allclose(vmap(ours)(x), ours(x), rtol=1e-14)
        else:
            table = vmap(lambda a: vmap(lambda b: ours(a, b))(y))(x)
            numpy.testing.assert_allclose(table, ours(x[:, None], y), rtol=1e-14)


DIFFERENTIABLE = sorted(
    name
    for name in UFUNCS
    if not any(word in name for word in ("bitwise", "logical", "equal", "less", "greater", "is", "invert"))
)


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_gradient_is_the_difference_quotient(name: str):
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
def test_edges(name: str, args: tuple[float, ...]):
    with numpy.errstate(all="ignore"):
        want = getattr(numpy, name)(*args)
        got = jit(lambda *args: UFUNCS[name](*args), backend="numpy")(*args)
    numpy.testing.assert_allclose(got, want, rtol=1e-15)
    assert numpy.signbit(got) == numpy.signbit(want)


@pytest.mark.parametrize("name", sorted(UFUNCS))
def test_bfloat16(name: str):
    ours = UFUNCS[name]
    if "bitwise" in name or name == "invert":
        return
    x = numpy.array([0.25, 0.5, 0.75])
    with numpy.errstate(all="ignore"):
        want = getattr(numpy, name)(*[x] * ours.nin)
        for run in (ours, jit(lambda *args: ours(*args), backend="numpy")):
            got = run(*[x.astype(lnp.bfloat16)] * ours.nin)
            assert got.dtype == (bool if want.dtype == bool else lnp.bfloat16)
            numpy.testing.assert_allclose(got.astype(float), want, rtol=2e-2, atol=2e-2)


class TestPower:
    def test_static_exponents_are_multiplied_out(self):
        assert grad(lambda x: lnp.power(x, 3))(-2.0) == 12.0
        assert grad(lambda x: lnp.power(x, 2))(0.0) == 0.0

    def test_of_booleans_as_numpy(self):
        x = numpy.array([True, False])
        got = jit(lambda x: lnp.power(x, 2), backend="numpy")(x)
        numpy.testing.assert_array_equal(got, numpy.power(x, 2))
        assert got.dtype == numpy.power(x, 2).dtype

    def test_negative_exponents_of_integers(self):
        for run in (lnp.power, jit(lnp.power, static_argnums=1, backend="numpy")):
            with pytest.raises(ValueError, match="negative"):
                run(numpy.array([1, 2]), -1)
