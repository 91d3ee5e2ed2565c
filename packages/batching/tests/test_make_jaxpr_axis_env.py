"""`make_jaxpr` binds the names of axes that its argument `axis_env` gives."""

from typing import Any

import numpy as np
import pytest

from lawful import ops
from lawful.batching import UnboundAxisError, axis_index, axis_size, psum, vmap
from lawful.core import ArgumentTypeError, ArgumentValueError, check_jaxpr, eval_closed_jaxpr
from lawful.staging import jit, make_jaxpr

X = np.array([1.0, 2.0, 4.0, 5.0])


def scaled(x: Any) -> Any:
    return ops.add(ops.div(x, psum(x, "i")), axis_size("i"))


def test_make_jaxpr_axis_env_records_collectives() -> None:
    closed = make_jaxpr(scaled, axis_env=[("i", 4)])(X[0])
    check_jaxpr(closed.jaxpr)
    assert [eqn.primitive.name for eqn in closed.jaxpr.eqns] == ["psum", "div", "add"]
    assert closed.jaxpr.eqns[0].params == {"axis_name": "i"}


@pytest.mark.parametrize("transform", [lambda f: f, lambda f: jit(f, backend="numpy")])
def test_make_jaxpr_axis_env_jaxpr_evaluates_inside_vmap(transform: Any) -> None:
    closed = make_jaxpr(transform(scaled), axis_env=[("i", 4)])(X[0])
    evaluated = vmap(lambda x: eval_closed_jaxpr(closed, x)[0], axis_name="i")(X)
    np.testing.assert_allclose(evaluated, X / 12 + 4)


def test_make_jaxpr_axis_env_inner_vmap_shadows_a_name() -> None:
    sizes = make_jaxpr(lambda x: (x * axis_size("i"), vmap(lambda y: y * axis_size("i"), axis_name="i")(x)))
    closed = make_jaxpr(sizes.__wrapped__, axis_env=(("i", 4),))(np.ones(3))
    found = eval_closed_jaxpr(closed, np.ones(3))
    np.testing.assert_array_equal(found, [[4.0] * 3, [3.0] * 3])


def test_make_jaxpr_axis_env_adds_to_the_enclosing_vmap() -> None:
    def both(x: Any) -> Any:
        closed = make_jaxpr(lambda y: y * axis_index("j") + axis_size("i") * axis_size("j"), axis_env=[("j", 3)])(x)
        return vmap(lambda y: eval_closed_jaxpr(closed, y)[0], axis_name="j")(ops.broadcast_in_dim(x, (3,), ()))

    found = vmap(both, axis_name="i")(np.array([1.0, 2.0]))
    np.testing.assert_array_equal(found, [[6.0, 7.0, 8.0], [6.0, 8.0, 10.0]])


def test_make_jaxpr_axis_env_ends_with_the_trace() -> None:
    make_jaxpr(scaled, axis_env=[("i", 4)])(X[0])
    with pytest.raises(UnboundAxisError, match="axis name"):
        make_jaxpr(scaled)(X[0])
    with pytest.raises(UnboundAxisError, match=r"\('j'\), got 'i'"):
        make_jaxpr(scaled, axis_env=[("j", 4)])(X[0])


@pytest.mark.parametrize("axis_env", [("i", 4), {"i": 4}, ["i"], [("i", 4, 1)], 3, "i"])
def test_make_jaxpr_axis_env_of_no_pairs_error(axis_env: Any) -> None:
    with pytest.raises(ArgumentTypeError, match=r"make_jaxpr: expected axis_env of pairs of a name and a size"):
        make_jaxpr(scaled, axis_env=axis_env)


def test_make_jaxpr_axis_env_size_error() -> None:
    with pytest.raises(ArgumentValueError, match="sizes of at least 1"):
        make_jaxpr(scaled, axis_env=[("i", 0)])
