"""The operators: their argument numbers, results, and errors."""

from typing import Any

import numpy
import pytest

import lawful.autograd.numpy as np
from lawful.autograd import (
    checkpoint,
    deriv,
    elementwise_grad,
    grad,
    grad_and_aux,
    grad_named,
    hessian,
    hessian_tensor_product,
    hessian_vector_product,
    holomorphic_grad,
    jacobian,
    make_ggnvp,
    make_hvp,
    make_jvp,
    make_jvp_reversemode,
    make_vjp,
    multigrad_dict,
    tensor_jacobian_product,
    value_and_grad,
    vector_jacobian_product,
)
from lawful.autograd.tracer import isbox
from lawful.batching import vmap
from lawful.core import ArgumentIndexError
from lawful.staging import jit

X = numpy.array([0.5, -1.0, 2.0])
A = numpy.arange(6.0).reshape(2, 3)


def cubic(x: Any) -> Any:
    return np.sum(x**3)


def test_grad_argnum() -> None:
    def f(x: Any, y: Any, *, k: float) -> Any:
        return k * x * y**2

    assert grad(f)(2.0, 3.0, k=2.0) == 18.0
    assert grad(f, 1)(2.0, 3.0, k=2.0) == 24.0
    assert grad(f, (0, 1))(2.0, 3.0, k=2.0) == (18.0, 24.0)
    assert grad(f, [1])(2.0, 3.0, k=2.0) == (24.0,)
    assert grad(f).__name__ == "grad_of_f_wrt_argnum_0"
    with pytest.raises(TypeError, match="argnum: expected an integer"):
        grad(f, "x")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "operator", [grad, value_and_grad, elementwise_grad, jacobian, hessian, make_vjp, make_jvp, deriv, make_hvp]
)
@pytest.mark.parametrize(("argnum", "args", "kwargs"), [(1, (2.0,), {}), (-2, (2.0,), {}), (0, (), {"v": 2.0})])
def test_argnum_beyond_positions(operator: Any, argnum: int, args: Any, kwargs: Any) -> None:
    with pytest.raises(IndexError, match=f"argnum: .*, got argnum {argnum} of {len(args)} positional") as error:
        operator(lambda v: v * 2.0, argnum)(*args, **kwargs)
    assert isinstance(error.value, ArgumentIndexError)
    with pytest.raises(ArgumentIndexError, match="got argnum 3 of"):
        operator(lambda v: v * 2.0, (0, 3))(2.0)


def test_node_of_boxes() -> None:
    """This attribute of Autograd's boxes is absent, and the error names the function to use."""
    with pytest.raises(AttributeError, match="has no attribute '_node'; use lawful"):
        grad(lambda v: v._node)(1.0)
    assert grad(lambda v: 2.0 * v if hasattr(v, "_node") else 3.0 * v)(1.0) == 3.0


def test_value_of_boxes() -> None:
    def unboxed(v: Any) -> Any:
        while isbox(v):
            v = v._value
        return v

    assert grad(lambda v: v * unboxed(v))(3.0) == 3.0
    assert grad(grad(lambda v: v * v * unboxed(v)))(3.0) == 6.0
    with pytest.raises(AttributeError, match="under jit or vmap has no attribute '_value'"):
        jit(unboxed)(3.0)


def test_grad_of_containers() -> None:
    def f(p: Any) -> Any:
        return p["a"] * p["b"][0] + np.sum(p["b"][1])

    gradient = grad(f)({"a": 2.0, "b": [3.0, X]})
    assert gradient["a"] == 3.0
    assert gradient["b"][0] == 2.0
    assert gradient["b"][1].tolist() == [1.0, 1.0, 1.0]


@pytest.mark.parametrize("shape", [(1,), (1, 1)])
def test_value_and_grad_of_one_element(shape: tuple[int, ...]) -> None:
    def f(x: Any) -> Any:
        return np.reshape(cubic(x), shape)

    value, gradient = value_and_grad(f)(X)
    assert value.shape == shape
    assert value.item() == cubic(X)
    assert numpy.allclose(gradient, 3 * X**2)
    assert numpy.allclose(grad(f)(X), 3 * X**2)
    assert numpy.allclose(jacobian(grad(f))(X), numpy.diag(6 * X))


def test_value_and_grad_after_an_error() -> None:
    """A shape that a failed call left behind is not taken for that of a later one."""

    def f(x: Any) -> Any:
        if x.shape == (3,):
            raise RuntimeError("stop")
        return np.reshape(np.sum(x), (1,))

    both = value_and_grad(f)
    with pytest.raises(RuntimeError, match="stop"):
        both(X)
    assert both(X[:2])[0].shape == (1,)
    assert value_and_grad(cubic)(X)[0].shape == ()


@pytest.mark.parametrize("operator", [grad, value_and_grad])
def test_grad_of_other_results_is_refused(operator: Any) -> None:
    for f in (lambda x: x, lambda x: x[0] * 1j, lambda x: (x[0], x[1]), lambda x: None):
        with pytest.raises(TypeError, match=r"(only applies to|that returns) (a )?real"):
            operator(f)(X)


