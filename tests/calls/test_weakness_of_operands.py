"""Calls of jaxprs whose operands differ in weakness from what the jaxprs were made for: the results are as recorded."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from lawful import ops
from lawful.autodiff import checkpoint, grad, jvp
from lawful.batching import vmap
from lawful.control_flow import cond, custom_linear_solve, custom_root, fori_loop, scan, scan_p, switch, while_loop
from lawful.core import ClosedJaxpr, ShapedArray, check_jaxpr, eval_closed_jaxpr, get_aval
from lawful.custom_rules import custom_jvp, custom_vmap, linear_call
from lawful.staging import jit, make_jaxpr


@custom_jvp
def doubled(x: Any) -> Any:
    return 2.0 * x


doubled.defjvp(lambda primals, tangents: (doubled(primals[0]), 2.0 * tangents[0]))


@custom_vmap
def tripled(x: Any) -> Any:
    return 3.0 * x


@tripled.def_vmap
def _tripled_batch(size: int, batched: Any, x: Any) -> Any:
    return 3.0 * x, batched[0]


CALLS: dict[str, Callable[[Any], Any]] = {
    "jit": jit(lambda x: 2.0 * x),
    "jit in jit": jit(lambda x: jit(lambda y: 2.0 * y)(x) + 1.0),
    "checkpoint": checkpoint(lambda x: 2.0 * x),
    "cond": lambda x: cond(x > 0.0, lambda y: 2.0 * y, lambda y: -y, x),
    "switch": lambda x: switch(1, [lambda y: y, lambda y: 2.0 * y, lambda y: -y], x),
    "scan": lambda x: scan(lambda c, _: (x * c, c), x, None, length=2)[0],
    "while_loop": lambda x: while_loop(lambda c: c < x + 1.0, lambda c: c + x, x),
    "fori_loop": lambda x: fori_loop(0, 3, lambda _, c: c * x, x),
    "custom_jvp": doubled,
    "custom_vmap": tripled,
    "linear_call": lambda x: linear_call(lambda r, y: r * y, lambda r, y: r * y, x, x),
    "custom_root": lambda x: custom_root(
        lambda y: y * y - x, 1.0, lambda f, y: y - f(y) / (2.0 * y), lambda g, y: y / g(1.0)
    ),
    "custom_linear_solve": lambda x: custom_linear_solve(lambda y: x * y, x, lambda _, b: b / x, symmetric=True),
}
VALUES = [(2.0, np.float64(2.0)), (np.float64(2.0), 2.0)]


def recorded(name: str, x: Any) -> tuple[ClosedJaxpr, Callable[[Any], Any]]:
    closed = make_jaxpr(CALLS[name])(x)
    return closed, lambda y: eval_closed_jaxpr(closed, y)[0]


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize(("made_for", "given"), VALUES)
def test_jaxpr_of_a_call_takes_another_weakness(name: str, made_for: Any, given: Any) -> None:
    closed, f = recorded(name, made_for)
    expected = CALLS[name](made_for)
    again = make_jaxpr(f)(given)
    check_jaxpr(again)
    assert again.in_avals == [get_aval(given)]
    if "cond" not in name and "switch" not in name:  # a known index is no call
        assert again.out_avals == closed.out_avals
    for run in f, jit(f), jit(f, backend="numpy"):
        np.testing.assert_allclose(run(given), expected)
        assert [get_aval(run(given))] == closed.out_avals


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize(("made_for", "given"), VALUES)
def test_jaxpr_of_another_weakness_differentiates(name: str, made_for: Any, given: Any) -> None:
    _, f = recorded(name, made_for)
    expected = jvp(CALLS[name], (made_for,), (1.0 if type(made_for) is float else np.float64(1.0),))[1]
    tangent = type(given)(1.0)
    for run in f, jit(f):
        np.testing.assert_allclose(jvp(run, (given,), (tangent,))[1], expected)
        np.testing.assert_allclose(jit(lambda x, run=run: jvp(run, (x,), (tangent,))[1])(given), expected)
        np.testing.assert_allclose(jit(grad(run))(given), expected)


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("made_for", [2.0, np.float64(2.0)], ids=["weak", "strong"])
def test_jaxpr_of_another_weakness_batches(name: str, made_for: Any) -> None:
    _, f = recorded(name, made_for)
    expected = [CALLS[name](x) for x in (2.0, 3.0)]
    for mapped in (vmap(f), vmap(jit(f)), jit(vmap(f))):
        np.testing.assert_allclose(mapped(np.array([2.0, 3.0])), expected)

    def of_weak_elements(is_large: Any) -> Any:
        return f(ops.select(is_large, 3.0, 2.0))

    for mapped in (vmap(of_weak_elements), jit(vmap(of_weak_elements))):
        np.testing.assert_allclose(mapped(np.array([False, True])), expected)


@pytest.mark.parametrize(("made_for", "given"), VALUES)
def test_transposed_custom_vmap_takes_another_weakness(made_for: Any, given: Any) -> None:
    """The recorded call keeps a Python function, whose results have the types of its first trace."""
    closed = make_jaxpr(grad(tripled))(made_for)

    def f(x: Any) -> Any:
        return eval_closed_jaxpr(closed, x)[0]

    for run in f, jit(f), jit(f, backend="numpy"):
        x_bar = run(given)
        assert (get_aval(x_bar), float(x_bar)) == (closed.out_avals[0], 3.0)


def test_call_refuses_operands_of_another_dtype() -> None:
    (eqn,) = make_jaxpr(CALLS["jit"])(2.0).eqns
    for aval in ShapedArray((), np.float32), ShapedArray((2,), np.float64):
        with pytest.raises(TypeError, match="the types of a call must be those of its jaxpr"):
            make_jaxpr(lambda x: eqn.primitive.bind(x, **eqn.params))(aval)


def test_scan_of_numbers_takes_a_stack() -> None:
    """Its body was made for weak elements; a stack of them is strong."""
    body = make_jaxpr(lambda carry, x: (2.0 * carry, carry * x))(0.0, 1.0)
    loop = {"num_consts": 0, "num_carry": 1, "length": 2, "reverse": False, "unroll": 1, "checkpoints": None}

    def products(start: Any) -> Any:
        return scan_p.bind(start, np.array([1.0, 2.0]), jaxpr=body, **loop)[1]

    for start in 4.0, np.float64(4.0):
        closed = make_jaxpr(products)(start)
        check_jaxpr(closed)
        np.testing.assert_allclose(eval_closed_jaxpr(closed, start)[0], [4.0, 16.0])
        np.testing.assert_allclose(jit(products)(start), [4.0, 16.0])
