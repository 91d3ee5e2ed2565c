"""Plain NumPy code runs on tracers: operators with NumPy's arrays, ufuncs and their methods, functions."""

import inspect
import operator
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import lawful.numpy as lnp
from lawful.autodiff import grad, jvp
from lawful.batching import vmap
from lawful.core import LawfulError, Tracer, get_aval
from lawful.staging import jit, make_jaxpr

ARRAY = np.array([[1.0, 2.0], [3.0, 4.0]])
INTEGERS = np.array([[1, 2], [3, 4]])

OPERATORS = {
    **{f.__name__: (f, ARRAY) for f in (operator.add, operator.sub, operator.mul, operator.truediv, operator.pow)},
    **{f.__name__: (f, ARRAY) for f in (operator.floordiv, operator.mod, operator.matmul, divmod)},
    **{f.__name__: (f, ARRAY) for f in (operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge)},
    **{f.__name__: (f, INTEGERS) for f in (operator.and_, operator.or_, operator.xor)},
}


def staged(f: Callable[..., Any]) -> Callable[..., Any]:
    return jit(f, backend="numpy")


def assert_same(got: Any, want: Any) -> None:
    for one, other in zip(got, want, strict=True) if isinstance(want, tuple) else [(got, want)]:
        assert get_aval(one) == get_aval(other)
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("name", OPERATORS)
def test_tracer_operators_with_arrays_on_either_side(name: str):
    f, array = OPERATORS[name]
    other = array[::-1].copy()
    scalars = () if name == "matmul" else (array.dtype.type(3), array[0, :1])
    for y in (other, *scalars):
        assert_same(staged(lambda x, y=y: f(x, y))(array), f(array, y))
        assert_same(staged(lambda x, y=y: f(y, x))(array), f(y, array))
    mapped = vmap(lambda row: f(other, row))(array)
    rows = [f(other, row) for row in array]
    assert_same(mapped, tuple(map(np.stack, zip(*rows, strict=True))) if name == "divmod" else np.stack(rows))


@pytest.mark.parametrize("dtype", ["float32", "int8", "bool", "complex64"])
def test_tracer_operators_with_numpy_scalars(dtype: str):
    scalar = np.dtype(dtype).type(1)
    for x in (ARRAY, ARRAY.astype("float32"), INTEGERS):
        assert_same(staged(lambda x: scalar * x)(x), scalar * x)
        assert_same(staged(lambda x: x**scalar)(x), x**scalar)
        assert_same(staged(lambda x: scalar == x)(x), scalar == x)


def test_numpy_functions_of_weak_tracers():
    """A weak tracer takes the dtype of an array; the result of a NumPy function is strong."""
    single = np.float32([1, 2])
    assert staged(lambda x: single * x)(2.0).dtype == np.float32
    assert staged(lambda x: np.float32(3) * x)(2.0).dtype == np.float32
    for f in (np.sin, np.negative, lambda x: np.add(x, 1.0), np.sum, lambda x: np.where(True, x, x), np.positive):
        (out,) = make_jaxpr(f)(2.0).out_avals
        assert not out.weak_type
        assert out == get_aval(f(2.0))