def test_grad_of_integers() -> None:
    with pytest.raises(TypeError, match=r"Can't differentiate w\.r\.t\. type <class 'int'>"):
        grad(lambda x: x**2)(3)
    gradient = grad(lambda x: np.sum(x**2))(numpy.array([1, 2]))
    assert gradient.dtype == float
    assert gradient.tolist() == [2.0, 4.0]


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ([1, 2], r"<class 'int'>: .* got 1 at \[0\] of the argument; write it as a float, 1\.0, or leave it out"),
        ({"x": 2.5, "shape": 3}, r"got 3 at \['shape'\] of the argument; write it as a float, 3\.0"),
        ((2.5, {"z": 1.0, "n": numpy.int64(3)}), r"numpy\.int64'>: .* at \[1\]\['n'\]"),
        ([2.5, True], r"<class 'bool'>: .* at \[1\]"),
        ([2.5, {"name": "weibull"}], r"<class 'str'>: .* at \[1\]\['name'\] of the argument; convert it"),
    ],
)
def test_grad_of_integer_leaves_is_refused(argument: Any, message: str) -> None:
    f = lambda v: 1.0  # noqa: E731  # not called
    for operator in (grad, value_and_grad, elementwise_grad, jacobian, hessian, make_hvp, grad_and_aux):
        with pytest.raises(TypeError, match=r"Can't differentiate w\.r\.t\. type .*" + message):
            operator(f)(argument)
    for operator in (make_vjp, make_jvp):
        with pytest.raises(TypeError, match=message):
            operator(f)(argument)(argument)
    with pytest.raises(TypeError, match=message):
        grad(f, 1)(2.0, argument)


def test_grad_of_integer_arrays_in_containers() -> None:
    gradient = grad(lambda v: np.sum(v["n"][0] ** 2) * v["x"])({"x": 2.0, "n": [numpy.array([1, 2])]})
    assert gradient["n"][0].dtype == float
    assert gradient["n"][0].tolist() == [4.0, 8.0]
    by_tracers = vmap(grad(lambda v: v["n"] ** 2 * v["x"]))({"x": numpy.ones(2), "n": numpy.array([1, 2])})
    assert by_tracers["n"].tolist() == [2.0, 4.0]


class Rows:
    """Rows of numbers that NumPy converts, as those of pandas are."""

    def __len__(self) -> int:
        return 3

    def __repr__(self) -> str:
        return "0  0.5\n1  1.5"

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return numpy.array([1.0, 2.0, 3.0])


class Series(Rows):
    def to_numpy(self, dtype: Any = None) -> Any:
        return self.__array__(dtype)


@pytest.mark.parametrize(("argument", "where"), [(Series(), ""), ([1.0, Series()], r" at \[1\] of the argument")])
def test_grad_of_series_gives_its_length(argument: Any, where: str) -> None:
    with pytest.raises(TypeError, match=rf"got a Series of length 3{where}; convert it with to_numpy\(float\)") as e:
        grad(np.sum)(argument)
    assert "\n" not in str(e.value)
    with pytest.raises(TypeError, match=r"got a Rows of length 3; convert it with numpy\.asarray$"):
        grad(np.sum)(Rows())


@pytest.mark.parametrize("f", [lambda x: x, lambda x: x * x, lambda x: 3.0 * np.sin(x)])
def test_results_of_python_numbers(f: Any) -> None:
    """They are NumPy's numbers, which have a shape, a dtype and the methods of arrays."""
    results = [
        grad(f)(2.0),
        *value_and_grad(f)(2.0),
        *grad(lambda p: f(p["x"]) + f(p["y"][0]))({"x": 2.0, "y": [3.0]}).values(),
        elementwise_grad(f)(2.0),
        jacobian(f)(2.0),
        hessian(lambda x: f(x) ** 2)(2.0),
        deriv(f)(2.0),
        make_vjp(f)(2.0)[1],
        make_vjp(f)(2.0)[0](1.0),
        *make_jvp(f)(2.0)(1.0),
        make_hvp(lambda x: f(x) ** 2)(2.0)[1],
        make_hvp(lambda x: f(x) ** 2)(2.0)[0](1.0),
        *grad(f, (0,))(2.0),
    ]
    numbers = [x[0] if isinstance(x, list) else x for x in results]
    assert all([x.shape == () and x.dtype == float and type(x.item()) is float for x in numbers])
    assert isinstance(grad(f)(2.0), numpy.float64)
    assert isinstance(holomorphic_grad(f)(2.0 + 1.0j), numpy.complex128)


def test_independent_result_warns() -> None:
    for operator in (grad, jacobian, elementwise_grad):
        with pytest.warns(UserWarning, match="Output seems independent of input"):
            assert operator(lambda x: 3.0)(2.0) == 0.0
    with pytest.warns(UserWarning, match="independent"):
        assert grad(lambda x: grad(lambda y: x)(1.0) + x)(2.0) == 1.0


