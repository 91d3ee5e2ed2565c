"""Errors of `custom_vjp`: missing rules, wrong results of `fwd` and `bwd`, and a `bwd` that is not linear."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from lawful import ops
from lawful.autodiff import grad, jvp, vjp
from lawful.batching import vmap
from lawful.core import ArgumentTypeError, MissingRuleError, NonArrayError, NotLinearError
from lawful.custom_rules import custom_vjp
from lawful.staging import jit as jit_by

jit = partial(jit_by, backend="numpy")
Function = Callable[..., Any]

XS, YS = np.array([0.5, -1.0, 2.0]), np.array([3.0, 0.25, 1.0])


def f_bwd(residuals: Any, ct: Any) -> Any:
    x, y = residuals
    return y * ct, x * ct


def test_custom_vjp_missing_rule() -> None:
    g = custom_vjp(f_bwd)
    for call in (lambda: g(1.0, 2.0), lambda: grad(g)(1.0, 2.0), lambda: jit(g)(1.0, 2.0)):
        with pytest.raises(MissingRuleError, match=r"custom_vjp of f_bwd: expected a vjp rule.*f_bwd\.defvjp$"):
            call()


def split(x: Any, y: Any) -> Any:
    return {"w": x["a"] * y, "v": ops.sin(y)}


BAD_BWD: dict[str, tuple[Function, str]] = {
    "too few": (lambda r, ct: (r[0],), r"expected a tuple of 2 cotangents, .* got a tuple of 1; return \(ct,\)"),
    "no tuple": (lambda r, ct: r[1], r"expected a tuple of 2 cotangents, .* got an array f64\[3\]"),
    "another tree": (lambda r, ct: ({"b": r[1]}, r[1]), r"expected result of the tree .*missing 'a'; extra 'b'"),
    "another shape": (
        lambda r, ct: ({"a": r[1][0]}, r[1]),
        r"expected a cotangent of type f64\[3\] at result\[0\]\['a'\], got f64\[\]",
    ),
    "another dtype": (
        lambda r, ct: ({"a": ops.convert_element_type(r[1], "float32")}, r[1]),
        r"at result\[0\]\['a'\], got f32\[3\]",
    ),
    "no array": (lambda r, ct: ({"a": r[1]}, "ct"), r"at result\[1\], got 'ct' of type str"),
}


@pytest.mark.parametrize("name", BAD_BWD)
def test_custom_vjp_bwd_result_errors(name: str) -> None:
    bwd, message = BAD_BWD[name]
    g = custom_vjp(split)
    g.defvjp(lambda x, y: (split(x, y), (x, y)), bwd)
    for call in (g, jit(g)):
        with pytest.raises(ArgumentTypeError, match=rf"custom_vjp of split, bwd <lambda>: .*{message}"):
            vjp(call, {"a": XS}, YS)[1]({"w": XS, "v": XS})


BAD_FWD: dict[str, tuple[Function, str]] = {
    "no pair": (lambda x, y: x, r"fwd <lambda>: expected a pair \(out, residuals\), got a dict"),
    "another tree": (lambda x, y: (x, y), r"expected a result of the tree .*, which split has, from fwd <lambda>"),
    "another shape": (lambda x, y: ({"w": YS, "v": YS[0]}, y), r"expected f64\[3\] at result\['v'\].*got f64\[\]"),
}


@pytest.mark.parametrize("name", BAD_FWD)
def test_custom_vjp_fwd_result_errors(name: str) -> None:
    fwd, message = BAD_FWD[name]
    g = custom_vjp(split)
    g.defvjp(fwd, lambda r, ct: (None, None))
    with pytest.raises(ArgumentTypeError, match=rf"custom_vjp of split.*{message}"):
        vjp(jit(g), {"a": XS}, YS)
    g.defvjp(lambda x, y: (split(x, y), ("a", x)), lambda r, ct: (None, None))
    with pytest.raises(NonArrayError, match=r"residuals: .*got 'a' of type str at result\[0\]"):
        vjp(g, {"a": XS}, YS)


NOT_LINEAR: dict[str, tuple[Function, str]] = {
    "a function of it": (lambda r, ct: (ops.sin(ct),), "transposition says: Transpose rule for 'sin'"),
    "its square": (lambda r, ct: (ct * ct,), "transposition says: transpose of mul"),
    "something added": (lambda r, ct: (ct + 1.0,), "one that adds something to it, `add` at .*test_custom_vjp"),
    "a residual added": (lambda r, ct: (ct + r,), "one that adds something to it, `add`"),
    "padding": (lambda r, ct: (ops.pad(ct, 1.0, [(0, 1, 0)])[:3],), "one that adds something to it, `pad`"),
    "something added in a call": (lambda r, ct: (jit(lambda a: a + 1.0)(ct),), "one that adds something to it, `add`"),
    "a choice in a call": (
        lambda r, ct: (jit(lambda a: ops.select(a > 0.0, a, -a))(ct),),
        "one that decides something by it, `gt` at .*test_custom_vjp",
    ),
    "an integer of it": (
        lambda r, ct: (ops.convert_element_type(ops.convert_element_type(ct, "int32"), "float64"),),
        "one that decides something by it, `convert_element_type`",
    ),
    "a choice by it": (lambda r, ct: (ops.select(ct > 0.0, ct, -ct),), "one that decides something by it, `gt`"),
    "a branch": (lambda r, ct: (ct if ct[0] > 0.0 else -ct,), "transposition says: bool: expected a concrete value"),
    "something else": (lambda r, ct: (r,), "for the cotangent zero; multiply each term of its result by the cotangent"),
}


@pytest.mark.parametrize("name", NOT_LINEAR)
def test_custom_vjp_forward_mode_of_nonlinear_bwd(name: str) -> None:
    bwd, message = NOT_LINEAR[name]

    @custom_vjp
    def g(x: Any) -> Any:
        return x * 2.0

    g.defvjp(lambda x: (g(x), x), bwd)
    vjp(g, XS)[1](YS)  # reverse mode does not
    with pytest.raises(NotLinearError, match=rf"custom_vjp of g: expected a bwd that is linear.*{message}.*def_jvp"):
        jvp(g, (XS,), (YS,))


@pytest.mark.parametrize("wrap", [lambda f: f, jit])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_custom_vjp_forward_mode_of_a_constant_bwd(dtype: Any, wrap: Any) -> None:
    """It is refused where the constant is converted too: its transpose would be zero."""

    @custom_vjp
    def g(x: Any) -> Any:
        return x * 2.0

    g.defvjp(lambda x: (g(x), None), lambda _, ct: (1.0,))
    assert wrap(grad(g))(dtype(3.0)) == 1.0
    with pytest.raises(NotLinearError, match="something else than zero for the cotangent zero"):
        wrap(lambda x: jvp(g, (x,), (x,)))(dtype(3.0))


WAYS: dict[str, Callable[[Function], Function]] = {
    "jit": jit,
    "vmap": lambda f: lambda x: vmap(f)(np.stack([x, x]))[0],
    "jit of vmap": lambda f: lambda x: jit(vmap(f))(np.stack([x, x]))[0],
    "jvp": lambda f: lambda x: jvp(f, (x,), (x,))[0],
}


def forward(bwd: Function) -> Function:
    @custom_vjp
    def g(x: Any, y: Any) -> Any:
        return x * y

    g.defvjp(lambda x, y: (g(x, y), x), bwd)
    return lambda x: jvp(g, (x, x), (x, x))[1]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", ["something else", "something added", "a residual added"])
def test_custom_vjp_forward_mode_of_affine_bwd_is_refused(name: str, way: str) -> None:
    """Where the value added is one of a program being recorded, or of a batch, as well."""
    bwd, _ = NOT_LINEAR[name]
    with pytest.raises(NotLinearError, match="custom_vjp of g: expected a bwd that is linear"):
        WAYS[way](forward(lambda r, ct: (*bwd(r, ct), ct)))(XS)


def doubled(x: Any) -> Any:
    """Doubles a value so often that each path through its sums cannot be walked singly."""
    for _ in range(50):
        x = x + x
    return x


ZEROS: dict[str, Function] = {
    "repeated sums": lambda r, ct: (ct * r, doubled(ops.full_like(r, 0.0))),
    "zeros": lambda r, ct: (ct * r, ops.full_like(r, 0.0)),
    "a product": lambda r, ct: (ct * r, 0.0 * ops.sin(r)),
    "a sum": lambda r, ct: (ct + ops.full((3,), 0.0), ops.full((3,), 0.0) + 0.0 * r),
    "a choice": lambda r, ct: (ops.select(r > 0.0, ct, ops.full_like(r, 0.0)), np.zeros(3)),
    "a scatter": lambda r, ct: (ops.at(ops.full((3,), 0.0))[:1].set(ct[:1]), None),
    "padding": lambda r, ct: (ops.pad(ct[:2], 0.0, [(0, 1, 0)]), ops.concatenate([ct[:2], ops.full((1,), 0.0)], 0)),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", ZEROS)
def test_custom_vjp_forward_mode_of_bwd_with_zeros(name: str, way: str) -> None:
    f = forward(ZEROS[name])
    np.testing.assert_array_equal(WAYS[way](f)(XS), f(XS))
