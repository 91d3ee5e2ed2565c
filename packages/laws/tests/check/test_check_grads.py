"""`check_grads`: right derivatives pass to any order, wrong ones of any mode and order fail, mistakes are explained."""

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from lawful import ops
from lawful.autodiff import stop_gradient, vjp
from lawful.core import ArgumentTypeError, ArgumentValueError, NonArrayError, Primitive
from lawful.custom_rules import custom_jvp, custom_vjp
from lawful.laws import check_grads

x = np.array([0.5, 1.5])


def several(x: Any, y: Any) -> Any:
    return {"a": ops.mul(ops.sin(x), y), "b": [ops.reduce_sum(ops.mul(x, x), (0,))]}


@pytest.mark.parametrize("modes", [("fwd",), ("rev",), ("lin",), ("fwd", "rev"), "fwd"])
@pytest.mark.parametrize("order", [1, 2, 3])
def test_check_grads_right_derivatives_pass(modes: Any, order: int) -> None:
    check_grads(several, (x, 2 * x), order, modes)


def test_check_grads_of_integers_and_python_numbers() -> None:
    check_grads(lambda x, n: ops.mul(x, n), (0.5, 3), 2)
    check_grads(lambda x, n: (ops.mul(x, n), n), (x, np.array([1, 2])), 2)


def test_check_grads_complex_numbers() -> None:
    z = np.array([0.5 + 1j, 1.0 - 2j])
    check_grads(lambda z: ops.mul(z, ops.conj(z)), (z,), 2)
    check_grads(lambda z: ops.real(ops.exp(z)), (z,), 2)


def test_check_grads_narrow_types_need_a_larger_step() -> None:
    narrow = x.astype(np.float32)
    check_grads(ops.sin, (narrow,), 2, eps=1e-2)
    with pytest.raises(AssertionError):
        check_grads(ops.sin, (narrow,), 1, eps=1e-2, atol=1e-9, rtol=1e-9)
    check_grads(ops.sin, (narrow,), 1, eps=1e-2, atol={np.float32: 1e-2}, rtol={np.dtype("float32"): 1e-2})


def test_check_grads_bounds_by_dtype_with_unknown_keys() -> None:
    bounds = {np.float64: 1e-4, ml_dtypes.int2: 0.0}
    check_grads(ops.sin, (0.5,), 2, atol=bounds, rtol=bounds)
    with pytest.raises(AssertionError):
        check_grads(ops.sin, (0.5,), 2, atol={np.float64: 0.0}, rtol={np.float64: 0.0})


@pytest.mark.parametrize(("modes", "text"), [("fwd", "JVP of wrong"), ("rev", "VJP of wrong"), ("lin", "LIN of wrong")])
def test_check_grads_wrong_derivative_fails(modes: str, text: str) -> None:
    def wrong(x: Any) -> Any:
        return ops.mul(stop_gradient(x), x)

    with pytest.raises(
        AssertionError, match=f"check_grads: {text}: expected the .*, got .*; look for the rule"
    ) as caught:
        check_grads(wrong, (x,), 1, modes)
    assert str(caught.value).startswith(__file__)
    assert "wrong(np.array([0.5, 1.5]))" in str(caught.value)


def test_check_grads_derivative_wrong_in_second_order_only(monkeypatch: pytest.MonkeyPatch) -> None:
    def cosine_as_a_constant(primals: Any, tangents: Any) -> Any:
        slope = stop_gradient(ops.cos(primals[0]))
        return ops.sin(primals[0]), ops.mul(slope, tangents[0])

    monkeypatch.setitem(ops.sin_p.rules, "jvp", cosine_as_a_constant)
    check_grads(ops.sin, (x,), 1)
    with pytest.raises(AssertionError, match="JVP of JVP of"):
        check_grads(ops.sin, (x,), 2)
    with pytest.raises(AssertionError, match="VJP of VJP of"):
        check_grads(ops.sin, (x,), 2, modes=["rev"])


