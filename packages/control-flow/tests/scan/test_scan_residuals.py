"""Residuals of a scan: each is stored once, and stacked only if it is not loop-invariant."""

from typing import Any

import numpy as np

from lawful import ops
from lawful.autodiff import linearize
from lawful.control_flow import scan

W, H, XS = np.ones((3, 3)) * 0.1, np.ones(3), np.ones((5, 3))


def residuals(function: Any, *args: Any) -> list[tuple[int, ...]]:
    """The shapes of the residuals, each array once."""
    consts = {id(x): x for x in linearize(function, *args)[1].jaxpr.consts}
    return sorted([np.shape(x) for x in consts.values()])


def matvec(w: Any, h: Any) -> Any:
    return ops.reduce_sum(w * h, (1,))


def test_scan_residuals_of_a_linear_loop() -> None:
    assert residuals(lambda h, xs: scan(lambda c, x: (c + x, c + x), h, xs), H, XS) == []


def test_scan_residuals_of_constant_coefficients() -> None:
    assert residuals(lambda h, xs: scan(lambda c, x: (matvec(W, c) + x, None), h, xs)[0], H, XS) == [(3, 3)]


def test_scan_residuals_loop_invariant_are_stored_once() -> None:
    def function(w: Any, h: Any, xs: Any) -> Any:
        return scan(lambda c, x: (matvec(ops.exp(ops.sin(w)), c) + x, None), h, xs)[0]

    # exp(sin w), cos w, and the carry of each iteration.
    assert residuals(function, W, H, XS) == [(3, 3), (3, 3), (5, 3)]


def test_scan_residuals_slices_are_not_stacked_again() -> None:
    # The slices are operands already, and the carries are results.
    stored = residuals(lambda h, xs: scan(lambda c, x: (c * x, c), h, xs), H, XS)
    assert stored == [(5, 3), (5, 3)]
    out, push = linearize(lambda h, xs: scan(lambda c, x: (c * x, c), h, xs), H, XS)
    assert any(const is not out[1] and np.array_equal(const, XS) for const in push.jaxpr.consts)


def test_scan_residuals_that_are_results_are_one_stack() -> None:
    def function(h: Any, xs: Any) -> Any:
        def body(c: Any, x: Any) -> Any:
            after = ops.exp(c + x)
            return after * 0.1, after

        return scan(body, h, xs)

    assert residuals(function, H, XS) == [(5, 3)]


def test_scan_residuals_without_broadcast_numbers() -> None:
    """A factor that is broadcast to an array, and a literal in the body."""
    assert residuals(lambda h: scan(lambda c, x: (c * 0.5, None), h, XS)[0], H) == []
    kept = residuals(lambda w, xs: scan(lambda c, x: (c + ops.reduce_sum(w * x, (0, 1)), None), 0.0, xs)[0], W, XS)
    assert kept == [(3, 3), (5, 3)]


def test_scan_residuals_without_initial_zero_tangents() -> None:
    """The first carry is a constant, and depends on x after the first iteration."""
    assert residuals(lambda xs: scan(lambda c, x: (c + x, None), H, xs)[0], XS) == []
    assert residuals(lambda xs: scan(lambda c, x: (c + x, None), H, xs, checkpoints=5)[0], XS) == []


def test_scan_residuals_without_unused_values() -> None:
    def function(h: Any, xs: Any) -> Any:
        def body(carry: Any, x: Any) -> Any:
            c, d = carry
            return (c * x, ops.exp(ops.sin(d))), ops.exp(d)

        return scan(body, (h, h), xs)[0][0]

    assert residuals(function, H, XS) == [(5, 3), (5, 3)]


def test_scan_residuals_of_a_mask_are_booleans() -> None:
    def function(h: Any, xs: Any) -> Any:
        return scan(lambda c, x: (ops.select(c > x, c, x * 2.0), None), h, xs)[0]

    consts = linearize(function, H, XS)[1].jaxpr.consts
    assert [x.dtype for x in consts if np.ndim(x) == 2] == [bool]


def test_scan_residuals_with_checkpoints_are_operands() -> None:
    def function(w: Any, h: Any, xs: Any) -> Any:
        return scan(lambda c, x: (ops.tanh(matvec(w, c) + x), None), h, xs, checkpoints=2)[0]

    assert residuals(function, W, H, XS) == [(3,), (3, 3), (5, 3)]
