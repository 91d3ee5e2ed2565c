"""The residuals of reverse mode, and the text of their origins."""

import functools
import math

import numpy as np
import pytest

from lawful.autodiff import (
    checkpoint,
    checkpoint_name,
    checkpoint_policies,
    print_saved_residuals,
    saved_residuals,
    vjp,
)
from lawful.core import ArgumentTypeError, NonArrayError, ShapedArray, get_aval
from lawful.ops import add, cos, dot, mul, sin
from lawful.staging import ShapeDtypeStruct, jit

X = np.array([0.3, -0.7])
W = np.array([[0.2, -0.5], [0.7, 0.1]])


def origins(f, *args, **kwargs):
    return [origin for _, origin in saved_residuals(f, *args, **kwargs)]


def line(function, offset):
    return f"{__file__}:{function.__code__.co_firstlineno + offset}"


def model(params, x, *rest, scale=1.0, **others):
    h = sin(dot(params["w"], x))
    h = checkpoint_name(h, "h")
    return mul(sin(mul(h, h)), mul(mul(rest[0], scale), others["shift"]))


def test_saved_residuals_each_value_has_its_origin():
    found = saved_residuals(model, {"w": W, "b": X}, X, X, scale=2.0 * X, shift=X)
    assert [origin for _, origin in found if origin.startswith("the argument")] == [
        "the argument params['w']",
        "the argument x",
        "the argument rest[0]",
        "the argument scale",
        "the argument shift",
    ]
    others = [origin for _, origin in found if not origin.startswith("the argument")]
    assert others == [
        f"output of cos at {line(model, 1)} (model)",
        f"named 'h' at {line(model, 2)} (model)",
        *[f"output of {name} at {line(model, 3)} (model)" for name in ("sin", "cos", "mul", "mul")],
    ]
    assert found[0][0] == ShapedArray((2, 2), np.float64)


def test_saved_residuals_constants_and_literals():
    c = np.array([1.0, 2.0])
    assert origins(lambda x: mul(x, c), X) == ["a constant"]
    assert origins(lambda x: mul(x, 2.0), 1.0) == []  # a number stands in the program
    assert origins(lambda x: add(x, c), X) == []
    assert origins(jit(lambda x: mul(x, c)), X) == ["a constant"]


def test_saved_residuals_calls_are_looked_into():
    for wrap in (jit, functools.partial(checkpoint, policy=checkpoint_policies.everything_saveable)):
        f = wrap(lambda x, y: (x, sin(mul(x, y))))

        def g(x, y, f=f):
            return f(*f(x, y))

        found = origins(g, X, X)
        assert set(map(kind, found)) == {"the argument x", "the argument y", "output of cos", "output of sin"}


def kind(origin):
    return origin.split(" at ")[0]


def test_saved_residuals_are_the_constants_of_vjp():
    for f in (model, checkpoint(model), checkpoint(model, policy=checkpoint_policies.dots_saveable)):
        args = {"w": W}, X, X
        kept = vjp(lambda *args, f=f: f(*args, shift=X), *args)[1].jaxpr.consts
        found = saved_residuals(functools.partial(f, shift=X), *args)
        assert sorted(map(str, map(get_aval, kept))) == sorted(str(aval) for aval, _ in found)


def test_saved_residuals_only_types_of_arguments_matter():
    assert origins(lambda x: sin(cos(x)), ShapeDtypeStruct((10**6, 10**6), "float32")) != []


def test_saved_residuals_argument_names_without_a_signature():
    class Callable:
        def __call__(self, *values):
            return mul(*values)

    assert origins(Callable(), X, X) == ["the argument values[0]", "the argument values[1]"]
    assert origins(functools.partial(mul, X), X) == ["a constant"]


def test_saved_residuals_prints_a_line_for_each_value(capsys):
    print_saved_residuals(lambda x, y: sin(x) * y, X, X)
    at = f"{line(test_saved_residuals_prints_a_line_for_each_value, 1)} (<lambda>)"
    assert capsys.readouterr().out == (
        f"f64[2]: the argument y\nf64[2]: output of sin at {at}\nf64[2]: output of cos at {at}\n"
    )


def test_saved_residuals_mistakes():
    with pytest.raises(
        ArgumentTypeError, match=r"saved_residuals: expected a function, got .*; write saved_residuals\(f, …\), not"
    ):
        saved_residuals(1.0)
    with pytest.raises(NonArrayError, match="saved_residuals of sin: expected arrays or numbers as arguments, got 'a'"):
        saved_residuals(math.sin, "a")
