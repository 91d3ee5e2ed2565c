"""A user's elementwise op that follows no ufunc: operands of other kinds are promoted or refused, on every path."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from lawful import ops
from lawful.core import ArgumentTypeError, get_aval, supported_dtypes
from lawful.staging import jit, make_jaxpr


def _scaled(kinds: str) -> ops.Elementwise:
    factor = 0.75 if set(kinds) & set("fc") else 3

    def lower(ctx: Any, x: Any) -> Any:
        return ctx.hlo.multiply(x, ctx.full(ctx.avals_in[0], factor))

    return ops.elementwise(f"scaled_{kinds}", "", lambda x: x * x.dtype.type(factor), lower, kinds=kinds)


SCALED = {kinds: _scaled(kinds) for kinds in ("f", "fc", "c", "iu", "fiuc", "iub")}


def _result(function: Callable[[], Any]) -> Any:
    try:
        return function()
    except ArgumentTypeError as error:
        return type(error)


@pytest.mark.parametrize("kinds", SCALED)
@pytest.mark.parametrize("x", [*[np.ones(3, dtype) for dtype in supported_dtypes], True, 1, 1.0, 1j], ids=str)
def test_elementwise_of_any_kind_eager_and_staged(kinds: str, x: Any):
    op = SCALED[kinds]
    eager = _result(lambda: op(x))
    staged = _result(lambda: make_jaxpr(op)(x).out_avals[0])
    assert (eager if isinstance(eager, type) else get_aval(eager)) == staged
    compiled = _result(lambda: jit(op, backend="numpy")(x))
    assert np.array_equal(compiled, eager)


def test_elementwise_of_floats_promotes_integers():
    assert jit(SCALED["f"], backend="xla")(np.array([1, 2])).tolist() == [0.75, 1.5]
    assert SCALED["f"](np.array([1, 2])).tolist() == jit(SCALED["f"])(np.array([1, 2])).tolist() == [0.75, 1.5]
    assert jit(SCALED["f"])(np.int8(1)) == SCALED["f"](np.int8(1)) == 0.75
    assert get_aval(SCALED["c"](np.float32(1))).dtype == np.complex64


def test_elementwise_refuses_kinds_beyond_its_own():
    for call in (SCALED["f"], jit(SCALED["f"]), make_jaxpr(SCALED["f"])):
        with pytest.raises(ArgumentTypeError, match="expected operands of a dtype that it is defined for, got c"):
            call(np.complex64(1))
    with pytest.raises(ArgumentTypeError, match="convert with astype"):
        SCALED["iu"](1.5)
