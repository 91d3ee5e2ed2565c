"""The namespaces: NumPy's functions for values, lawful's for tracers, and both for array-likes."""

from typing import Any

import numpy
import pytest

import lawful.autograd.numpy as np
import lawful.autograd.numpy.random as npr
import lawful.numpy
from lawful.autograd import elementwise_grad, grad, jacobian, make_jvp, make_vjp
from lawful.autograd._namespace import arrays
from lawful.autograd._namespace.function import dispatched
from lawful.autograd.extend import defjvp, defvjp
from lawful.autograd.numpy.numpy_boxes import ArrayBox
from lawful.autograd.numpy.numpy_vjps import match_complex, repeat_to_match_shape, replace_zero, unbroadcast_f
from lawful.autograd.test_util import check_grads, combo_check

X = numpy.array([0.5, 1.0, 2.0])


class ArrayLike:
    def __init__(self, value: Any) -> None:
        self.value = numpy.asarray(value)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self.value


def test_values_are_numpys() -> None:
    out = numpy.zeros(3)
    assert np.add(X, 1.0, out=out) is out
    assert np.array(["a"]).dtype.kind == "U"
    assert np.add.reduce(X) == 3.5
    assert np.pi is numpy.pi
    assert np.ndarray is numpy.ndarray
    assert np.loadtxt is numpy.loadtxt
    assert np.__version__ == numpy.__version__
    assert npr.randn is numpy.random.randn
    with pytest.raises(AttributeError, match=r"lawful\.autograd\.numpy' has no attribute 'sinus'"):
        _ = np.sinus
    with pytest.raises(AttributeError, match="no attribute 'randint2'"):
        _ = npr.randint2


@pytest.mark.parametrize("make", [list, tuple, ArrayLike])
def test_functions_of_array_likes(make: Any) -> None:
    other = make([1.0, 2.0, 3.0])
    plain = numpy.array([1.0, 2.0, 3.0])
    for f in (np.multiply, np.dot, np.maximum, np.outer, np.hypot):
        assert numpy.allclose(jacobian(lambda x, f=f: f(x, other))(X), jacobian(lambda x, f=f: f(x, plain))(X))
        assert numpy.allclose(jacobian(lambda x, f=f: f(other, x))(X), jacobian(lambda x, f=f: f(plain, x))(X))


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.sum([x[0], x[1] * 2.0, 1.0]),
        lambda x: np.sum(np.array([[x[0], 1.0], [2.0, x[1]]]) ** 2),
        lambda x: np.prod(np.asarray([x[0], x[2]])),
        lambda x: np.sum(np.concatenate([x, [1.0], x[:1]]) ** 2),
        lambda x: np.sum(np.vstack([x, [1.0, 2.0, 3.0]]) ** 2),
        lambda x: np.sum(np.hstack((x, 2.0 * x)) ** 2),
        lambda x: np.sum(np.stack([x, x]) ** 2),
        lambda x: np.sum(np.stack({"a": x, "b": 2.0 * x}.values()) ** 2),
        lambda x: np.sum(np.concatenate(y * x for y in (1.0, 2.0)) ** 2),
        lambda x: np.sum(np.row_stack([x, x]) ** 2),
        lambda x: np.mean([x[0], x[1]]),
        lambda x: np.std([x[0], x[1], 7.0]),
        lambda x: np.sum(np.r_[x, 1.0, [x[0]]] ** 2),
        lambda x: np.sum(np.c_[x, 2.0 * x] ** 2),
        lambda x: np.sum(np.where([True, False, True], x, 0.0) ** 2),
        lambda x: np.sum(np.where([True, False, True], x, numpy.ma.array([4.0, 5.0, 6.0])) ** 2),
        lambda x: np.sum(np.select([x > 1.5, x < 0.7], [x**2, x**3], 1.0)),
        lambda x: np.max(np.append(x, 3.0 * x[0])),
        lambda x: np.sum(x[ArrayLike([True, False, True])] ** 2) + x[ArrayLike(1)],
        lambda x: np.sum(np.einsum("i,j->ij", x, [1.0, 2.0]) ** 2),
        lambda x: np.sum(np.real(np.fft.fft(x)) ** 2) + np.linalg.norm(x),
        lambda x: np.sum(np.add.reduce(np.multiply.outer(x, x)) ** 2),
        lambda x: np.sum(np.make_diagonal(x, axis1=-1, axis2=-2) @ x),
        lambda x: np.real(np.real_if_close(np.sum(x) + 0j)),
        lambda x: np.sum(numpy.sin(x) * [1.0, 2.0, 3.0]),
    ],
)
def test_functions_of_tracers(f: Any) -> None:
    check_grads(f)(X)


