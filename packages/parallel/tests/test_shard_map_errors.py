"""Mistakes with meshes, specs and collectives: each has an error that says where, what came, and what to do."""

import re
from typing import Any

import numpy as np
import pytest

from lawful.autodiff import grad, jvp
from lawful.batching import UnboundAxisError, all_gather, axis_index, pmax, psum, vmap
from lawful.control_flow import cond, scan, while_loop
from lawful.core import ArgumentTypeError, ArgumentValueError, LawfulError
from lawful.custom_rules import custom_jvp, custom_vjp
from lawful.parallel import (
    AbstractMesh,
    NamedSharding,
    make_mesh,
    numpy_devices,
    pmap,
    shard_map,
    with_sharding_constraint,
)
from lawful.parallel import PartitionSpec as P
from lawful.staging import jit

MESH = make_mesh((4, 2), ("x", "y"), devices=numpy_devices(8))
X = np.arange(16.0).reshape(8, 2)


ROWS = P("x")


def mapped(f: Any, in_specs: Any = ROWS, out_specs: Any = ROWS, **options: Any) -> Any:
    return shard_map(f, mesh=MESH, in_specs=in_specs, out_specs=out_specs, **options)


def with_rule(rule: Any) -> Any:
    """Returns the derivative of the sum over devices by a rule of forward mode."""
    total = custom_jvp(lambda x: psum(x, "x"))
    total.defjvp(rule)
    mapped_total = mapped(total, out_specs=P())
    return lambda: jvp(mapped_total, (X,), (X,))