class TestUfuncMethods:
    @pytest.mark.parametrize("ufunc", [np.add, np.multiply, np.maximum, np.minimum, np.logical_and, np.logical_or])
    def test_ufunc_reduce(self, ufunc: np.ufunc):
        for kwargs in ({}, {"axis": 1}, {"axis": None}, {"axis": (0, 1), "keepdims": True}):
            assert_same(
                staged(lambda x, kwargs=kwargs: ufunc.reduce(x, **kwargs))(ARRAY), ufunc.reduce(ARRAY, **kwargs)
            )

    def test_ufunc_reduce_with_dtype_and_initial(self):
        assert_same(
            staged(lambda x: np.add.reduce(x, dtype="float32"))(INTEGERS), np.add.reduce(INTEGERS, dtype="float32")
        )
        assert_same(staged(lambda x: np.add.reduce(x, initial=5))(INTEGERS), np.add.reduce(INTEGERS, initial=5))

    @pytest.mark.parametrize("ufunc", [np.add, np.multiply, np.maximum, np.minimum])
    def test_ufunc_accumulate(self, ufunc: np.ufunc):
        assert_same(staged(ufunc.accumulate)(ARRAY), ufunc.accumulate(ARRAY))
        assert_same(staged(lambda x: ufunc.accumulate(x, axis=1))(INTEGERS), ufunc.accumulate(INTEGERS, axis=1))

    def test_ufunc_methods_without_a_reduction_op(self):
        assert_same(staged(np.subtract.reduce)(ARRAY), np.subtract.reduce(ARRAY))
        assert_same(staged(np.bitwise_xor.accumulate)(INTEGERS), np.bitwise_xor.accumulate(INTEGERS))
        assert_same(staged(lambda x: np.add.reduceat(x, [0, 1], axis=1))(ARRAY), ARRAY)
        assert_same(staged(lambda x: np.add.reduce(x, where=ARRAY > 1))(ARRAY), np.add.reduce(ARRAY, where=ARRAY > 1))

    @pytest.mark.parametrize("ufunc", [np.multiply, np.subtract, np.equal, np.arctan2])
    def test_ufunc_outer(self, ufunc: np.ufunc):
        assert_same(staged(lambda x, y: ufunc.outer(x, y))(ARRAY, ARRAY[0]), ufunc.outer(ARRAY, ARRAY[0]))


REFUSED: dict[str, tuple[Callable[[Any], Any], str]] = {
    "out": (lambda x: np.sin(x, out=np.zeros((2, 2))), r"numpy\.sin: expected no out="),
    "out of a function": (lambda x: np.sum(x, axis=0, out=np.zeros(2)), r"numpy\.sum: expected no out="),
    "in place": (lambda x: operator.iadd(ARRAY.copy(), x), r"numpy\.add: .*x = x \+ y"),
    "where": (lambda x: np.add(x, 1, where=ARRAY > 1), r"numpy\.add: .*where=.*lawful\.numpy\.where"),
    "dtype": (lambda x: np.add(x, 1, dtype="float32"), r"numpy\.add: .*dtype=.*astype"),
    "at": (lambda x: np.add.at(x, 0, 1.0), r"numpy\.add\.at: .*inplace=False"),
    "at with traced values": (lambda x: np.add.at(ARRAY.copy(), 0, x[0]), r"numpy\.add\.at: .*inplace=False"),
    "a reduction by a comparison": (lambda x: np.less.reduce(x), r"less\.reduce: expected a function that gives"),
    "a function that lawful has not": (lambda x: np.array_repr(x), r"numpy\.array_repr: .*how numbers are written"),
    "a function that writes": (lambda x: np.putmask(x, x > 1, 0), r"numpy\.putmask: .*lawful\.numpy\.where"),
    "a ufunc that lawful has not": (lambda x: np.isnat(x), r"numpy\.isnat: .*booleans, integers"),
    "an argument that lawful has not": (lambda x: np.copy(x, order="F"), r"numpy\.copy: .*order="),
    "writing": (lambda x: np.copyto(ARRAY.copy(), x), r"numpy\.copyto: "),
    "conversion": (lambda x: np.asarray(x), r"numpy\.asarray: "),
    "conversion by a function": (lambda x: np.full((2, 2), x), r"numpy\.full: "),
    "an index that is assigned to": (
        lambda x: assign(ARRAY.copy(), x[0]),
        r"assignment: .*lawful\.ops\.at\(a\)\[i\]\.set\(x\)",
    ),
}