def test_check_grads_wrong_primal_output_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    def other(primals: Any, tangents: Any) -> Any:
        return ops.cos(primals[0]), ops.mul(ops.cos(primals[0]), tangents[0])

    monkeypatch.setitem(ops.sin_p.rules, "jvp", other)
    with pytest.raises(AssertionError, match="expected the primal output to be that of the function"):
        check_grads(ops.sin, (x,), 1)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: check_grads(ops.sin, x, 1), ArgumentTypeError, r"expected a tuple of arguments, got array.*\(x,\)"),
        (lambda: check_grads(ops.sin(x), (x,), 1), ArgumentTypeError, "expected a function"),
        (lambda: check_grads(ops.sin, (x,), 0), ArgumentValueError, "expected an order from 1, got 0"),
        (lambda: check_grads(ops.sin, (x,), 1, modes=["forward"]), ArgumentValueError, "modes of .*, got 'forward'"),
        (lambda: check_grads(ops.sin, ("a",), 1), NonArrayError, "expected arrays or numbers"),
        (lambda: check_grads(ops.abs, (np.array([1, 2]),), 1), ArgumentValueError, "expected floating arguments"),
        (lambda: check_grads(Primitive("none").bind, (x,), 1), NotImplementedError, "Evaluation rule for 'none'"),
    ],
)
def test_check_grads_mistake_is_explained(call: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        call()


def test_check_grads_of_a_conversion_passes() -> None:
    """The pairings of cotangents and of tangents have the dtypes of arguments and of results, which differ."""
    check_grads(lambda x: ops.convert_element_type(x, np.float64), (np.array([0.5, 2.0], np.float32),), 2, eps=0.5)


def without_derivative_by(*names: str) -> Any:
    """Returns a function of b, data and scale whose bwd gives None for some arguments."""

    @custom_vjp
    def loglik(b: Any, data: Any, scale: Any) -> Any:
        return ops.mul(scale, ops.reduce_sum(ops.sin(ops.dot(data, b)), axes=(0,)))

    def bwd(residuals: Any, ct: Any) -> Any:
        found = dict(zip(("b", "data", "scale"), vjp(loglik.fun, *residuals)[1](ct), strict=True))
        return tuple(None if name in names else x for name, x in found.items())

    loglik.defvjp(lambda *args: (loglik.fun(*args), args), bwd)
    return loglik


@pytest.mark.parametrize("mode", ["fwd", "rev", "lin"])
def test_check_grads_names_the_argument_without_derivative(mode: str) -> None:
    data = np.linspace(-1.0, 1.0, 60).reshape(20, 3)
    args = (np.array([0.5, -0.25, 1.0]), data, 2.0)
    check_grads(without_derivative_by(), args, 1, [mode])
    with pytest.raises(AssertionError, match=r"\(wrong is the derivative by data, which is zero\); look for") as caught:
        check_grads(without_derivative_by("data"), args, 1, [mode])
    assert "loglik(np.array([0.5, -0.25, 1.0]), f64[20,3], 2.0)" in str(caught.value)
    both = r"\(wrong is the derivative by data, which is zero, and by scale, which is zero\)"
    with pytest.raises(AssertionError, match=both):
        check_grads(without_derivative_by("data", "scale"), args, 1, [mode])
    check_grads(lambda b: without_derivative_by("data", "scale")(b, data, 2.0), args[:1], 1, [mode])


def test_check_grads_shows_the_largest_of_many_differences() -> None:
    @custom_jvp
    def sine(x: Any) -> Any:
        return ops.sin(x)

    sine.defjvp(lambda p, t: (ops.sin(p[0]), ops.mul(t[0], np.where(np.arange(60) == 7, 0.0, np.cos(np.ones(60))))))
    with pytest.raises(
        AssertionError, match=r"expected the tangent to be .*, -?\d\.\d+ at \[7\] of f64\[60\], got -?0\.0; look"
    ):
        check_grads(sine, (np.ones(60),), 1, "fwd")
