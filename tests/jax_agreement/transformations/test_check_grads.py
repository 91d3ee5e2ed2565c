"""`check_grads` accepts and rejects what `jax.test_util.check_grads` does, of the same functions and wrong rules."""

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.test_util import check_grads as jax_check_grads

import lawful.numpy as lnp
from lawful import ops
from lawful.core import Primitive, ShapedArray, instantiate_zeros
from lawful.laws import check_grads

x, y = np.array([0.5, 1.5]), np.array([1.25, -0.75])
z = np.array([0.5 + 1j, 1.0 - 2j])
MODES = (("fwd",), ("rev",), ("fwd", "rev"))


def verdict(checker: Callable[..., None], function: Any, args: Sequence[Any], *rest: Any, **options: Any) -> bool:
    try:
        checker(function, args, *rest, **options)
    except AssertionError:
        return False
    return True


SMOOTH: dict[str, tuple[Callable[[Any], Callable[..., Any]], tuple[Any, ...]]] = {
    "product": (lambda np: lambda x, y: np.sin(x) * y, (x, y)),
    "tree": (lambda np: lambda x, y: {"a": np.sum(x * x), "b": (np.exp(y),)}, (x, y)),
    "scalar": (lambda np: lambda x: x * np.cos(x), (0.5,)),
    "matrix product": (lambda np: lambda x: np.matmul(x, x), (np.ones((2, 2)) * 0.3,)),
    "complex": (lambda np: lambda z: z * np.conj(z), (z,)),
    "real part": (lambda np: lambda z: np.real(np.exp(z)), (z,)),
    # A step at a kink gives the mean of both slopes, which no derivative is.
    "kink": (lambda np: lambda x: np.abs(x - 0.5), (x,)),
}


@pytest.mark.parametrize("modes", MODES, ids=" ".join)
@pytest.mark.parametrize("name", SMOOTH)
def test_check_grads_functions(name: str, modes: tuple[str, ...]) -> None:
    function, args = SMOOTH[name]
    for order in (1, 2):
        ours = verdict(check_grads, function(lnp), args, order, modes)
        assert ours == verdict(jax_check_grads, function(jnp), args, order, modes)


def our_wrong(tangent: Callable[..., Any]) -> Callable[..., Any]:
    primitive = Primitive("wrong_sine")
    primitive.def_impl(np.sin)
    primitive.def_abstract_eval(lambda x: ShapedArray(x.shape, x.dtype))
    primitive.def_jvp(
        lambda primals, tangents: (primitive.bind(*primals), tangent(lnp, *primals, instantiate_zeros(*tangents)))
    )
    return lambda x: primitive.bind(x)


def their_wrong(tangent: Callable[..., Any]) -> Callable[..., Any]:
    @jax.custom_jvp
    def sine(x: Any) -> Any:
        return jnp.sin(x)

    sine.defjvp(lambda primals, tangents: (sine(*primals), tangent(jnp, *primals, *tangents)))
    return sine


RULES: dict[str, Callable[..., Any]] = {
    "right": lambda np, x, t: np.cos(x) * t,
    "sign": lambda np, x, t: -np.cos(x) * t,
    "factor": lambda np, x, t: 1.001 * np.cos(x) * t,
    "below the bound": lambda np, x, t: (1 + 1e-7) * np.cos(x) * t,
    "zero": lambda np, x, t: 0.0 * t,
}


@pytest.mark.parametrize(("rule", "modes"), list(product(RULES, MODES)), ids=str)
def test_check_grads_rules(rule: str, modes: tuple[str, ...]) -> None:
    for order in (1, 2, 3):
        ours = verdict(check_grads, our_wrong(RULES[rule]), (x,), order, modes)
        theirs = verdict(jax_check_grads, their_wrong(RULES[rule]), (x,), order, modes)
        assert ours == theirs == (rule in ("right", "below the bound"))


@pytest.mark.parametrize(
    ("options", "accepted"),
    [
        ({"eps": 1e-2}, True),
        ({"eps": 1e-2, "atol": 1e-9, "rtol": 1e-9}, False),
        ({"eps": 1e-2, "atol": {np.float32: 1e-9}, "rtol": 1e-9}, False),
    ],
)
def test_check_grads_bounds_of_narrow_types(options: Any, accepted: bool) -> None:
    narrow = x.astype(np.float32)
    assert verdict(check_grads, ops.sin, (narrow,), 1, **options) is accepted
    assert verdict(jax_check_grads, jnp.sin, (narrow,), 1, **options) is accepted
