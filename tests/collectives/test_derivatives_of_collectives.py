"""Derivatives of collectives, inside and outside of `vmap`, against dense Jacobians of the stacked program."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from lawful import batching
from lawful.autodiff import grad, jvp, linearize, vjp
from lawful.batching import vmap
from lawful.core import get_aval, jaxprs_in_params
from lawful.staging import jit, make_jaxpr

A, B = 2, 3
N = 12

COLLECTIVES: dict[str, Callable[..., Any]] = {
    "psum": batching.psum,
    "pmean": batching.pmean,
    "all_gather": lambda x, n, **o: batching.all_gather(x, n, axis=1, **o),
    "all_gather tiled": lambda x, n, **o: batching.all_gather(x, n, tiled=True, **o),
    "psum_scatter": lambda x, n, **o: batching.psum_scatter(x, n, tiled=True, **o),
    "all_to_all": lambda x, n, **o: batching.all_to_all(x, n, 0, 1, tiled=True, **o),
    "all_to_all back": lambda x, n, **o: batching.all_to_all(x, n, 0, 0, tiled=True, **o),
}
SENDING: dict[str, Callable[..., Any]] = {
    "ppermute": lambda x, n: batching.ppermute(x, n, [(0, 2), (1, 1), (2, 0)]),
    "ppermute shift": lambda x, n: batching.ppermute(x, n, [(0, 1), (1, 2)]),
    "pbroadcast": lambda x, n: batching.pbroadcast(x, n, 1),
}
CASES = [
    *[(name, names, None) for name in [*COLLECTIVES, *SENDING] for names in ("b", ("a", "b"), ("b", "a"))],
    *[(name, "b", [[2], [0], [1]]) for name in COLLECTIVES],
    *[(name, ("b", "a"), [[3, 0, 2], [5, 4, 1]]) for name in COLLECTIVES],
]


def over_axes(function: Callable[..., Any]) -> Callable[..., Any]:
    return vmap(vmap(function, axis_name="b"), axis_name="a")


@pytest.mark.parametrize(("name", "names", "groups"), CASES, ids=str)
def test_derivatives_of_collective(name: str, names: Any, groups: Any) -> None:
    collective = {**COLLECTIVES, **SENDING}[name]
    options = {} if groups is None else {"axis_index_groups": groups}
    f = lambda x: collective(x, names, **options)  # noqa: E731
    random = np.random.default_rng(0)
    x, t = random.normal(size=(2, A, B, N, 2))
    size = x.size
    basis = np.eye(size).reshape(size, *x.shape)
    jacobian = np.stack([over_axes(f)(e).ravel() for e in basis], 1)
    out = over_axes(f)(x)
    np.testing.assert_allclose(jacobian @ x.ravel(), out.ravel(), rtol=1e-12)
    tangent = (jacobian @ t.ravel()).reshape(out.shape)
    ct = random.normal(size=out.shape)
    cotangent = (jacobian.T @ ct.ravel()).reshape(x.shape)

    near = lambda found, expected: np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)  # noqa: E731
    near(over_axes(lambda v, u: jvp(f, (v,), (u,))[1])(x, t), tangent)
    near(over_axes(lambda v, u: linearize(f, v)[1](u))(x, t), tangent)
    near(over_axes(jit(lambda v, u: jvp(f, (v,), (u,))[1], backend="numpy"))(x, t), tangent)
    near(jvp(over_axes(f), (x,), (t,))[1], tangent)
    near(over_axes(lambda v, c: vjp(f, v)[1](c)[0])(x, ct), cotangent)
    near(over_axes(jit(lambda v, c: vjp(f, v)[1](c)[0], backend="numpy"))(x, ct), cotangent)
    near(vjp(over_axes(f), x)[1](ct)[0], cotangent)
    inner = lambda v, c: vjp(vmap(f, axis_name="b"), v)[1](c)[0]  # noqa: E731
    near(vmap(inner, axis_name="a")(x, ct), cotangent)


def collectives_in(function: Callable[..., Any], *args: Any) -> Counter[str]:
    closed = make_jaxpr(function, axis_env=[("a", A), ("b", B)])(*args)
    found: Counter[str] = Counter()
    pending = [closed.jaxpr]
    while pending:
        for eqn in pending.pop().eqns:
            found[eqn.primitive.name] += "axis_name" in eqn.params
            pending.extend(jaxprs_in_params(eqn.params))
    return +found


def gather_invariant(x: Any, names: Any, axis: int, *, tiled: bool) -> Any:
    """Gathers as ``all_gather(to="invarying")`` does where types say what varies."""
    params = {"axis_size": batching.axis_size(names), "all_gather_dimension": axis, "tiled": tiled}
    return batching.all_gather_invariant_p.bind(x, axis_name=names, **params)


@pytest.mark.parametrize("names", ["b", ("b", "a")], ids=str)
@pytest.mark.parametrize(
    ("function", "transposed"),
    [
        (batching.psum, {"psum": 1}),
        (lambda x, n: batching.psum_invariant_p.bind(x, axis_name=n), {}),
        (batching.pvary, {}),
        (batching.all_gather, {"reduce_scatter": 1}),
        (lambda x, n: batching.all_gather(x, n, to="invarying"), {"reduce_scatter": 1}),
        (lambda x, n: gather_invariant(x, n, 0, tiled=False), {"axis_index": 1}),
        (lambda x, n: gather_invariant(x, n, 1, tiled=True), {"axis_index": 1}),
        (lambda x, n: batching.psum_scatter(x, n, tiled=True), {"all_gather": 1}),
        (lambda x, n: batching.ppermute(x, n, [(0, 1)]), {"ppermute": 1}),
        (lambda x, n: batching.all_to_all(x, n, 0, 1, tiled=True), {"all_to_all": 1}),
        (lambda x, n: batching.pbroadcast(x, n, 1), {"psum": 1, "axis_index": 1}),
    ],
)
def test_transpose_has_one_collective(function: Any, transposed: Any, names: Any) -> None:
    f = lambda x: function(x, names)  # noqa: E731
    x = np.ones((N, 2))
    closed = make_jaxpr(f, axis_env=[("a", A), ("b", B)])(x)
    ct = np.ones(closed.out_avals[0].shape)
    both = collectives_in(lambda x, ct: vjp(f, x)[1](ct)[0], x, ct)
    assert both == collectives_in(f, x) + Counter(transposed)
    backward = lambda ct: vjp(f, x)[1](ct)[0]  # noqa: E731
    assert get_aval(x).shape == make_jaxpr(backward, axis_env=[("a", A), ("b", B)])(ct).out_avals[0].shape


def test_transpose_of_invariant_gather_is_the_own_slice() -> None:
    """All elements have the same cotangent of a result that is equal for all."""
    x = np.arange(24.0).reshape(A, B, 4)
    for axis, tiled in ((0, False), (0, True), (1, False)):
        f = lambda v, axis=axis, tiled=tiled: gather_invariant(v, ("b", "a"), axis, tiled=tiled)  # noqa: E731
        weights = np.random.default_rng(0).normal(size=over_axes(f)(x).shape[2:])
        found = over_axes(lambda v, f=f, w=weights: vjp(f, v)[1](w)[0])(x)
        # The element at (a, b) has the position b * A + a.
        slices = np.split(weights, A * B, axis) if tiled else np.moveaxis(weights, axis, 0)
        for a in range(A):
            for b in range(B):
                np.testing.assert_array_equal(found[a, b], np.reshape(slices[b * A + a], 4))


def test_grad_of_collectives_of_a_python_number() -> None:
    for function in (
        batching.psum,
        batching.pmean,
        lambda x, n: batching.ppermute(x, n, [(0, 1), (1, 2), (2, 0)]),
        lambda x, n: batching.pbroadcast(x, n, 0),
        lambda x, n: batching.all_gather(x, n).sum(),
    ):
        f = lambda s, function=function: function(s * 2.0, "b") * 3.0  # noqa: E731
        found = vmap(lambda s, f=f: grad(f)(2.0) * s, axis_name="b")(np.ones(B))
        expected = vmap(lambda s, f=f: grad(f)(np.float64(2.0)) * s, axis_name="b")(np.ones(B))
        np.testing.assert_allclose(found, expected)
        strong = vmap(lambda s, f=f: grad(f)(s), axis_name="b")(np.full(B, 2.0))
        np.testing.assert_allclose(found, strong)
        compiled = vmap(jit(lambda s, f=f: grad(f)(2.0) * s, backend="numpy"), axis_name="b")(np.ones(B))
        np.testing.assert_allclose(found, compiled)
