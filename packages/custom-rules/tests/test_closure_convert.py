"""``closure_convert``: what a function closes over of enclosing transformations, as arguments."""

import numpy as np
import pytest

from lawful.autodiff import grad, jvp, vjp
from lawful.batching import vmap
from lawful.core import ArgumentTypeError, NonArrayError, get_aval
from lawful.custom_rules import closure_convert
from lawful.ops import cos, dot, mul, reduce_sum, sin
from lawful.staging import ShapeDtypeStruct, jit, make_jaxpr

X = np.array([0.3, -0.7])
W = np.array([[0.2, -0.5], [0.7, 0.1]])


def test_closure_convert_outside_of_transformations(require_same):
    converted, consts = closure_convert(lambda x: dot(W, x), X)
    assert consts == []
    require_same(converted(2.0 * X), dot(W, 2.0 * X))


def test_closure_convert_hoists_tracers():
    seen = []

    def f(w, x):
        converted, consts = closure_convert(lambda y: {"a": sin(dot(w, y)), "b": W}, x)
        seen.append([get_aval(c) for c in consts])
        return reduce_sum(converted(x, *consts)["a"], (0,))

    def plain(w, x):
        return reduce_sum(sin(dot(w, x)), (0,))

    np.testing.assert_allclose(grad(f)(W, X), grad(plain)(W, X))
    assert seen == [[get_aval(W)]]
    np.testing.assert_allclose(jvp(f, (W, X), (W, X))[1], jvp(plain, (W, X), (W, X))[1])
    np.testing.assert_allclose(jit(grad(f), backend="numpy")(W, X), grad(plain)(W, X))
    np.testing.assert_allclose(vmap(f, (0, None))(np.stack([W, 2.0 * W]), X), [plain(W, X), plain(2.0 * W, X)])


def test_closure_convert_result_holds_no_tracers():
    """With constants of one's own it is a function of them, and the derivative by the original ones is zero."""

    def f(x):
        converted, consts = closure_convert(lambda y: x * y, 1.0)
        (const,) = consts
        return converted(5.0, 2.0 + 0.0 * const), const

    assert vjp(f, 3.0, has_aux=True)[0] == 10.0
    assert grad(f, has_aux=True)(3.0)[0] == 0.0


def test_closure_convert_integer_tracers():
    def f(x, n):
        converted, consts = closure_convert(lambda y: x * y * n, 1.0)
        assert [get_aval(c).dtype for c in consts] == [np.float64]
        return converted(5.0, *consts)

    closed = make_jaxpr(f)(2.0, 3)
    assert len(closed.eqns) > 0
    assert jit(f, backend="numpy")(2.0, 3) == 30.0
    assert grad(f)(2.0, 3) == 15.0


def test_closure_convert_with_shape_dtype_structs():
    converted, consts = closure_convert(lambda x: cos(x["a"]), {"a": ShapeDtypeStruct((2,), "float64")})
    np.testing.assert_allclose(converted({"a": X}, *consts), np.cos(X))


def test_closure_convert_weak_argument():
    converted, consts = closure_convert(lambda x: mul(x, 2.0), 1.0)
    assert converted(np.float64(3.0), *consts) == 6.0


def test_closure_convert_argument_errors():
    converted, consts = closure_convert(sin, X)
    with pytest.raises(ArgumentTypeError, match="closure_convert of sin: expected 1 arguments and then the 0 const"):
        converted(X, X)
    with pytest.raises(ArgumentTypeError, match=r"expected arguments of the types of the example, f64\[2\]"):
        converted(np.ones(3))
    with pytest.raises(ArgumentTypeError, match="expected arguments of the same tree as the example arguments"):
        converted((X,))
    with pytest.raises(NonArrayError, match="closure_convert of sin: expected arrays or numbers as arguments"):
        closure_convert(sin, "x")
    with pytest.raises(ArgumentTypeError, match="closure_convert: expected a function, got"):
        closure_convert(X)
    assert consts == []
