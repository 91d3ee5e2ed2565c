"""``jet`` on generated programs: of order one ``jvp``, of higher order nested ``jvp``, and compiled the same."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from lawful import tree
from lawful.autodiff import jvp
from lawful.core import get_aval, is_inexact
from lawful.laws import Program, programs
from lawful.staging import jit
from lawful.taylor import jet


def directions(program: Program, seed: int) -> Any:
    random = np.random.default_rng(seed)

    def draw(x: Any) -> Any:
        aval = get_aval(x)
        if not is_inexact(aval.dtype):
            return x
        drawn = random.standard_normal(aval.shape)
        return 0.25 * drawn if aval.weak_type and not aval.shape else (0.25 * drawn).astype(aval.dtype)

    return tree.map(draw, program.args)


def floats(result: Any) -> list[Any]:
    return [np.asarray(x) for x in tree.leaves(result) if is_inexact(get_aval(x).dtype)]


def require_close(got: list[Any], expected: list[Any]) -> None:
    assert len(got) == len(expected)
    for x, y in zip(got, expected, strict=True):
        assert (x.shape, x.dtype) == (y.shape, y.dtype)
        np.testing.assert_allclose(x, y, rtol=1e-7, atol=1e-7 * (1 + np.max(np.abs(y), initial=0.0)))


def along(program: Program, v: Any) -> Any:
    """Returns the first derivative of a program along a direction, as a function of the point."""
    moving = [i for i, x in enumerate(tree.leaves(program.args)) if is_inexact(get_aval(x).dtype)]
    leaves, treedef = tree.flatten(program.args)
    steps = [tree.leaves(v)[i] for i in moving]

    def at(*xs: Any) -> list[Any]:
        new = list(leaves)
        for i, x in zip(moving, xs, strict=True):
            new[i] = x
        return [y for y in tree.leaves(program(*tree.unflatten(treedef, new))) if is_inexact(get_aval(y).dtype)]

    def first(*xs: Any) -> Any:
        return jvp(at, xs, tuple(steps))[1]

    return first, tuple(leaves[i] for i in moving), tuple(steps)


@given(programs())
def test_jet_first_and_second_order(program: Program) -> None:
    v = directions(program, program.seed)
    zero = tree.map(np.zeros_like, v)
    value, [first, second] = jet(program, program.args, [[x, z] for x, z in zip(v, zero, strict=True)])
    derivative, xs, steps = along(program, v)
    require_close(floats(value), floats(program(*program.args)))
    if not xs:
        return
    expected, expected_second = jvp(derivative, xs, steps)
    require_close(floats(first), floats(expected))
    require_close(floats(second), floats(expected_second))


@pytest.mark.parametrize("order", [1, 3])
@settings(max_examples=max(settings.default.max_examples // 4, 4))  # traced with all their coefficients
@given(program=programs())
def test_jet_compiled(order: int, program: Program) -> None:
    series = [[x] * order for x in directions(program, program.seed)]
    eager = jet(program, program.args, series)
    compiled = jit(lambda args, terms: jet(program, args, terms))(program.args, series)
    require_close(floats(compiled), floats(eager))
