"""Forward mode of a `custom_vjp` is derived from its `bwd`, for each op by which something else may enter a cotangent.

If `bwd` is affine or not linear, forward mode is refused. Otherwise its tangent is the transposed matrix of `bwd` times
the tangent of the argument.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import lawful.numpy as lnp
from lawful.autodiff import jvp, stop_gradient, vjp
from lawful.control_flow import cond, fori_loop, map, scan
from lawful.core import NotLinearError
from lawful.custom_rules import custom_vjp
from lawful.jax import lax
from lawful.ops import at
from lawful.staging import jit as jit_by

jit = partial(jit_by, backend="numpy")
Function = Callable[..., Any]
XS, TS = np.array([0.5, -1.0, 2.0]), np.array([0.3, 1.7, -0.6])
OUTSIDE = np.array([0, 5, 2])
MASK = np.array([True, False, True])

#: Rules by the constant `c` and the cotangent `t`, linear for the constant 0.0.
FILLING: dict[str, Function] = {
    "add": lambda c, t: t + c,
    "sub": lambda c, t: c - t,
    "addition of scaled": lambda c, t: 2.0 * t + 3.0 * c,
    "where": lambda c, t: lnp.where(MASK, t, c),
    "where of the other": lambda c, t: lnp.where(MASK, c, t),
    "where of a value": lambda c, t: lnp.where(XS > 0.0, t, lnp.full_like(XS, c)),
    "select": lambda c, t: lnp.select([MASK, ~MASK], [t, lnp.full(3, c)]),
    "select by default": lambda c, t: lnp.select([MASK], [t], c),
    "choose": lambda c, t: lnp.choose(np.array([0, 1, 0]), [t, lnp.full(3, c)]),
    "piecewise": lambda c, t: lnp.where(MASK, t, 0.0) + lnp.piecewise(XS, [XS > 1.0], [c, 0.0]),
    "pad": lambda c, t: lnp.pad(t[:2], (0, 1), constant_values=c),
    "lax.pad": lambda c, t: lax.pad(t[:2], np.float64(c), [(1, 0, 0)]),
    "concatenate": lambda c, t: lnp.concatenate([t[1:], lnp.full(1, c)]),
    "stack": lambda c, t: lnp.stack([t, lnp.full(3, c)])[:, 1:].reshape(4)[:3],
    "append": lambda c, t: lnp.append(t[:2], c),
    "insert": lambda c, t: lnp.insert(t[:2], 1, c),
    "take": lambda c, t: lnp.take(t, OUTSIDE, mode="fill", fill_value=c),
    "take of known values": lambda c, t: t + lnp.take(lnp.zeros(3), OUTSIDE, mode="fill", fill_value=c),
    "take in a call": lambda c, t: jit(lambda t: lnp.take(t, OUTSIDE, mode="fill", fill_value=c))(t),
    "at.get": lambda c, t: at(t)[OUTSIDE].get(mode="fill", fill_value=c),
    "at.set": lambda c, t: at(t)[1].set(c),
    "at.add": lambda c, t: at(t)[1].add(c),
    "at.set into": lambda c, t: at(lnp.full(3, c))[1:].set(t[1:]),
    "at.add into": lambda c, t: at(lnp.full(3, c))[np.array([0, 2])].add(t[:2]),
    "dynamic_update_slice": lambda c, t: lax.dynamic_update_slice(t, lnp.full(1, c), (1,)),
    "dynamic_update_slice into": lambda c, t: lax.dynamic_update_slice(lnp.full(3, c), t[:2], (1,)),
    "sum of an initial value": lambda c, t: t * 0.5 + lnp.sum(t, initial=c),
    "cumsum": lambda c, t: lnp.cumsum(lnp.concatenate([lnp.full(1, c), t]))[1:],
    "complex": lambda c, t: lnp.real(lax.complex(t, lnp.full(3, c)) * (1.0 + 1.0j)),
    "dot": lambda c, t: lnp.dot(np.arange(12.0).reshape(3, 4), lnp.append(t, c)),
    "interp": lambda c, t: t + lnp.interp(XS, np.array([-2.0, 3.0]), lnp.full(2, c)),
    "tri": lambda c, t: lnp.sum(lnp.tril(lnp.outer(np.ones(3), t)) + c * np.eye(3), 1),
    "fill_diagonal": lambda c, t: lnp.sum(lnp.fill_diagonal(lnp.outer(np.ones(3), t), c, inplace=False), 0),
    "convolve": lambda c, t: lnp.convolve(lnp.append(t, c), np.array([1.0, 2.0]), "same")[1:],
    "cond": lambda c, t: cond(XS[0] > 0.0, lambda t: t + c, lambda t: t, t),
    "scan": lambda c, t: scan(lambda a, x: (a + x, a), c * 1.0, t)[1],
    "fori_loop": lambda c, t: fori_loop(0, 3, lambda i, a: a + t, lnp.full(3, c)),
    "map": lambda c, t: map(lambda x: x + c, t),
    "stop_gradient": lambda c, t: t + stop_gradient(lnp.full(3, c)),
    "linalg.solve": lambda c, t: lnp.linalg.solve(np.diag([1.0, 2.0, 3.0]), t + c),
}
NONLINEAR: dict[str, Function] = {
    "sort": lambda t: lnp.sort(t),
    "argmax": lambda t: t * lnp.argmax(t),
    "argsort": lambda t: t[lnp.argsort(t)],
    "maximum": lambda t: lnp.maximum(t, 0.0),
    "clip": lambda t: lnp.clip(t, -1.0, 1.0),
    "abs": lambda t: lnp.abs(t),
    "sign": lambda t: t * lnp.sign(t),
    "where of a comparison": lambda t: lnp.where(t > 0.0, t, 0.0),
    "where of it": lambda t: lnp.where(lnp.isnan(t), 0.0, t),
    "round": lambda t: lnp.round(t),
    "astype": lambda t: t.astype(int).astype(float),
    "a square": lambda t: t * t,
    "a cube": lambda t: t**3,
    "a root": lambda t: lnp.sqrt(lnp.abs(t)),
    "norm": lambda t: t / (1.0 + lnp.linalg.norm(t)),
    "cumprod": lambda t: lnp.cumprod(t),
    "cummax": lambda t: lax.cummax(t),
    "division by it": lambda t: 1.0 / (2.0 + t),
    "its power": lambda t: t**0,
    "its max": lambda t: t * 0.0 + lnp.max(t),
    "an index": lambda t: XS[lnp.argmax(t)] * t,
    "searchsorted": lambda t: lnp.searchsorted(XS, t) * 1.0,
    "a length of it": lambda t: lnp.sum(t != 0.0) * t,
    "bits": lambda t: lax.bitcast_convert_type(lax.bitcast_convert_type(t, np.int64), np.float64),
    "a loop that it ends": lambda t: lax.while_loop(lambda s: lnp.sum(s) < 9.0, lambda s: s + 1.0, t),
    "a branch by it": lambda t: cond(t[0] > 0.0, lambda t: t, lambda t: -t, t),
    "a scan of products": lambda t: scan(lambda a, x: (a * x, a), 1.0, t)[1],
}


def ruled(bwd: Function) -> Function:
    @custom_vjp
    def g(x: Any) -> Any:
        return x * 2.0

    g.defvjp(lambda x: (g(x), None), lambda _, ct: (bwd(lnp.asarray(ct)),))
    return g


def pushed(g: Function) -> dict[str, Function]:
    """Forward mode, without and with `jit`."""
    return {
        "eager": lambda: jvp(g, (XS,), (TS,))[1],
        "jit": lambda: jit(lambda x, t: jvp(g, (x,), (t,))[1])(XS, TS),
        "jit inside": lambda: jvp(jit(g), (XS,), (TS,))[1],
    }


@pytest.mark.parametrize("name", FILLING)
def test_bwd_with_a_constant_that_is_not_zero(name: str) -> None:
    g = ruled(lambda t: FILLING[name](7.0, t))
    assert np.any(np.asarray(vjp(g, XS)[1](np.zeros(3))[0]) != 0.0), "the rule is affine"
    for forward in pushed(g).values():
        with pytest.raises(NotLinearError, match="custom_vjp of g: expected a bwd that is linear in the cotangent"):
            forward()


@pytest.mark.parametrize("name", FILLING)
def test_bwd_with_a_constant_that_is_zero(name: str) -> None:
    g = ruled(lambda t: FILLING[name](0.0, t))
    pull = vjp(g, XS)[1]
    expected = np.stack([pull(row)[0] for row in np.eye(3)]) @ TS
    for way, forward in pushed(g).items():
        np.testing.assert_allclose(forward(), expected, rtol=1e-14, atol=1e-15, err_msg=way)


@pytest.mark.parametrize("name", NONLINEAR)
def test_bwd_that_is_not_linear(name: str) -> None:
    g = ruled(NONLINEAR[name])
    for forward in pushed(g).values():
        with pytest.raises(NotLinearError, match="custom_vjp of g: expected a bwd that is linear in the cotangent"):
            forward()
