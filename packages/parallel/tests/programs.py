"""Functions of parts of arrays, each with the function of whole arrays that it computes on all devices together."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from lawful import ops
from lawful.autodiff import checkpoint, grad
from lawful.batching import (
    all_gather,
    all_to_all,
    axis_index,
    axis_size,
    pmean,
    ppermute,
    psum,
    psum_scatter,
    pvary,
    vmap,
)
from lawful.control_flow import cond, fori_loop, scan, while_loop
from lawful.custom_rules import custom_jvp, custom_vjp
from lawful.parallel import PartitionSpec as P
from lawful.parallel import shard_map
from lawful.staging import jit

rng = np.random.default_rng(29)


class Program(NamedTuple):
    """``part`` on every device of a mesh with the axes x (4 devices) and y (2) computes ``whole``."""

    part: Callable[..., Any]
    whole: Callable[..., Any]
    in_specs: tuple[P, ...]
    out_specs: Any
    args: tuple[Any, ...]


def _array(*shape: int) -> Any:
    return rng.uniform(0.5, 1.5, shape)


X, W, M = _array(8, 4), _array(4), _array(4, 6)


def _ring_sum(x: Any) -> Any:
    """Sums over the axis by sending values around."""
    ring = [(i, (i + 1) % 4) for i in range(4)]

    def step(carry: Any, _: Any) -> tuple[Any, None]:
        total, moving = carry
        moving = ppermute(moving, "x", ring)
        return (total + moving, moving), None

    return scan(step, (x, x), None, length=3)[0][0]


@custom_jvp
def _cube(x: Any) -> Any:
    return x * x * x


_cube.defjvp(lambda primals, tangents: (primals[0] ** 3, 3.0 * primals[0] ** 2 * tangents[0]))


@custom_vjp
def _scaled(x: Any, w: Any) -> Any:
    return x * w


_scaled.defvjp(lambda x, w: (x * w, (x, w)), lambda res, ct: (ct * res[1], (ct * res[0]).sum(0)))


@custom_vjp
def _first(w: Any, x: Any) -> Any:
    return ops.sin(w)


_first.defvjp(lambda w, x: (ops.sin(w), (w, x)), lambda res, ct: (ct * ops.cos(res[0]), 0.0 * res[1]))


@custom_vjp
def _scaled_whole(x: Any, w: Any) -> Any:
    return x * w


_scaled_whole.defvjp(lambda x, w: (x * w, (x, w)), lambda res, ct: (ct * res[1], psum((ct * res[0]).sum(0), "x")))


@custom_vjp
def _cube_beside(w: Any, x: Any) -> Any:
    return w * w * w


_cube_beside.defvjp(lambda w, x: (w**3, (w, x)), lambda res, ct: (3.0 * res[0] ** 2 * ct, 0.0 * res[1]))


PROGRAMS = {
    "elementwise": Program(lambda x: ops.sin(x) * 2.0, lambda x: ops.sin(x) * 2.0, (P("x"),), P("x"), (X,)),
    "split over two axes": Program(
        lambda x: x * x, lambda x: x * x, (P(("x", "y")),), P(("x", "y")), (X,)
    ),
    "split over axes in the other order": Program(
        lambda x: ops.exp(x), lambda x: ops.exp(x), (P(("y", "x")),), P(("y", "x")), (X,)
    ),
    "both dimensions": Program(lambda x: x * x, lambda x: x * x, (P("x", "y"),), P("x", "y"), (X,)),
    "whole argument": Program(lambda x, w: x * w, lambda x, w: x * w, (P("x"), P()), P("x"), (X, W)),
    "mean loss": Program(
        lambda w, x: pmean((ops.tanh(x @ w)).mean(), "x"),
        lambda w, x: ops.tanh(x @ w).mean(),
        (P(), P("x")), P(), (W, X),
    ),
    "loss over both axes": Program(
        lambda w, x: psum(ops.tanh(x @ w).sum(), ("x", "y")),
        lambda w, x: ops.tanh(x @ w).sum(),
        (P(), P(("x", "y"))), P(), (W, X),
    ),
    "tensor-parallel product": Program(
        lambda a, b: psum(a @ b, "x"), lambda a, b: a @ b, (P(None, "x"), P("x", None)), P(), (X, M)
    ),
    "scattered product": Program(
        lambda a, b: psum_scatter(a @ b, "x", scatter_dimension=0, tiled=True),
        lambda a, b: a @ b, (P(None, "x"), P("x", None)), P("x"), (X, M),
    ),
    "normalized": Program(lambda x: x / psum(x.sum(), "x"), lambda x: x / x.sum(), (P("x"),), P("x"), (X,)),
    "mixed paths": Program(
        lambda w, x: psum((x * w).sum(), "x") + (w * w).sum(),
        lambda w, x: (x * w).sum() + (w * w).sum(), (P(), P("x")), P(), (W, X),
    ),
    "gathered": Program(
        lambda x: all_gather(x, "x", tiled=True).sum(0, keepdims=True) * x,
        lambda x: x.sum(0, keepdims=True) * x, (P("x"),), P("x"), (X,),
    ),
    "exchanged": Program(
        lambda x: all_to_all(x, "x", 1, 0, tiled=True) * 2.0,
        lambda x: x * 2.0, (P("x"),), P(None, "x"), (X,),
    ),
    "shifted": Program(
        lambda x: ppermute(x, "x", [(i, (i + 1) % 4) for i in range(4)]) * x,
        lambda x: ops.concatenate([x[6:], x[:6]], 0) * x, (P("x"),), P("x"), (X,),
    ),
    "ring": Program(lambda x: _ring_sum(x.sum()) * x, lambda x: x.sum() * x, (P("x"),), P("x"), (X,)),
    "index": Program(
        lambda x: x * (axis_index("x") + 1), lambda x: x * np.repeat(np.arange(1, 5), 2)[:, None], (P("x"),), P("x"),
        (X,),
    ),
    "scan of a whole carry": Program(
        lambda w, x: psum(scan(lambda c, row: (c + (row * w).sum() * w, c.sum()), w, x)[1].sum(), "x"),
        lambda w, x: sum(
            scan(lambda c, row: (c + (row * w).sum() * w, c.sum()), w, x[2 * i : 2 * i + 2])[1].sum() for i in range(4)
        ),
        (P(), P("x")), P(), (W, X),
    ),
    "branch by position": Program(
        lambda x, w: cond(axis_index("x") < 2, lambda x: ops.sin(x) * w, lambda x: x * x * w, x),
        lambda x, w: ops.concatenate([ops.sin(x[:4]) * w, x[4:] * x[4:] * w], 0), (P("x"), P()), P("x"), (X, W),
    ),
    "branch by value": Program(
        lambda x, w: cond(w[0] > 1.0, lambda x: ops.sin(x), lambda x: x * x, x),
        lambda x, w: cond(w[0] > 1.0, lambda x: ops.sin(x), lambda x: x * x, x), (P("x"), P()), P("x"), (X, W),
    ),
    "number for branches": Program(
        lambda x: cond(axis_index("x") < 2, lambda n, x: x * n, lambda n, x: x * x, 2.0, x),
        lambda x: ops.concatenate([x[:4] * 2.0, x[4:] * x[4:]], 0), (P("x"),), P("x"), (X,),
    ),
    "fori_loop": Program(
        lambda x, w: fori_loop(0, 3, lambda i, y: y * w + psum(y, "x") * 0.01, x.sum(0)).sum() * x,
        lambda x, w: _fori_whole(x, w), (P("x"), P()), P("x"), (X, W),
    ),
    "while_loop by position": Program(
        lambda x: while_loop(lambda s: s[0] < axis_index("x"), lambda s: (s[0] + 1, s[1] * x), (0, x))[1],
        lambda x: ops.concatenate([x[2 * i : 2 * i + 2] ** (i + 1) for i in range(4)], 0), (P("x"),), P("x"), (X,),
    ),
    "rematerialized": Program(
        lambda w, x: psum(checkpoint(lambda w, x: ops.tanh(ops.sin(x) @ w).sum())(w, x), "x"),
        lambda w, x: ops.tanh(ops.sin(x) @ w).sum(), (P(), P("x")), P(), (W, X),
    ),
    "compiled inside": Program(
        lambda w, x: jit(lambda w, x: psum((x @ w).sum() ** 2, "x"))(w, x),
        lambda w, x: sum(((x[2 * i : 2 * i + 2] @ w).sum()) ** 2 for i in range(4)), (P(), P("x")), P(), (W, X),
    ),
    "mapped inside": Program(
        lambda x: vmap(lambda row: row / psum(row.sum(), "x"))(x),
        lambda x: x / ops.concatenate([(x[0::2].sum()).reshape(1, 1), (x[1::2].sum()).reshape(1, 1)] * 4, 0),
        (P("x"),), P("x"), (X,),
    ),
    "rules of functions": Program(
        lambda w, x: psum((_cube(x) * _scaled(x, w)).sum(), "x"),
        lambda w, x: (x**4 * w).sum(), (P(), P("x")), P(), (W, X),
    ),
    "several results": Program(
        lambda x, w: {"sum": psum(x.sum(0), "x"), "parts": (x * w, w)},
        lambda x, w: {"sum": x.sum(0), "parts": (x * w, w)},
        (P("x"), P()), {"sum": P(), "parts": (P("x"), P())}, (X, W),
    ),
    "gathered to invarying": Program(
        lambda x: ops.sin(all_gather(x.sum(), "x", to="invarying")),
        lambda x: ops.sin(ops.reshape(x, (4, 8)).sum(1)), (P("x"),), P(), (X,),
    ),
    "said to vary": Program(
        lambda w, x: psum((pvary(w, "x") * x).sum(), "x"), lambda w, x: (w * x).sum(), (P(), P("x")), P(), (W, X)
    ),
    "while_loop with checkpoints": Program(
        lambda w, x: fori_loop(0, (w.sum() > 0).astype(int) + 1, lambda i, y: ops.sin(w) * y, x.sum(0), checkpoints=2),
        lambda w, x: ops.concatenate([ops.sin(w) ** 2 * x[2 * i : 2 * i + 2].sum(0) for i in range(4)], 0),
        (P(), P("x")), P("x"), (W, X),
    ),
    "argument that is not used": Program(
        lambda w, x: _first(w, x), lambda w, x: ops.sin(w), (P(), P("x")), P(), (W, X)
    ),
    "constants of branches": Program(
        lambda x: cond(axis_index("x") < 2, lambda x: x * W, lambda x: x * (2.0 * W[::-1]), x),
        lambda x: ops.concatenate([x[:4] * W, x[4:] * (2.0 * W[::-1])], 0), (P("x"),), P("x"), (X,),
    ),
    "size": Program(lambda x: x * axis_size("x"), lambda x: x * 4, (P("x"),), P("x"), (X,)),
    "whole result of a whole argument": Program(lambda w: ops.sin(w), lambda w: ops.sin(w), (P(),), P(), (W,)),
}  # fmt: skip

#: Derivatives inside: with checked types the gradient of a whole value is the whole gradient.
CHECKED = {
    "gradient inside": Program(
        lambda w, x: grad(lambda w: psum(ops.tanh(x @ w).sum(), "x"))(w),
        lambda w, x: grad(lambda w: ops.tanh(x @ w).sum())(w), (P(), P("x")), P(), (W, X),
    ),
    "gradient of parts inside": Program(
        lambda w, x: grad(lambda w: ops.tanh(x @ w).sum())(w),
        lambda w, x: grad(lambda w: ops.tanh(x @ w).sum())(w), (P(), P("x")), P(), (W, X),
    ),
    "rule with a sum over devices": Program(
        lambda w, x: psum(_scaled_whole(x, w).sum(), "x"), lambda w, x: (x * w).sum(), (P(), P("x")), P(), (W, X)
    ),
    "rule of whole and parts": Program(_cube_beside, lambda w, x: w**3, (P(), P("x")), P(), (W, X)),
}  # fmt: skip


def _fori_whole(x: Any, w: Any) -> Any:
    y = [x[2 * i : 2 * i + 2].sum(0) for i in range(4)]
    for _ in range(3):
        total = y[0] + y[1] + y[2] + y[3]
        y = [part * w + total * 0.01 for part in y]
    return ops.concatenate([y[i].sum() * x[2 * i : 2 * i + 2] for i in range(4)], 0)


def nested(mesh: Any, inner_checked: bool, outer_checked: bool) -> Callable[..., Any]:
    """Returns `nested_whole` as a `shard_map` over x of one over y."""

    def inner(x: Any, w: Any) -> Any:
        total = psum(ops.sin(x * w).sum(1), "y")[:, None]
        total = cond(axis_index("y") < 1, lambda t: t * w, lambda t: w * t, total)
        return x * psum((x * total).sum(0), "x")[None, :]

    def outer(x: Any, w: Any) -> Any:
        return shard_map(
            inner, mesh=mesh, in_specs=(P(None, "y"), P()), out_specs=P(None, "y"), axis_names={"y"},
            check_vma=inner_checked,
        )(x, w)  # fmt: skip

    mapped: Callable[..., Any] = shard_map(
        outer, mesh=mesh, in_specs=(P("x"), P()), out_specs=P("x"), axis_names={"x"}, check_vma=outer_checked
    )
    return mapped


def nested_whole(x: Any, w: Any) -> Any:
    total = w * ops.sin(x * w).sum(1)[:, None]
    return x * (x * total).sum(0)[None, :]