def test_where_of_python_numbers() -> None:
    assert np.where(True, 1, 2) == 1
    assert np.where([True, False], [1, 2], [3, 4]) == [1, 4]
    assert np.where(X > 0.7)[0].tolist() == [1, 2]
    assert np.where(X > 0.7, x=X, y=0.0).tolist() == [0.0, 1.0, 2.0]
    assert type(np.where(True, 1, 2)) is int
    assert type(np.where(False, 0.5, 2.0)) is float
    with pytest.raises(ValueError, match="where: expected a condition"):
        np.where(True, 1)


def test_where_of_tracers_and_numbers_has_numpys_dtype() -> None:
    x = X.astype(numpy.float32)
    for number in (2.0, 2, numpy.float64(2.0)):
        _, found = make_vjp(lambda x, number=number: np.where(x > 0.7, x, number))(x)
        assert found.dtype == numpy.where(x > 0.7, x, number).dtype
    assert grad(lambda x: np.where(x > 0.5, x * x, 2.0))(0.7) == 1.4
    assert grad(lambda x: np.where(x > 0.9, x * x, x))(0.7) == 1.0


def test_linalg_reads_one_triangle() -> None:
    matrix = numpy.array([[2.0, 50.0, 60.0], [0.5, 3.0, 70.0], [0.1, 0.2, 5.0]])
    for f in (np.linalg.eigvalsh, lambda a: np.linalg.eigh(a)[0], lambda a: np.linalg.eigh(a)[1] ** 2):
        found = jacobian(f)(matrix)
        h, e = 1e-6, numpy.zeros((3, 3))
        e[2, 0] = h
        assert numpy.allclose(found[..., 2, 0], (f(matrix + e) - f(matrix - e)) / (2 * h), atol=1e-6)
        assert not found[..., 0, 2].any()


def test_linalg_eig_has_eigenvectors_with_derivatives() -> None:
    matrix = numpy.array([[2.0, 1.0, 0.3], [0.5, 3.0, -1.0], [0.1, 0.2, 5.0]])
    check_grads(lambda a: np.abs(np.linalg.eig(a)[1]), order=1)(matrix)


def test_rules_are_written_with_numpy_vjps() -> None:
    g = numpy.ones((2, 3))
    assert unbroadcast_f(numpy.ones(3), lambda g: g)(g).tolist() == [2.0, 2.0, 2.0]
    assert unbroadcast_f(numpy.ones((2, 1)), lambda g: g)(g).tolist() == [[3.0], [3.0]]
    assert unbroadcast_f(1.0, lambda g: 1j * g)(g) == 0.0
    assert replace_zero(numpy.array([0.0, 2.0]), 1.0).tolist() == [1.0, 2.0]
    assert match_complex(1.0, 2.0 + 1j) == 2.0
    assert match_complex(1j, 2.0) == 2.0 + 0j
    repeated, count = repeat_to_match_shape(numpy.ones(2), (2, 3), float, 1, False)
    assert (repeated.shape, count) == ((2, 3), 3)
    assert repeat_to_match_shape(2.0, (2, 3), float, None, False)[0].shape == (2, 3)


def test_arraybox_is_the_class_of_tracers() -> None:
    assert grad(lambda x: x * 2.0 if isinstance(x, ArrayBox) else x)(1.0) == 2.0


def test_check_grads_finds_wrong_rules() -> None:
    # Along one of 200 directions the fault is too small to be seen.
    numpy.random.seed(0)  # noqa: NPY002
    from lawful.autograd.extend import primitive

    @primitive
    def square(x: Any) -> Any:
        return x**2

    defvjp(square, lambda ans, x: lambda g: 2.001 * g * x)
    defjvp(square, lambda g, ans, x: 2.0 * g * x)
    check_grads(square, modes=["fwd"], order=1)(1.0)
    with pytest.raises(AssertionError, match=r"Derivative \(VJP\) check of square failed"):
        check_grads(square, modes=["rev"])(1.0)
    defjvp(square, lambda g, ans, x: 2.001 * g * x)
    with pytest.raises(AssertionError, match=r"Derivative \(JVP\) check of square failed"):
        check_grads(square)(1.0)
    with pytest.raises(ValueError, match="expected modes"):
        check_grads(square, modes=["both"])(1.0)
    combo_check(np.add, (0, 1), order=1)([1.0, X], [2.0, X])


