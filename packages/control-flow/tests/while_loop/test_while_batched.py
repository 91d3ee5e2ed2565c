"""Under `vmap` each batch element stops its own loop; later iterations do not change its values or derivatives."""

from collections.abc import Callable
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pytest

from lawful import ops, tree
from lawful.autodiff import grad, hessian, jacfwd, jacrev, jvp, linear_transpose, linearize
from lawful.batching import vmap
from lawful.control_flow import fori_loop, while_loop, while_p
from lawful.core import check_jaxpr, parse_jaxpr
from lawful.staging import jit as jit_by
from lawful.staging import make_jaxpr

jit = partial(jit_by, backend="numpy")


def looped(n: Any, w: Any, x: Any, **options: Any) -> Any:
    """A loop of n iterations; n, the constant and the carry may each be batched."""

    def body(s: Any) -> Any:
        i, y = s
        return i + 1, ops.sin(ops.reduce_sum(w * y, (1,))) + y * 0.5

    return while_loop(lambda s: s[0] < n, body, (np.int64(0), x), **options)[1]


random = np.random.default_rng(5)
SINGLE = (np.int64(2), random.normal(size=(2, 2)), random.normal(size=2))
BATCHED = (np.array([3, 0, 1]), random.normal(size=(2, 2, 3)), random.normal(size=(3, 2)))
AXES = (0, 2, 0)
SUBSETS = [axes for axes in product(*[(None, axis) for axis in AXES]) if axes != (None, None, None)]
OPTIONS = ({}, {"checkpoints": 1}, {"max_iters": 4})

every_subset = pytest.mark.parametrize("axes", SUBSETS, ids=str)
every_option = pytest.mark.parametrize("options", OPTIONS, ids=str)


def arguments(axes: Any) -> tuple[Any, ...]:
    return tuple([x if axis is None else b for axis, x, b in zip(axes, SINGLE, BATCHED, strict=True)])


def each(function: Callable[..., Any], args: Any, axes: Any) -> Any:
    """The stacked results of each element of a batch of 3."""
    rows = [
        function(*[x if axis is None else np.take(x, i, axis) for x, axis in zip(args, axes, strict=True)])
        for i in range(3)
    ]
    return tree.map(lambda *xs: np.stack([np.asarray(x) for x in xs]), *rows)


def number(*args: Any, **options: Any) -> Any:
    return ops.reduce_sum(ops.sin(looped(*args, **options)), (0,))


@every_subset
def test_vmap_while_loop_any_subset_of_operands(axes: Any, require_same: Callable[..., None]) -> None:
    args, expected = arguments(axes), each(looped, arguments(axes), axes)
    require_same(vmap(looped, axes)(*args), expected, 1e-14)
    require_same(jit(vmap(looped, axes))(*args), expected, 1e-14)
    require_same(vmap(jit(looped), axes)(*args), expected, 1e-14)


@every_subset
def test_vmap_while_loop_forward_mode(axes: Any, require_same: Callable[..., None]) -> None:
    args = arguments(axes)

    def pushed(n: Any, w: Any, x: Any) -> Any:
        return jvp(partial(looped, n), (w, x), (w * 0.5, x + 1.0))

    require_same(vmap(pushed, axes)(*args), each(pushed, args, axes), 1e-14)
    require_same(jit(vmap(pushed, axes))(*args), each(pushed, args, axes), 1e-14)


@every_subset
@every_option
def test_vmap_while_loop_gradients(axes: Any, options: Any, require_same: Callable[..., None]) -> None:
    args, function = arguments(axes), partial(number, **options)
    gradient = grad(function, (1, 2))
    expected = each(gradient, args, axes)
    require_same(vmap(gradient, axes)(*args), expected, 1e-13)
    require_same(jit(vmap(gradient, axes))(*args), expected, 1e-13)
    # The gradient of the sum over a batch: unmapped operands get the sum of all cotangents.
    found = grad(lambda *args: ops.reduce_sum(vmap(function, axes)(*args), (0,)), (1, 2))(*args)
    sums = [
        ct.sum(0) if axis is None else np.moveaxis(ct, 0, axis) for ct, axis in zip(expected, axes[1:], strict=True)
    ]
    require_same(found, tuple(sums), 1e-13)


