"""``checkpoint`` around and inside of conds and loops."""

import functools

import numpy as np
import pytest

from lawful.autodiff import checkpoint, checkpoint_name, checkpoint_policies, grad, hessian, jvp, saved_residuals
from lawful.batching import vmap
from lawful.control_flow import cond, scan, switch, while_loop
from lawful.core import check_jaxpr
from lawful.ops import cos, dot, reduce_sum, sin
from lawful.staging import jit, make_jaxpr

X = np.array([0.3, -0.7, 1.1])
WS = np.random.default_rng(0).normal(size=(5, 3, 3))


def total(x):
    return reduce_sum(x, (0,))


def choosing(wrap):
    def f(x, ws):
        outer = wrap(lambda x: cond(total(x) > 0.0, lambda x: sin(dot(ws[0], x)), lambda x: cos(x) * x, x))
        inner = switch(2, [wrap(sin), wrap(lambda x: sin(cos(x))), wrap(lambda x: dot(ws[1], sin(x)))], x)
        return total(outer(x) * inner)

    return f


def around_a_scan(wrap):
    def body(h, w):
        h = checkpoint_name(sin(dot(w, h)), "h")
        return sin(h), cos(h)

    def f(x, ws):
        h, ys = wrap(lambda x: scan(body, x, ws))(x)
        return total(h) + total(total(ys))

    return f


def inside_a_scan(wrap):
    return lambda x, ws: total(scan(wrap(lambda h, w: (sin(sin(dot(w, h))), None)), x, ws)[0])


def inside_a_while_loop(wrap):
    body = wrap(lambda s: (s[0] + 1, sin(s[1]) * 1.1))
    return lambda x, ws: total(while_loop(lambda s: s[0] < 4, body, (0, dot(ws[0], x)))[1])


def around_a_while_loop(wrap):
    def f(x, ws):
        loop = wrap(lambda x: while_loop(lambda s: s[0] < 4, lambda s: (s[0] + 1, sin(s[1]) * 1.1), (0, x))[1])
        return total(loop(dot(ws[0], x)))

    return f


PROGRAMS = [choosing, around_a_scan, inside_a_scan, inside_a_while_loop, around_a_while_loop]
POLICIES = {
    "none": None,
    "everything": checkpoint_policies.everything_saveable,
    "dots": checkpoint_policies.dots_saveable,
    "names": checkpoint_policies.save_only_these_names("h"),
}


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize(
    "transformation",
    [
        lambda f: f,
        lambda f: grad(f, (0, 1)),
        lambda f: hessian(f),
        lambda f: lambda x, ws: jvp(grad(f), (x, ws), (x, ws)),
        lambda f: grad(lambda x, ws: total(grad(f)(x, ws) * x)),
        lambda f: lambda x, ws: vmap(grad(f), (0, None))(x * np.array([[1.0], [-1.0]]), ws),
        lambda f: jit(grad(f, (0, 1)), backend="numpy"),
    ],
    ids=["value", "grad", "hessian", "jvp of grad", "grad of grad", "vmap of grad", "jit of grad"],
)
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_checkpoint_values_and_derivatives(program, policy, transformation, sign, require_same):
    wrapped = transformation(program(functools.partial(checkpoint, policy=POLICIES[policy])))
    require_same(wrapped(sign * X, WS), transformation(program(lambda f: f))(sign * X, WS), 1e-10)
    check_jaxpr(make_jaxpr(wrapped)(sign * X, WS))


def kept(f, *args):
    origins = [(str(aval), origin.split(" at ")[0]) for aval, origin in saved_residuals(f, *args)]
    return [(aval, origin.removeprefix("output of ")) for aval, origin in origins if "the argument" not in origin]


def test_checkpoint_policy_applies_inside_branches():
    def f(x, w):
        return cond(total(x) > 0.0, lambda x: sin(sin(dot(w, x))), lambda x: cos(x), x)

    assert kept(checkpoint(f), X, WS[0]) == []
    assert kept(checkpoint(f, policy=POLICIES["dots"]), X, WS[0]) == [("f64[3]", "cond")]


def test_checkpoint_branches_share_slots_of_saved_values():
    def f(x, w):
        return cond(total(x) > 0.0, lambda x: sin(dot(w, x)), lambda x: cos(dot(x, w)), x)

    assert kept(checkpoint(f, policy=POLICIES["dots"]), X, WS[0]) == [("f64[3]", "cond")]


def test_checkpoint_policy_applies_inside_loops():
    f = around_a_scan(lambda f: f)
    assert kept(checkpoint(f), X, WS) == []
    assert kept(checkpoint(f, policy=POLICIES["dots"]), X, WS) == [("f64[5,3]", "scan")]
    assert kept(checkpoint(f, policy=POLICIES["names"]), X, WS) == [("f64[5,3]", "scan")]
    assert len(kept(f, X, WS)) > 1


def test_checkpoint_of_scan_body_saves_arguments_only():
    """The carry of each iteration is saved, and the values that the body computes are not."""
    assert kept(inside_a_scan(checkpoint), X, WS) == [("f64[5,3]", "scan")]
    assert len(kept(inside_a_scan(lambda f: f), X, WS)) == 3


def test_checkpoint_recomputes_inside_the_loop(primitives_of):
    counts = [
        primitives_of(make_jaxpr(grad(inside_a_scan(wrap)))(X, WS))["dot_general"] for wrap in (checkpoint, lambda f: f)
    ]
    assert counts == [3, 2]
