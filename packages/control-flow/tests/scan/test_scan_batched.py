"""`vmap` of `scan` equals the loop over the batch, for any mapped operands, and so do its derivatives."""

from collections.abc import Callable
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pytest

from lawful import ops, tree
from lawful.autodiff import grad, jvp
from lawful.batching import vmap
from lawful.control_flow import scan, scan_p
from lawful.staging import jit as jit_by
from lawful.staging import make_jaxpr

jit = partial(jit_by, backend="numpy")

random = np.random.default_rng(3)
W, H, XS = random.normal(size=(2, 2)), random.normal(size=2), random.normal(size=(4, 2))
BATCHED = (random.normal(size=(2, 2, 3)), random.normal(size=(3, 2)), random.normal(size=(4, 3, 2)))
AXES = (2, 0, 1)

SUBSETS = [axes for axes in product(*[(None, axis) for axis in AXES]) if axes != (None, None, None)]
every_subset = pytest.mark.parametrize("axes", SUBSETS, ids=str)
OPTIONS = ({}, {"reverse": True}, {"checkpoints": 2})


def scanned(w: Any, h: Any, xs: Any, **options: Any) -> Any:
    def body(h: Any, x: Any) -> Any:
        after = ops.sin(ops.reduce_sum(w * h, (1,)) + x)
        return after, (after * 2.0, ops.reduce_sum(w, (0, 1)))

    return scan(body, h, xs, **options)


def number(*args: Any, **options: Any) -> Any:
    h, (ys, _) = scanned(*args, **options)
    return ops.reduce_sum(h, (0,)) + ops.reduce_sum(ops.sin(ys), (0, 1))


def arguments(axes: Any) -> tuple[Any, ...]:
    return tuple([x if axis is None else b for axis, x, b in zip(axes, (W, H, XS), BATCHED, strict=True)])


def each(function: Callable[..., Any], args: Any, axes: Any) -> Any:
    """The stacked results of each element of a batch of 3."""
    rows = [
        function(*[x if axis is None else np.take(x, i, axis) for x, axis in zip(args, axes, strict=True)])
        for i in range(3)
    ]
    return tree.map(lambda *xs: np.stack([np.asarray(x) for x in xs]), *rows)


@every_subset
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_vmap_scan_any_subset_of_operands(axes: Any, options: Any, require_same: Callable[..., None]) -> None:
    args, function = arguments(axes), partial(scanned, **options)
    expected = each(function, args, axes)
    require_same(vmap(function, axes)(*args), expected, 1e-14)
    require_same(jit(vmap(function, axes))(*args), expected, 1e-14)
    require_same(vmap(jit(function), axes)(*args), expected, 1e-14)


@every_subset
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_vmap_scan_gradients(axes: Any, options: Any, require_same: Callable[..., None]) -> None:
    args, function = arguments(axes), partial(number, **options)
    gradient = grad(function, (0, 1, 2))
    expected = each(gradient, args, axes)
    require_same(vmap(gradient, axes)(*args), expected, 1e-13)
    require_same(jit(vmap(gradient, axes))(*args), expected, 1e-13)
    # The gradient of the sum over a batch: unmapped operands get the sum of all cotangents.
    found = grad(lambda *args: ops.reduce_sum(vmap(function, axes)(*args), (0,)), (0, 1, 2))(*args)
    sums = tuple(
        [ct.sum(0) if axis is None else np.moveaxis(ct, 0, axis) for ct, axis in zip(expected, axes, strict=True)]
    )
    require_same(found, sums, 1e-13)


@every_subset
def test_vmap_scan_forward_mode(axes: Any, require_same: Callable[..., None]) -> None:
    args = arguments(axes)

    def pushed(*args: Any) -> Any:
        return jvp(scanned, args, tuple([x * 0.5 for x in args]))

    require_same(vmap(pushed, axes)(*args), each(pushed, args, axes), 1e-14)


def test_vmap_scan_twice(require_same: Callable[..., None]) -> None:
    h, xs = random.normal(size=(3, 2)), random.normal(size=(5, 4, 2))
    found = vmap(lambda row: vmap(lambda first: scanned(W, first, row))(h))(xs)
    rows = [[scanned(W, h[j], xs[i]) for j in range(3)] for i in range(5)]
    expected = tree.map(lambda *ys: np.stack(ys).reshape(5, 3, *ys[0].shape), *[y for row in rows for y in row])
    require_same(found, expected, 1e-14)


def test_vmap_scan_empty_batch() -> None:
    h, (ys, sums) = vmap(partial(scanned, W), (0, None))(np.zeros((0, 2)), XS)
    assert (h.shape, ys.shape, sums.shape) == ((0, 2), (0, 4, 2), (0, 4))


def test_vmap_scan_leaves_unbatched_values_unbatched() -> None:
    """An unmapped carry, and a result of it, have no batch dimension."""

    def body(carry: Any, x: Any) -> Any:
        i, h = carry
        return (i + 1.0, h * i + x), i

    closed = make_jaxpr(vmap(lambda xs: scan(body, (0.0, 1.0), xs)))(np.ones((7, 3)))
    (eqn,) = [eqn for eqn in closed.eqns if eqn.primitive is scan_p]
    assert [str(var.aval) for var in eqn.outvars] == ["f64[]", "f64[7]", "f64[3]"]