@every_option
def test_vmap_while_loop_twice(options: Any, require_same: Callable[..., None]) -> None:
    """One batch of trip counts, one of constants."""
    ns, ws, x = np.array([2, 0, 3, 1]), np.moveaxis(BATCHED[1], 2, 0), SINGLE[2]
    gradient = grad(partial(number, **options), (1, 2))
    for function in (looped, gradient):
        rows = [[function(n, w, x) for w in ws] for n in ns]
        expected = tree.map(lambda *ys: np.stack(ys).reshape(4, 3, *ys[0].shape), *[y for row in rows for y in row])
        both = vmap(vmap(function, (None, 0, None)), (0, None, None))
        require_same(both(ns, ws, x), expected, 1e-13)
        require_same(jit(both)(ns, ws, x), expected, 1e-13)
        other = vmap(vmap(function, (0, None, None)), (None, 0, None))
        require_same(other(ns, ws, x), tree.map(lambda y: np.swapaxes(y, 0, 1), expected), 1e-13)
    total = grad(
        lambda w: ops.reduce_sum(vmap(vmap(lambda n, v: number(n, v, x), (None, 0)), (0, None))(ns, w), (0, 1))
    )
    each_w = [sum(grad(lambda w, n=n: number(n, w, x))(w) for n in ns) for w in ws]
    require_same(total(ws), np.stack(each_w), 1e-13)


def newton(a: Any, **options: Any) -> Any:
    return while_loop(lambda x: ops.abs(x * x - a) > 1e-12, lambda x: 0.5 * (x + a / x), a, **options)


ROOTS = np.array([2.0, 9.0, 1e4])


@every_option
def test_vmap_while_loop_jacobians(options: Any) -> None:
    """The predicate does not depend on the batch of directions, so the roots are computed once."""
    if "max_iters" in options:
        options = {"max_iters": 20}
    roots = vmap(partial(newton, **options))
    first, second = 0.5 / np.sqrt(ROOTS), -0.25 * ROOTS**-1.5
    expected = np.einsum("ij,jk->ijk", np.eye(3), np.diag(second))
    np.testing.assert_allclose(jacfwd(roots)(ROOTS), np.diag(first), atol=1e-9)
    np.testing.assert_allclose(jacrev(roots)(ROOTS), np.diag(first), atol=1e-9)
    for jacobian in (jacrev(jacfwd(roots)), jacfwd(jacrev(roots)), jacrev(jacrev(roots)), jacfwd(jacfwd(roots))):
        np.testing.assert_allclose(jacobian(ROOTS), expected, atol=1e-9)
        np.testing.assert_allclose(jit(jacobian)(ROOTS), expected, atol=1e-9)
    total = hessian(lambda a: ops.reduce_sum(roots(a), (0,)))
    np.testing.assert_allclose(total(ROOTS), np.diag(second), atol=1e-9)
    push = linearize(roots, ROOTS)[1]
    transposed = linear_transpose(vmap(push), np.ones((2, 3)))
    np.testing.assert_allclose(transposed(np.ones((2, 3)))[0], np.stack([first] * 2), atol=1e-9)


def test_vmap_while_loop_unmapped_predicate_is_scalar() -> None:
    """A batch in the body only: the predicate stays a scalar, and unbatched values are computed once."""

    def function(x: Any) -> Any:
        return while_loop(lambda s: s[0] < 3, lambda s: (s[0] + 1, s[1] + x, s[2] * 2.0), (0, 0.0, 1.0))

    closed = make_jaxpr(vmap(function))(np.ones(7))
    (eqn,) = [eqn for eqn in closed.eqns if eqn.primitive is while_p]
    assert [str(var.aval) for var in eqn.outvars] == ["i64[]", "f64[7]", "f64[]"]
    assert [str(aval) for aval in eqn.params["cond_jaxpr"].out_avals] == ["bool[]"]


def test_vmap_while_loop_predicate_dims_come_first() -> None:
    def function(n: Any, x: Any) -> Any:
        return while_loop(lambda s: s[0] < n, lambda s: (s[0] + 1, s[1] * x), (0, x))[1]

    inner = vmap(function, (0, 1))
    closed = make_jaxpr(vmap(inner, (None, 2)))(np.arange(3), np.ones((5, 3, 4)))
    check_jaxpr(closed)
    assert str(parse_jaxpr(str(closed))) == str(closed)
    (eqn,) = [eqn for eqn in closed.eqns if eqn.primitive is while_p]
    assert [str(aval) for aval in eqn.params["cond_jaxpr"].out_avals] == ["bool[3]"]
    assert [str(var.aval) for var in eqn.outvars] == ["i64[3]", "f64[3,4,5]"]
    assert eqn.params["const_pred_dims"] == ((0,),)


