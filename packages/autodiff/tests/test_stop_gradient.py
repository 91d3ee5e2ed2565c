"""`stop_gradient`: the value stays, and is a constant to every derivative."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from lawful.autodiff import grad, hessian, jvp, linearize, stop_gradient, vjp
from lawful.batching import vmap
from lawful.core import NonArrayError, alpha_equivalent, get_aval, parse_jaxpr
from lawful.staging import jit as jit_by
from lawful.staging import make_jaxpr

jit = partial(jit_by, backend="numpy")


def test_stop_gradient_is_the_identity(require_same: Callable[..., None]) -> None:
    value = {"f": np.ones(2, np.float32), "i": [3, np.int8(4)], "b": True, "c": 1j, "none": None}
    require_same(stop_gradient(value), value)
    require_same(jit(stop_gradient)(value), value)


def test_stop_gradient_every_derivative_takes_it_for_a_constant(require_same: Callable[..., None]) -> None:
    assert grad(lambda x: x * stop_gradient(x))(3.0) == 3.0
    assert grad(lambda x: stop_gradient(x * x))(3.0) == 0.0
    assert grad(grad(lambda x: x * stop_gradient(x)))(3.0) == 0.0
    assert jvp(stop_gradient, (3.0,), (1.0,)) == (3.0, 0.0)
    assert linearize(stop_gradient, 3.0)[1](1.0) == 0.0
    assert vjp(stop_gradient, 3.0)[1](1.0) == (0.0,)
    require_same(hessian(lambda x: x[0] * stop_gradient(x[1]) * x[1])(np.ones(2)), np.array([[0.0, 1.0], [1.0, 0.0]]))


def test_stop_gradient_parts_of_a_tree_may_be_stopped() -> None:
    assert grad(lambda d: d["a"] * stop_gradient(d)["a"] * d["b"])({"a": 3.0, "b": 2.0}) == {"a": 6.0, "b": 9.0}


@pytest.mark.parametrize("wrap", [jit, vmap, lambda f: jit(vmap(f)), lambda f: vmap(jit(f))])
def test_stop_gradient_under_jit_and_vmap(wrap: Any) -> None:
    x = np.array([3.0, 4.0]) if wrap is not jit else 3.0
    np.testing.assert_array_equal(wrap(grad(lambda x: x * stop_gradient(x)))(x), x)
    np.testing.assert_array_equal(wrap(stop_gradient)(x), x)


def test_stop_gradient_inside_jit_that_is_differentiated() -> None:
    assert grad(jit(lambda x: x * jit(stop_gradient)(x)))(3.0) == 3.0


def test_stop_gradient_stands_in_the_program() -> None:
    closed = make_jaxpr(lambda x: stop_gradient(x) * x)(np.float64(1.0))
    assert [eqn.primitive.name for eqn in closed.eqns] == ["stop_gradient", "mul"]
    assert alpha_equivalent(parse_jaxpr(str(closed)), closed)


def test_stop_gradient_weakness_is_kept() -> None:
    assert get_aval(stop_gradient(3.0)).weak_type
    assert make_jaxpr(stop_gradient)(3.0).out_avals[0].weak_type


def test_stop_gradient_refuses_non_arrays() -> None:
    with pytest.raises(NonArrayError, match="got 'a' of type str"):
        stop_gradient({"a": "a"})