def test_elementwise_grad() -> None:
    assert numpy.allclose(elementwise_grad(np.sin)(X), numpy.cos(X))
    assert numpy.allclose(elementwise_grad(lambda x: (x**2, x))(X), 2 * X + 1)
    assert numpy.allclose(elementwise_grad(elementwise_grad(np.sin))(X), -numpy.sin(X))
    with pytest.raises(TypeError, match="only applies to real-output"):
        elementwise_grad(lambda x: x * 1j)(X)


def test_jacobian_shapes() -> None:
    f = lambda x, y: np.outer(x, y)  # noqa: E731
    y = numpy.array([1.0, 2.0])
    assert jacobian(f)(X, y).shape == (3, 2, 3)
    assert jacobian(f, 1)(X, y).shape == (3, 2, 2)
    assert [j.shape for j in jacobian(f, (0, 1))(X, y)] == [(3, 2, 3), (3, 2, 2)]
    assert jacobian(lambda x: x**2)(3.0) == 6.0


def test_hessian_products() -> None:
    second = numpy.diag(6 * X)
    v = numpy.array([1.0, 2.0, 3.0])
    assert numpy.allclose(hessian(cubic)(X), second)
    assert numpy.allclose(hessian_vector_product(cubic)(X, v), second @ v)
    assert numpy.allclose(hessian_tensor_product(cubic)(X, v), second @ v)
    product, gradient = make_hvp(cubic)(X)
    assert numpy.allclose(product(v), second @ v)
    assert numpy.allclose(gradient, 3 * X**2)


def test_jacobian_products() -> None:
    f = lambda x: A @ x  # noqa: E731
    w, v = numpy.array([1.0, -1.0]), numpy.array([1.0, 2.0, 3.0])
    assert numpy.allclose(vector_jacobian_product(f)(X, w), w @ A)
    assert numpy.allclose(tensor_jacobian_product(f)(X, w), w @ A)
    assert numpy.allclose(make_jvp_reversemode(f)(X)(v), A @ v)
    pull, value = make_vjp(f)(X)
    assert numpy.allclose(value, A @ X)
    assert numpy.allclose(pull(w), w @ A)
    assert numpy.allclose(pull([1, -1]), w @ A)
    value, tangent = make_jvp(f)(X)(v)
    assert numpy.allclose(value, A @ X)
    assert numpy.allclose(tangent, A @ v)
    assert numpy.allclose(make_ggnvp(f)(X)(v), A.T @ A @ v)


def test_make_vjp_of_trees() -> None:
    pull, value = make_vjp(lambda p: {"s": p[0] * p[1], "t": p[1]}, 0)((2.0, 3.0))
    assert value == {"s": 6.0, "t": 3.0}
    assert pull({"s": 1.0, "t": 10}) == (3.0, 12.0)
    with pytest.raises(ValueError, match="derivative: expected a tree like the value"):
        pull({"s": 1.0})


def test_deriv_and_holomorphic_grad() -> None:
    assert deriv(lambda x: x**3)(2.0) == 12.0
    assert holomorphic_grad(lambda z: z**2)(1.0 + 2.0j) == 2.0 + 4.0j
    with pytest.warns(UserWarning, match="not complex"):
        holomorphic_grad(lambda z: z * (1.0 + 0j))(2.0)


def test_grad_by_name() -> None:
    def f(a: Any, b: Any, c: float = 2.0) -> Any:
        return a * b**2 * c

    assert grad_named(f, "b")(1.0, 3.0) == 12.0
    assert multigrad_dict(f)(1.0, b=3.0) == {"a": 18.0, "b": 12.0, "c": 9.0}
    assert grad_and_aux(lambda x: (x**2, {"x": x}))(3.0) == (6.0, {"x": 3.0})


def test_checkpoint_runs_again() -> None:
    calls = []

    def f(x: Any, y: Any) -> Any:
        calls.append(1)
        return np.sin(x) * y if np.sum(x) > 0 else x

    expected = grad(f, (0, 1))(0.5, 2.0)
    calls.clear()
    assert grad(checkpoint(f), (0, 1))(0.5, 2.0) == expected
    assert len(calls) == 3  # of the value, and of the pullback by each argument
    assert grad(grad(checkpoint(f)))(0.5, 2.0) == grad(grad(f))(0.5, 2.0)


def test_checkpoint_beside_integers() -> None:
    """Values beside a tracer in a container do not change."""

    @checkpoint
    def f(p: Any) -> Any:
        return np.sum(p["x"][p["index"]] ** p["n"])

    gradient = grad(lambda x: f({"x": x, "index": numpy.array([0, 2]), "n": 3}))(X)
    assert numpy.allclose(gradient, 3.0 * X**2 * [1.0, 0.0, 1.0])
