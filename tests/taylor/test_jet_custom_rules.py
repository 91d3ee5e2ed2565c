"""``jet`` through functions with rules of their own is the nested ``jvp`` of the same function, eager and compiled."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import lawful.numpy as lnp
from lawful.autodiff import checkpoint, grad, jvp
from lawful.batching import vmap
from lawful.control_flow import cond, custom_linear_solve, custom_root, fori_loop, scan
from lawful.core import NotLinearError
from lawful.custom_rules import SymbolicZero, custom_jvp, custom_rule, custom_vjp, custom_vmap, linear_call
from lawful.staging import jit
from lawful.taylor import jet

ORDER = 3


def _primal(x: Any) -> Any:
    return lnp.sin(x) * x


# The rules differ from the derivative of the function, so that a path around them is seen. They call the function
# itself: the value that a rule computes in another way is differentiated as written.


@custom_vjp
def backward(x: Any) -> Any:
    return _primal(x)


backward.defvjp(lambda x: (backward(x), x), lambda x, ct: (3.0 * ct * lnp.cos(x),))


@custom_vjp
def backward_with_zeros(x: Any) -> Any:
    return _primal(x)


backward_with_zeros.defvjp(
    lambda x: (backward_with_zeros(x.value), x.value),
    lambda x, ct: (0.0 * x if isinstance(ct, SymbolicZero) else 3.0 * ct * lnp.cos(x),),
    symbolic_zeros=True,
)


@custom_jvp
def forward(x: Any) -> Any:
    return _primal(x)


forward.defjvp(lambda primals, tangents: (forward(*primals), 5.0 * tangents[0] * lnp.exp(primals[0])))


@custom_rule
def both(x: Any) -> Any:
    return _primal(x)


both.def_vjp(lambda x: (both(x), x), lambda x, ct: (lnp.clip(ct, -1.0, 1.0),))
both.def_jvp(lambda primals, tangents: (both(*primals), tangents[0] * lnp.cosh(primals[0])))


@custom_vmap
def batched(x: Any) -> Any:
    return _primal(x)


batched.def_vmap(lambda size, in_batched, x: (7.0 * _primal(x), True))

FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "custom_vjp": backward,
    "custom_vjp with symbolic zeros": backward_with_zeros,
    "custom_jvp": forward,
    "custom_rule": both,
    "custom_vmap": batched,
    "vmap of custom_vmap": lambda x: vmap(batched)(lnp.stack([x, 2.0 * x])).sum(),
    "vmap of custom_vjp": lambda x: vmap(backward)(lnp.stack([x, 2.0 * x])).sum(),
    "checkpoint": checkpoint(_primal),
    "checkpoint of custom_vjp": checkpoint(lambda x: backward(lnp.sin(x)) * x),
    "scan of custom_vjp": lambda x: scan(lambda c, _: (backward(c), None), x, None, length=2)[0],
    "cond of both": lambda x: cond(x > 0, backward, forward, x),
    "loop of custom_vjp": lambda x: fori_loop(0, 2, lambda i, c: 0.5 * backward(c), x),
    "custom_linear_solve": lambda x: custom_linear_solve(
        lambda y: x * y, 1.0 + x, lambda mv, b: b / x, lambda mv, b: b / x
    ),
    "custom_root": lambda x: custom_root(lambda y: y * y - x, 1.0, lambda f, y: lnp.sqrt(x), lambda f, y: y / f(1.0)),
    "linear_call": lambda x: linear_call(lambda r, y: r * y, lambda r, ct: r * ct, x * x, x),
    "jvp of custom_vjp": lambda x: jvp(backward, (x,), (x * x,))[1],
    "grad of custom_vjp": grad(backward),
}


def nested(function: Callable[[Any], Any], x: float) -> list[float]:
    found = [float(function(x))]
    for _ in range(ORDER):
        function = (lambda inner: lambda y: jvp(inner, (y,), (1.0,))[1])(function)
        found.append(float(function(x)))
    return found


@pytest.mark.parametrize("name", FUNCTIONS)
def test_jet_of_custom_rules_is_nested_jvp(name: str) -> None:
    function, x = FUNCTIONS[name], 0.7
    series = [1.0, *[0.0] * (ORDER - 1)]
    expected = nested(function, x)
    for transformed in (
        lambda x: jet(function, (x,), (series,)),
        lambda x: jet(jit(function), (x,), (series,)),
        jit(lambda x: jet(function, (x,), (series,))),
    ):
        value, derivatives = transformed(x)
        np.testing.assert_allclose([value, *derivatives], expected, rtol=1e-10, atol=1e-10)


def test_jet_needs_a_linear_bwd() -> None:
    @custom_vjp
    def clip_gradient(x: Any) -> Any:
        return x

    clip_gradient.defvjp(lambda x: (x, None), lambda _, ct: (lnp.clip(ct, -1.0, 1.0),))
    with pytest.raises(NotLinearError, match="bwd that is linear"):
        jet(clip_gradient, (2.0,), ([1.0],))