def test_own_derivatives_of_both_modes_are_kept() -> None:
    square = dispatched("square", numpy.square, lawful.numpy.square)
    defvjp(square, lambda ans, x: lambda g: 3.0 * g * x)
    defjvp(square, lambda g, ans, x: 5.0 * g * x)
    assert grad(square)(2.0) == 6.0
    assert make_jvp(square)(2.0)(1.0) == (4.0, 10.0)


def test_own_derivatives_of_where(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rules call it themselves, as SurPyval's do."""
    monkeypatch.setattr(arrays._where, "apply", arrays._where.apply)
    defvjp(
        np.where,
        None,
        lambda ans, c, x, y: lambda g: 2.0 * np.where(c, g, numpy.zeros(2)),
        lambda ans, c, x, y: lambda g: np.where(c, numpy.zeros(2), g),
    )
    gradient = grad(lambda x: np.sum(np.where(numpy.array([True, False]), x * x, 3.0 * x)))
    assert gradient(numpy.array([2.0, 1.0])).tolist() == [8.0, 3.0]
    assert jacobian(gradient)(numpy.array([2.0, 1.0])).tolist() == [[4.0, 0.0], [0.0, 0.0]]


def test_elementwise_functions_of_the_namespace() -> None:
    for name in ("sin", "exp", "sqrt", "log1p", "arctan", "square", "tanh", "reciprocal", "cbrt"):
        f = getattr(np, name)
        assert numpy.allclose(f(X), getattr(numpy, name)(X))
        assert numpy.allclose(elementwise_grad(f)(X), (f(X + 1e-6) - f(X - 1e-6)) / 2e-6)


def test_vectorize_of_tracers() -> None:
    """Elements are values, so that Python's conditions work; arguments are broadcast, and may be by name."""
    x = numpy.array([[0.5, -1.0, 2.0]])

    def element(a: Any, b: Any = 1.0) -> Any:
        return a**2 * b if a > 0.0 else 0.0

    f = np.vectorize(element)
    assert grad(lambda x: np.sum(f(x)))(x).tolist() == [[1.0, 0.0, 4.0]]
    assert grad(lambda x: np.sum(f(x, b=[[1.0], [2.0]])))(x).tolist() == [[3.0, 0.0, 12.0]]
    assert grad(lambda b: np.sum(f(x, b)))(3.0) == 4.25
    assert jacobian(lambda x: f(x))(x).shape == (1, 3, 1, 3)
    assert grad(lambda b: np.sum(np.vectorize(lambda a: a * b)(x)))(3.0) == 1.5
    assert grad(lambda x: f([x, 2.0 * x])[1])(3.0) == 24.0
    assert isinstance(f, numpy.vectorize)
    assert numpy.array_equal(f(x), [[0.25, 0.0, 4.0]])


def test_vectorize_options() -> None:
    scaled = grad(lambda y: np.sum(np.vectorize(lambda x: x * y, otypes=[float])(numpy.array([1.0, 2.0]))))
    assert scaled(3.0) == 3.0
    x = numpy.array([0.5, -1.0, 2.0])
    pair = np.vectorize(lambda a: (a, a**2))
    assert grad(lambda x: np.sum(pair(x)[1] * 2.0))(x).tolist() == [2.0, -4.0, 8.0]
    horner = np.vectorize(lambda p, a: p[0] * a + p[1], excluded=[0])
    assert grad(lambda p: np.sum(horner(p, x)))([1.0, 2.0]) == [1.5, 3.0]
    assert np.vectorize(lambda a: a, otypes=[numpy.float32])(x).dtype == numpy.float32
    found = jacobian(lambda x: np.astype(np.vectorize(lambda a: 2.0 * a, otypes="f")(x), float))(x)
    assert numpy.array_equal(found, 2.0 * numpy.eye(3))
    dot = np.vectorize(lambda a, b: a @ b, signature="(n),(n)->()")
    assert grad(lambda x: dot(x, numpy.ones(3)))(x).tolist() == [1.0, 1.0, 1.0]

    @np.vectorize
    def square(a: Any) -> Any:
        """Returns a square."""
        return a * a

    assert square.__doc__ == "Returns a square."
    assert grad(lambda x: np.sum(square(x)))(x).tolist() == [1.0, -2.0, 4.0]
    with pytest.raises(ValueError, match="vectorize: expected at least one element"):
        grad(lambda x: np.sum(square(x)))(numpy.zeros(0))
