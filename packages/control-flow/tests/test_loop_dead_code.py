"""Dead code elimination in loops: results, parts of the carry, slices, constants, also in inner loops."""

from collections.abc import Callable
from typing import Any

import numpy as np

from lawful import ops
from lawful.control_flow import scan, scan_p, while_loop, while_p
from lawful.core import ClosedJaxpr, check_jaxpr, eval_closed_jaxpr
from lawful.staging import dce_jaxpr, make_jaxpr

XS = np.linspace(0.5, 1.0, 4)


def alive(function: Callable[..., Any], *args: Any, keep: tuple[bool, ...]) -> ClosedJaxpr:
    """Returns the live program of some results; checks its values, and that elimination is idempotent."""
    closed = make_jaxpr(function)(*args)
    live = dce_jaxpr(closed, keep)
    check_jaxpr(live)
    assert dce_jaxpr(live, (True,) * sum(keep)) is live
    expected = [x for x, kept in zip(eval_closed_jaxpr(closed, *args), keep, strict=True) if kept]
    for x, y in zip(eval_closed_jaxpr(live, *args), expected, strict=True):
        np.testing.assert_array_equal(x, y)
    return live


def scans(closed: ClosedJaxpr) -> list[Any]:
    return [eqn for eqn in closed.eqns if eqn.primitive is scan_p]


def test_dce_scan_unused_result() -> None:
    live = alive(lambda xs: scan(lambda c, x: (c + x, ops.exp(c)), 0.0, xs), XS, keep=(True, False))
    (eqn,) = scans(live)
    assert len(eqn.outvars) == 1
    assert [inner.primitive.name for inner in eqn.params["jaxpr"].eqns] == ["add"]


def test_dce_scan_unused_carry() -> None:
    def body(carry: Any, x: Any) -> Any:
        a, b, c = carry
        return (a * x, b + ops.exp(a), c + ops.sin(b)), None

    live = alive(lambda xs: scan(body, (1.0, 2.0, 3.0), xs)[0], XS, keep=(False, True, False))
    assert scans(live)[0].params["num_carry"] == 2  # b needs a


def test_dce_scan_carry_needed_by_a_result() -> None:
    def body(carry: Any, x: Any) -> Any:
        a, b = carry
        return (a + x, b * x), a

    live = alive(lambda xs: scan(body, (1.0, 2.0), xs), XS, keep=(False, False, True))
    (eqn,) = scans(live)
    assert (eqn.params["num_carry"], len(eqn.outvars)) == (1, 2)


def test_dce_scan_carry_needed_by_a_later_iteration() -> None:
    """A carry whose parts are rotated needs all of them."""
    live = alive(
        lambda xs: scan(lambda c, x: ((c[1], c[2], c[0] * x), None), (1.0, 2.0, 3.0), xs)[0],
        XS,
        keep=(True, False, False),
    )
    assert scans(live)[0].params["num_carry"] == 3


def test_dce_scan_unused_slices_and_constants() -> None:
    factor = np.ones(3)

    def function(xs: Any, ys: Any) -> Any:
        return scan(lambda c, x: (c + x[0], factor * x[1]), 0.0, (xs, ys))

    live = alive(function, XS, XS, keep=(True, False))
    (eqn,) = scans(live)
    assert (eqn.params["num_consts"], len(eqn.invars)) == (0, 2)
    assert not live.consts


def test_dce_scan_inner_loop() -> None:
    """The number of equations of the outer body is unchanged; the inner loop is smaller."""

    def function(xs: Any) -> Any:
        def outer(c: Any, x: Any) -> Any:
            (a, b), _ = scan(lambda d, _: ((d[0] * x, d[1] + ops.exp(d[0])), None), (c, c), length=2)
            return a, b

        return scan(outer, 1.0, xs)

    live = alive(function, XS, keep=(True, False))
    (inner,) = scans(scans(live)[0].params["jaxpr"])
    assert inner.params["num_carry"] == 1


def test_dce_while_loop_inner_loop() -> None:
    def function(x: Any) -> Any:
        def outer(state: Any) -> Any:
            i, a, b = state
            _, a, b = while_loop(lambda s: s[0] < 2, lambda s: (s[0] + 1, s[1] * 0.5, s[2] + ops.exp(s[1])), (0, a, b))
            return i + 1, a, b

        return while_loop(lambda s: s[0] < 3, outer, (0, x, x))

    live = alive(function, np.float64(1.0), keep=(False, True, False))
    (outer,) = [eqn for eqn in live.eqns if eqn.primitive is while_p]
    assert len(outer.outvars) == 2  # the counter, and the used part
    (inner,) = [eqn for eqn in outer.params["body_jaxpr"].eqns if eqn.primitive is while_p]
    assert len(inner.outvars) == 2


def test_dce_while_loop_predicate_operands_stay() -> None:
    def function(x: Any) -> Any:
        return while_loop(
            lambda s: s[0] + s[1] < 9.0, lambda s: (s[0] * 2.0, s[1] + s[2], s[2] * 1.5, s[3] + s[0]), (x, x, x, x)
        )

    live = alive(function, np.float64(1.0), keep=(True, False, False, False))
    (eqn,) = [eqn for eqn in live.eqns if eqn.primitive is while_p]
    assert len(eqn.outvars) == 3


def test_dce_while_loop_unused_constants() -> None:
    factor = np.ones(3)

    def function(x: Any) -> Any:
        return while_loop(lambda s: s[0] < 3.0, lambda s: (s[0] * 2.0, s[1] * factor), (x, np.ones(3)))

    live = alive(function, np.float64(1.0), keep=(True, False))
    assert not live.consts


def test_dce_unused_loop() -> None:
    def function(x: Any) -> Any:
        scan(lambda c, y: (c + y, y), x, XS)
        while_loop(lambda s: s < 3.0, lambda s: s * 2.0, x)
        return x * 2.0

    live = alive(function, np.float64(1.0), keep=(True,))
    assert [eqn.primitive.name for eqn in live.eqns] == ["mul"]
