"""`map` returns the stacked results of the slices, computed one by one or in batches."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from lawful import ops
from lawful.autodiff import grad, jvp
from lawful.batching import vmap
from lawful.control_flow import cond, map
from lawful.staging import jit as jit_by
from lawful.staging import make_jaxpr

jit = partial(jit_by, backend="numpy")

SIZES = (None, 1, 2, 3, 5, 7, 10)
XS = {"a": np.linspace(-1.0, 1.0, 7), "b": np.arange(14).reshape(7, 2)}

every_size = pytest.mark.parametrize("batch_size", SIZES)


def function(x: Any) -> Any:
    return ops.sin(x["a"]), {"sum": ops.reduce_sum(x["b"], (0,)) * 2, "b": x["b"]}


@every_size
def test_map_stacks_results(batch_size: int | None, require_same: Callable[..., None]) -> None:
    expected = (np.sin(XS["a"]), {"sum": XS["b"].sum(1) * 2, "b": XS["b"]})
    require_same(map(function, XS, batch_size=batch_size), expected, 1e-15)
    require_same(jit(lambda xs: map(function, xs, batch_size=batch_size))(XS), expected, 1e-15)


@every_size
def test_map_transformed_equals_vmap_transformed(batch_size: int | None, require_same: Callable[..., None]) -> None:
    xs, factor = XS["a"], 0.3

    def mapped(xs: Any, factor: Any) -> Any:
        return map(lambda x: ops.sin(x * factor), xs, batch_size=batch_size)

    def expected(xs: Any, factor: Any) -> Any:
        return vmap(lambda x: ops.sin(x * factor))(xs)

    def total(f: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *args: ops.reduce_sum(f(*args), (0,))

    require_same(jvp(mapped, (xs, factor), (xs, 1.0)), jvp(expected, (xs, factor), (xs, 1.0)), 1e-15)
    require_same(grad(total(mapped), (0, 1))(xs, factor), grad(total(expected), (0, 1))(xs, factor), 1e-14)
    rows = np.stack([xs, xs + 1.0])
    require_same(vmap(mapped, (0, None))(rows, factor), vmap(expected, (0, None))(rows, factor), 1e-15)


@every_size
def test_map_of_empty_arrays(batch_size: int | None) -> None:
    out = map(lambda x: (x * 2.0, ops.convert_element_type(x, np.int32)), np.zeros((0, 3)), batch_size=batch_size)
    assert [(y.shape, y.dtype) for y in out] == [((0, 3), np.float64), ((0, 3), np.int32)]


def test_map_of_cond_computes_one_branch_per_slice() -> None:
    closed = make_jaxpr(lambda xs: map(lambda x: cond(x > 0.0, ops.sin, ops.cos, x), xs))(XS["a"])
    (eqn,) = closed.eqns
    assert "cond" in {inner.primitive.name for inner in eqn.params["jaxpr"].eqns}


def test_map_batch_size() -> None:
    closed = make_jaxpr(lambda xs: map(ops.sin, xs, batch_size=3))(XS["a"])
    scan = next(eqn for eqn in closed.eqns if eqn.primitive.name == "scan")
    assert scan.params["length"] == 2
    assert [str(aval) for aval in scan.params["jaxpr"].in_avals] == ["f64[3]"]