def harmonic(n: Any, a: Any, x: Any, **options: Any) -> Any:
    """Adds a √n / (n x): with n = 0 it divides by zero, and differentiates a square root at zero."""

    def body(s: Any) -> Any:
        i, y = s
        return i + 1.0, y + a * ops.sqrt(n) / (n * x)

    return while_loop(lambda s: s[0] < n, body, (0.0, 0.0), **options)[1]


@every_option
def test_vmap_while_loop_idle_element_adds_no_cotangent(options: Any) -> None:
    """At its values, the cotangent would be 0 times infinity."""
    ns, xs = np.array([2.0, 0.0, 1.0]), np.array([0.5, 0.0, 0.25])
    function = partial(harmonic, **options)
    each = [grad(function, (1, 2))(n, 0.7, x) for n, x in zip(ns, xs, strict=True)]
    shared = float(sum(np.asarray(a) for a, _ in each))
    with np.errstate(all="raise"):
        for gradient in (grad, lambda f, argnums: jit(grad(f, argnums))):
            found = gradient(lambda a, x: ops.reduce_sum(vmap(function, (0, None, 0))(ns, a, x), (0,)), (0, 1))(0.7, xs)
            np.testing.assert_allclose(found[0], shared)
            np.testing.assert_allclose(found[1], [x for _, x in each])
        mapped = vmap(grad(function, (1, 2)), (0, None, 0))(ns, 0.7, xs)
        np.testing.assert_allclose(mapped[0], [a for a, _ in each])
        np.testing.assert_allclose(mapped[1], [x for _, x in each])


@every_option
def test_vmap_while_loop_stopped_element_adds_no_cotangent(options: Any) -> None:
    """At its last value, the logarithm in the body is infinite."""

    def function(a: Any, x: Any) -> Any:
        return while_loop(lambda s: s > 0.5, lambda s: ops.max(s - 1.0 - a * ops.log(s), 0.0), x, **options)

    xs = np.array([2.6, 1.2, 0.0])
    each = [float(grad(function)(0.3, x)) for x in xs]
    with np.errstate(all="raise"):
        found = grad(lambda a: ops.reduce_sum(vmap(function, (None, 0))(a, xs), (0,)))(0.3)
        np.testing.assert_allclose(found, sum(each))
        np.testing.assert_allclose(vmap(grad(function), (None, 0))(0.3, xs), each)
    second = sum(float(grad(grad(function))(0.3, x)) for x in xs)
    np.testing.assert_allclose(
        grad(grad(lambda a: ops.reduce_sum(vmap(function, (None, 0))(a, xs), (0,))))(0.3), second
    )
    mapped = grad(lambda a: ops.reduce_sum(vmap(grad(function), (None, 0))(a, xs), (0,)))
    np.testing.assert_allclose(mapped(0.3), second)


def test_vmap_while_loop_idle_elements_of_two_batches() -> None:
    ns, xs = np.array([2.0, 0.0]), np.array([0.5, 0.25, 0.125])
    a = np.array([0.7, 0.2])

    def total(a: Any) -> Any:
        return ops.reduce_sum(vmap(lambda n, b: vmap(lambda x: harmonic(n, b, x))(xs))(ns, a), (0, 1))

    expected = [sum(float(grad(harmonic, 1)(n, b, x)) for x in xs) for n, b in zip(ns, a, strict=True)]
    with np.errstate(all="raise"):
        np.testing.assert_allclose(grad(total)(a), expected)
    np.testing.assert_allclose(jit(grad(total))(a), expected)


def test_vmap_while_loop_empty_batch() -> None:
    none = np.zeros(0)
    assert vmap(newton)(none).shape == (0,)
    assert vmap(grad(newton))(none).shape == (0,)
    assert grad(lambda a: ops.reduce_sum(vmap(newton)(a), (0,)))(none).shape == (0,)
    assert jit(vmap(grad(newton)))(none).shape == (0,)


@every_option
def test_vmap_fori_loop_with_mapped_bound(options: Any) -> None:
    def power(x: Any, n: Any) -> Any:
        return fori_loop(0, n, lambda _, y: y * x, 1.0, **options)

    xs, ns = np.array([2.0, 3.0, 5.0]), np.array([3, 0, 1])
    np.testing.assert_allclose(vmap(power)(xs, ns), [8.0, 1.0, 5.0])
    np.testing.assert_allclose(vmap(grad(power))(xs, ns), [12.0, 0.0, 1.0])
    np.testing.assert_allclose(jit(vmap(grad(power)))(xs, ns), [12.0, 0.0, 1.0])