def assign(a: Any, x: Any) -> None:
    a[0] = x


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.parametrize(
    "transform", [staged, vmap, lambda f: lambda x: jvp(f, (x,), (x,))], ids=["jit", "vmap", "jvp"]
)
def test_numpy_protocols_refused(name: str, transform: Callable[..., Any]):
    call, message = REFUSED[name]
    with pytest.raises(TypeError, match=message) as error:
        transform(call)(np.stack([ARRAY, ARRAY]) if transform is vmap else ARRAY)
    assert isinstance(error.value, LawfulError)
    assert str(error.value).startswith(__file__)


def test_numpy_functions_accept_out_none():
    assert_same(staged(lambda x: np.sum(x, out=None))(ARRAY), np.sum(ARRAY))
    assert_same(staged(lambda x: np.sin(x, out=None))(ARRAY), np.sin(ARRAY))


def test_numpy_protocols_defer_to_other_libraries():
    class Other:
        def __array_ufunc__(self, *args: Any, **kwargs: Any) -> str:
            return "ufunc"

        def __array_function__(self, *args: Any, **kwargs: Any) -> str:
            return "function"

    seen: list[Any] = []

    def function(x: Any) -> Any:
        seen.extend((np.add(x, Other()), np.concatenate([x, Other()])))  # type: ignore[list-item]
        return x

    make_jaxpr(function)(ARRAY)
    assert seen == ["ufunc", "function"]


def test_zeros_and_arange_like_a_tracer():
    assert_same(staged(lambda x: np.zeros(3, like=x) + np.arange(3.0, like=x))(ARRAY), np.arange(3.0))


def test_numpy_code_without_changes():
    def logistic_loss(weights: Any, features: Any, labels: Any) -> Any:
        scores = np.dot(features, weights)
        return np.mean(np.logaddexp(0.0, np.where(labels, -scores, scores))) + 0.5 * np.sum(weights**2)

    random = np.random.default_rng(0)
    weights, features, labels = random.normal(size=3), random.normal(size=(8, 3)), random.random(8) < 0.5
    probabilities = 1 / (1 + np.exp(-features @ weights))
    want = features.T @ (probabilities - labels) / 8 + weights
    for run in (grad(logistic_loss), jit(grad(logistic_loss), backend="numpy")):
        np.testing.assert_allclose(run(weights, features, labels), want, rtol=1e-12)


def test_numpy_functions_are_registered():
    """Called with a tracer, a function of NumPy reaches lawful.numpy's of that name."""
    missing = []
    for name in lnp.__all__:
        theirs = getattr(np, name, None)
        if isinstance(theirs, np.ufunc) or hasattr(theirs, "_implementation"):
            answer: list[Any] = []

            def ask(x: Any, theirs: Any = theirs, answer: list[Any] = answer) -> Any:
                from lawful.ops._numpy_protocol import dispatch as _numpy_protocol

                answer.append(_numpy_protocol._find(theirs))
                return x

            make_jaxpr(ask)(1.0)
            if inspect.unwrap(answer[0]) is not inspect.unwrap(getattr(lnp, name)):
                missing.append(name)
    assert not missing


def test_lawful_numpy_is_found_without_an_import():
    program = """
import sys, numpy
from lawful.autodiff import grad
assert "lawful.numpy" not in sys.modules
print(grad(lambda x: numpy.sum(numpy.concatenate([x, 2 * x])))(numpy.ones(2)))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[3. 3.]"


def test_numpy_array_times_tracer_is_a_tracer():
    def function(x: Any) -> Any:
        y = np.sin(np.multiply(ARRAY, x))
        assert isinstance(y, Tracer)
        return y

    assert_same(staged(function)(ARRAY), np.sin(ARRAY * ARRAY))


class ArrayLike:
    """A value that NumPy converts without being asked, such as a column of a table."""

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.array([3.0, 4.0], dtype)


@pytest.mark.parametrize("other", [[3.0, 4.0], ArrayLike()], ids=["list", "array-like"])
def test_concatenate_of_array_like_and_tracer(other: Any):
    found = grad(lambda x: np.sum(np.concatenate([other, x]) ** 2))(np.array([1.0, 2.0]))
    assert found.tolist() == [2.0, 4.0]