def with_fwd(fwd: Any) -> Any:
    """Returns the gradient of the sum over devices by a rule of reverse mode."""
    total = custom_vjp(lambda x: psum(x, "x"))
    total.defvjp(fwd, lambda _, ct: (ct,))
    return lambda: grad(lambda x: mapped(total, out_specs=P())(x).sum())(X)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: mapped(lambda x: x, P("z"))(X), ArgumentValueError, "the spec of argument 0 axes that are mapped"),
        (lambda: mapped(lambda x: x, P("x", None, None))(X), ArgumentValueError, "at most 2 dimensions for argument 0"),
        (lambda: mapped(lambda x: x)(X[:6]), ArgumentValueError, "dimension 0 of argument 0 .* multiple of 4.*got 6"),
        (lambda: mapped(lambda d: d["a"], ({"a": P("x")},))({"a": X[:7]}), ArgumentValueError, r"argument 0\['a'\]"),
        (lambda: mapped(lambda x: x, P(("x", "y")))(X[:4]), ArgumentValueError, "of 8, the size of axes 'x', 'y'"),
        (lambda: mapped(lambda x: x, (P("x"), P("x")))(X), ArgumentValueError, "prefix of the tree of the arguments"),
        (lambda: mapped(lambda x: x, out_specs=(P("x"), P("x")))(X), ArgumentValueError, "prefix of the tree of the"),
        (lambda: mapped(lambda x: x, "x")(X), ArgumentTypeError, r"write PartitionSpec\(\) for an array that is"),
        (lambda: mapped(lambda x: x, out_specs=None)(X), ArgumentTypeError, "out_specs of PartitionSpecs, got None"),
        (lambda: shard_map(lambda x: x, mesh=MESH, out_specs=ROWS)(X), ArgumentTypeError, "in_specs, got none; types"),
        (lambda: mapped(mapped(lambda x: x))(X), ArgumentValueError, "an enclosing one maps over it: leave it out"),
        (lambda: mapped(lambda x: x, out_specs=3)(X), ArgumentTypeError, "out_specs of PartitionSpecs, got 3"),
        (lambda: mapped(lambda x: x.sum())(X), ArgumentValueError, "at most 0 dimensions for result"),
        (lambda: mapped(lambda x: x, out_specs=P())(X), ArgumentTypeError, "may vary over 'x'; apply a collective"),
        (lambda: mapped(lambda x: {"s": (x, x)}, out_specs=P())(X), ArgumentTypeError, r"result\['s'\]\[0\]"),
        (lambda: mapped(lambda x: axis_index("y") * x, out_specs=P("x"))(X), ArgumentTypeError, "may vary over 'y'"),
        (lambda: mapped(lambda x: psum(x, "z"))(X), UnboundAxisError, "'z'"),
        (lambda: psum(X, "x"), UnboundAxisError, "'x'"),
        (lambda: mapped(lambda x: psum(x, "y"), axis_names={"x"})(X), UnboundAxisError, "'y'"),
        (lambda: mapped(lambda x: x, P("y"), axis_names={"x"})(X), ArgumentValueError, "or add it to axis_names"),
        (lambda: mapped(lambda x: x, axis_names={"q"})(X), ArgumentValueError, "axis_names of Mesh"),
        (lambda: shard_map(lambda x: x, in_specs=P(), out_specs=P())(X), ArgumentTypeError, "give mesh="),
        (
            lambda: shard_map(lambda x: x, mesh=AbstractMesh((2,), "x"), in_specs=P("x"), out_specs=P("x"))(X),
            ArgumentTypeError, "a mesh with devices to run on",
        ),
        (lambda: mapped(lambda x: "no array")(X), LawfulError, "array"),
        (lambda: mapped(3), LawfulError, "function"),
        (
            lambda: mapped(lambda x: mapped(lambda y: y, axis_names={"x"})(x), axis_names={"x"})(X),
            ArgumentValueError, "not mapped over already",
        ),
        (
            lambda: mapped(lambda x: cond(axis_index("x") < 2, lambda: psum(x, "x"), lambda: x))(X),
            ArgumentValueError, "expected all devices along 'x' to take part",
        ),
        (
            lambda: mapped(lambda x: while_loop(lambda x: x.sum() < 9, lambda x: x + pmax(x, "x"), x))(X),
            ArgumentValueError, "in a branch or loop",
        ),
        (
            lambda: mapped(lambda x: scan(lambda c, _: (all_gather(c, "x"), None), x, None, 2)[0])(X),
            ArgumentTypeError, "scan",
        ),
        (lambda: vmap(mapped(lambda x: x), spmd_axis_name="x")(np.zeros((4, 8))), ArgumentValueError, "spmd_axis_name"),
        (
            lambda: vmap(mapped(lambda x: x), spmd_axis_name="q")(np.zeros((4, 8))), ArgumentValueError,
            "spmd_axis_name of Mesh.*got 'q'",
        ),
        (
            lambda: vmap(pmap(lambda x: x, devices=numpy_devices(2)), spmd_axis_name="q")(np.zeros((4, 2))),
            ArgumentValueError, "vmap of pmap: expected no spmd_axis_name",
        ),
        (lambda: pmap(lambda x: x, devices=numpy_devices(2))(X), ArgumentValueError, "as many devices as elements"),
        (lambda: pmap(lambda x: x, devices=[]), ArgumentValueError, "devices as elements, got none"),
        (lambda: pmap(lambda x: x, backend="numpy")(np.ones(99)), ArgumentValueError, "at most [0-9]+ elements"),
        (lambda: pmap(lambda x, y: x, devices=numpy_devices(8))(X, X[:4]), ArgumentValueError, "one size of the"),
        (lambda: pmap(lambda x: x, in_axes=3, devices=numpy_devices(8))(X), ArgumentValueError, "dimension 3"),
        (lambda: with_sharding_constraint(X, P("x")), ArgumentTypeError, "a mesh in the context"),
        (lambda: with_sharding_constraint(X, 3), ArgumentTypeError, "NamedSharding"),
        (
            lambda: mapped(lambda x: with_sharding_constraint(x, NamedSharding(MESH, P("x"))))(X),
            ArgumentValueError, "no enclosing shard_map",
        ),
        (lambda: jit(lambda x: x, in_shardings=P("x"))(X), ArgumentTypeError, "a mesh in the context"),
        (
            with_rule(lambda primals, tangents: (psum(primals[0], "x"), tangents[0])), ArgumentTypeError,
            "expected a tangent that is the same along 'x', as the result is",
        ),
        (
            with_rule(lambda primals, tangents: (psum(primals[0], "x") + 0 * primals[0], psum(tangents[0], "x"))),
            ArgumentTypeError, "a rule that gives a result that is the same along 'x', as the function does",
        ),
        (
            with_fwd(lambda x: (psum(x, "x") + 0 * x, None)), ArgumentTypeError,
            "a rule that gives a result that is the same along 'x', as the function does",
        ),
    ],
)  # fmt: skip
def test_a_mistake_has_an_error_of_its_own(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message) as caught:
        call()
    assert re.match(r".*test_shard_map_errors\.py:\d+ \(", str(caught.value))
    # Nothing is lost: the next call works.
    np.testing.assert_array_equal(mapped(lambda x: x + psum(1.0, "x"))(X), X + 4.0)


def test_an_unchecked_lie_of_out_specs_takes_the_first_part() -> None:
    lie = mapped(lambda x: x, out_specs=P(), check_vma=False)
    np.testing.assert_array_equal(lie(X), X[:2])


def test_all_devices_may_meet_a_collective_in_a_branch() -> None:
    f = mapped(lambda x, p: cond(p, lambda: psum(x, "x"), lambda: x * 0 + psum(x, "x") * 2), (P("x"), P()), P("x"))
    expected = np.tile(X.reshape(4, 2, 2).sum(0), (4, 1))
    np.testing.assert_allclose(f(X, True), expected)
    np.testing.assert_allclose(f(X, False), 2 * expected)


def test_gradients_inside_sum_where_types_are_checked() -> None:
    w = np.ones(2)

    def f(w: Any, x: Any) -> Any:
        return grad(lambda w: (x * w).sum())(w)

    whole = shard_map(f, mesh=MESH, in_specs=(P(), P("x")), out_specs=P())(w, X)
    np.testing.assert_allclose(whole, X.sum(0))
    parts = shard_map(f, mesh=MESH, in_specs=(P(), P("x")), out_specs=P("x"), check_vma=False)(w, X)
    np.testing.assert_allclose(parts, X.reshape(4, 2, 2).sum(1).reshape(-1))
