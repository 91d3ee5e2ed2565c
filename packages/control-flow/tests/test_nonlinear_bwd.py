"""A nonlinear rule for reverse mode is detected, also if the nonlinearity is inside a loop or a cond."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from lawful.autodiff import checkpoint, jvp, stop_gradient
from lawful.control_flow import cond, fori_loop, scan, switch, while_loop
from lawful.core import NotLinearError
from lawful.custom_rules import custom_jvp, custom_vjp, linear_call
from lawful.custom_rules._user_rules.linearity import require_linear
from lawful.staging import jit, make_jaxpr

Function = Callable[..., Any]
XS = np.array([0.3, -0.5, 0.7])


def ruled(bwd: Function) -> Function:
    function = custom_vjp(lambda x: x * 2.0)
    function.defvjp(lambda x: (x * 2.0, x), lambda r, ct: (bwd(r, ct),))
    return function


@custom_jvp
def ruled_sum(x: Any, y: Any) -> Any:
    return x + y


ruled_sum.defjvp(lambda primals, tangents: (ruled_sum(*primals), tangents[0] + tangents[1]))


# Rules that add a constant to a cotangent: in the carry after the first iteration, after other operands, or in one
# branch.
ADDING: dict[str, Function] = {
    "a scan's carry": lambda r, ct: scan(lambda c, _: (c + ct, c + 1.0), 0.0 * r, None, 3)[1][2],
    "a scan's slices": lambda r, ct: scan(lambda c, x: (c, x + 1.0), 0.0, ct)[1],
    "a carry after two iterations": lambda r, ct: fori_loop(
        0, 4, lambda i, s: (ct, s[0], s[1] + 1.0), (0.0 * r, 0.0 * r, 0.0 * r)
    )[2],
    "a while_loop's carry": lambda r, ct: while_loop(
        lambda s: s[0] < 3, lambda s: (s[0] + 1, s[2], ct + 1.0), (0, 0.0 * r, 0.0 * r)
    )[1],
    "a while_loop's carry after an iteration": lambda r, ct: while_loop(
        lambda s: s[0] < 3, lambda s: (s[0] + 1, ct, s[1] + 1.0), (0, 0.0 * r, 0.0 * r)
    )[2],
    "one branch": lambda r, ct: (
        ct + jit(lambda a, c: cond(a > 0.0, lambda: c, lambda: c + 1.0), backend="numpy")(r[0], ct[0])
    ),
    "a branch of three": lambda r, ct: (
        ct + jit(lambda i, c: switch(i, [lambda: c, lambda: c + 1.0, lambda: -c]), backend="numpy")(2, ct[0])
    ),
    "what a loop gave": lambda r, ct: scan(lambda c, x: (c + x, None), 0.0, ct)[0] + ct + 1.0,
    "rematerialisation": lambda r, ct: checkpoint(lambda c: c + 1.0)(ct),
}
# Rules that add something by an operand, or by a result, of a loop, a cond or a call, and not by an equation.
JOINING: dict[str, Function] = {
    "a carry that begins with ones": lambda r, ct: fori_loop(0, 3, lambda i, c: c + ct, np.ones(3)),
    "a carry that begins with a residual": lambda r, ct: fori_loop(0, 3, lambda i, c: c + ct, r),
    "a carry that becomes another": lambda r, ct: fori_loop(0, 3, lambda i, c: (c[1], c[0] + ct), (1.0 + r, 0.0 * r))[
        0
    ],
    "a carry of a scan": lambda r, ct: scan(lambda c, x: (c + x, c), 1.0, ct)[1],
    "slices of a scan": lambda r, ct: scan(lambda c, x: (c + x[0] + x[1], c), 0.0, (ct, r))[1],
    "a constant of a loop": lambda r, ct: fori_loop(0, 3, lambda i, c: c + r, ct),
    "a constant of a branch": lambda r, ct: cond(r[0] > 0.0, lambda: ct + r, lambda: ct),
    "a branch of ones": lambda r, ct: jit(lambda a, c: cond(a > 0.0, lambda: c, lambda: np.ones(3)), backend="numpy")(
        r[0], ct
    ),
    "a branch of a residual": lambda r, ct: jit(lambda a, c: cond(a[0] > 0.0, lambda: c, lambda: a), backend="numpy")(
        r, ct
    ),
    "an argument": lambda r, ct: jit(lambda a, b: a + b, backend="numpy")(ct, r),
    "a result that is ones": lambda r, ct: jit(lambda a: (a, np.ones(3)), backend="numpy")(ct)[1],
    "rematerialisation": lambda r, ct: checkpoint(lambda a, b: a + b)(ct, r),
    "a function with a rule": lambda r, ct: ruled_sum(ct, r),
}
# Similar rules that are linear: the constant is added to a value that does not depend on the cotangent.
LINEAR: dict[str, tuple[Function, Any]] = {
    "a counter beside it": (
        lambda r, ct: scan(lambda c, _: ((c[0] + 1.0, c[1] * c[0]), None), (1.0, ct), None, 4)[0][1], 24.0
    ),
    "a counter that decides": (
        lambda r, ct: while_loop(lambda s: s[0] < 2.5, lambda s: (s[0] + 1.0, s[1] * 2.0), (0.5, ct))[1], 4.0
    ),
    "constants before it": (
        lambda r, ct: while_loop(lambda s: s[0] < r[2] + 2.0, lambda s: (s[0] + 1.0, s[1] + ct), (0.5, 0.0 * r))[1], 3.0
    ),
    "what a loop counted": (
        lambda r, ct: (scan(lambda c, x: (c + 1.0, x * 2.0), 0.0, ct)[0] + 1.0) * ct, 4.0
    ),
    "sums of it": (lambda r, ct: fori_loop(0, 3, lambda i, c: c + ct, np.zeros(3)), 3.0),
    "a branch of zeros": (
        lambda r, ct: ct + jit(lambda a, c: cond(a > 0.0, lambda: 0.0 * a * c, lambda: np.zeros(3)), backend="numpy")(
            r[0], ct
        ), 1.0
    ),
    "zeros of a call": (lambda r, ct: ct + jit(lambda a: abs(0.0 * a), backend="numpy")(r), 1.0),
    "zeros of a loop": (lambda r, ct: ct + fori_loop(0, 3, lambda i, c: c * 2.0, 0.0 * r), 1.0),
    "zeros without derivatives": (lambda r, ct: ct + stop_gradient(0.0 * r), 1.0),
    "a linear call": (
        lambda r, ct: linear_call(
            lambda res, a: while_loop(lambda s: abs(s[0]).sum() < 9.0, lambda s: (s[0] + 1.0, s[1]), (a, a))[1],
            lambda res, a: a, r, ct,
        ), 1.0
    ),
    "branches of it": (lambda r, ct: cond(r[0] + 1.0 > 0.0, lambda: ct * 2.0, lambda: -ct), 2.0),
}  # fmt: skip


@pytest.mark.parametrize("name", ADDING)
def test_nonlinear_bwd_that_adds_a_constant_is_refused(name: str) -> None:
    with pytest.raises(NotLinearError, match=r"one that adds something to it, `add` at .*test_nonlinear_bwd"):
        jvp(ruled(ADDING[name]), (XS,), (XS,))


@pytest.mark.parametrize("name", JOINING)
@pytest.mark.parametrize("compiled", [False, True])
def test_nonlinear_bwd_that_adds_an_operand_is_refused(name: str, compiled: bool) -> None:
    pushed: Function = lambda x: jvp(ruled(JOINING[name]), (x,), (XS,))[1]  # noqa: E731
    with pytest.raises(NotLinearError, match=r"one that adds something to it|something else than zero"):
        (jit(pushed, backend="numpy") if compiled else pushed)(XS)


@pytest.mark.parametrize("name", LINEAR)
@pytest.mark.parametrize("compiled", [False, True])
def test_bwd_that_adds_elsewhere_is_linear(name: str, compiled: bool) -> None:
    bwd, factor = LINEAR[name]
    function = ruled(bwd)
    pushed: Function = lambda x, t: jvp(function, (x,), (t,))[1]  # noqa: E731
    np.testing.assert_allclose((jit(pushed, backend="numpy") if compiled else pushed)(XS, XS), factor * XS, 1e-14)


def test_bwd_with_a_call_depends_per_result() -> None:
    """A loop counter does not depend on the cotangent in the same carry."""

    def program(ct: Any) -> Any:
        count, out = while_loop(lambda s: s[0] < 2.5, lambda s: (s[0] + 1.0, s[1] * 2.0), (0.5, ct))
        return jit(lambda a, b: (a + 1.0, b), backend="numpy")(count, out)[0] * out

    def error(got: str, remedy: str) -> NotLinearError:
        return NotLinearError(f"{got}; {remedy}")

    require_linear(make_jaxpr(program)(1.0), [], error)
    with pytest.raises(NotLinearError, match="adds something to it, `add`"):
        require_linear(make_jaxpr(lambda ct: program(ct) + 1.0)(1.0), [], error)
