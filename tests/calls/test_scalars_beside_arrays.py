"""Elementwise primitives take scalars beside arrays, and every rule gives what it gives for the broadcast operands."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest

from lawful import numpy as lnp
from lawful import ops
from lawful.autodiff import hessian, jacfwd, jacrev, jvp, linearize, vjp
from lawful.batching import vmap
from lawful.core import ArgumentTypeError, Primitive, plain
from lawful.laws import declared_primitives
from lawful.staging import jit, make_jaxpr
from lawful.taylor import jet

SHAPE = (2, 3)


def is_elementwise(primitive: Primitive) -> bool:
    declaration = primitive.declaration
    return declaration is not None and declaration.pointwise and len(declaration.domain) > 1


PRIMITIVES = [primitive for primitive in declared_primitives() if is_elementwise(primitive)]
# The order of polygamma is an integer: it has no derivative by it.
DIFFERENTIABLE = [p for p in PRIMITIVES if p.declaration and p.declaration.differentiable and p.name != "polygamma"]


class Draws:
    """The source of a declaration's parameters."""

    def __init__(self) -> None:
        self.random = np.random.default_rng(0)

    def shape(self, min_ndim: int = 0, max_ndim: int = 3) -> tuple[int, ...]:
        return SHAPE

    def dtype(self, kinds: str) -> Any:
        return {"f": "float64", "i": "int32", "u": "uint8", "b": "bool", "c": "complex64"}[kinds[0]]

    def integer(self, low: int, high: int) -> int:
        return low

    def one_of(self, values: Any) -> Any:
        return values[0]


def calls(primitive: Primitive) -> Iterator[tuple[Callable[..., Any], list[Any], list[Any]]]:
    """Yields the primitive with parameters, operands of which some are scalars, and the same operands broadcast."""
    declaration = primitive.declaration
    assert declaration is not None
    avals, params = declaration.sample(Draws())  # type: ignore[arg-type]
    random = np.random.default_rng(1)
    for scalar in list(product((True, False), repeat=len(avals)))[1:-1]:
        operands = []
        for aval, domain, is_scalar in zip(avals, declaration.domain, scalar, strict=True):
            is_moderate = domain.low < 2.0
            low, high = (max(domain.low, -2.0), min(domain.high, 2.0)) if is_moderate else (domain.low, domain.high)
            values = random.uniform(low, high, () if is_scalar else SHAPE)
            operands.append(values.astype(aval.dtype)[()])
        yield (
            lambda *args: primitive.bind(*args, **params),
            operands,
            [np.broadcast_to(x, SHAPE).copy() for x in operands],
        )


def assert_same(found: Any, expected: Any, rtol: float = 0.0) -> None:
    assert np.asarray(found).dtype == np.asarray(expected).dtype
    np.testing.assert_allclose(found, expected, rtol=rtol, atol=1e-12 if rtol else 0.0)


def total(cotangent: Any, operand: Any) -> Any:
    return np.sum(cotangent) if np.ndim(operand) == 0 else cotangent


@pytest.mark.parametrize("primitive", PRIMITIVES, ids=str)
def test_primitive_evaluated_and_compiled(primitive: Primitive) -> None:
    every = list(calls(primitive))
    wanted = [call(*full) for call, _, full in every]
    for (call, operands, full), expected in zip(every, wanted, strict=True):
        assert_same(call(*operands), expected)
        with plain():
            assert_same(call(*operands), expected)
        program = make_jaxpr(call)(*operands)
        assert len(program.eqns) == 1
        assert program.out_avals == make_jaxpr(call)(*full).out_avals

    def all_calls(args: list[list[Any]]) -> list[Any]:
        return [call(*operands) for (call, _, _), operands in zip(every, args, strict=True)]

    for backend in ("numpy", "xla"):
        results = jit(all_calls, backend=backend)([operands for _, operands, _ in every])
        for found, expected in zip(results, wanted, strict=True):
            # XLA divides by a scalar by its reciprocal.
            assert_same(found, expected, 1e-12 if backend == "xla" else 0.0)


@pytest.mark.parametrize("primitive", PRIMITIVES, ids=str)
def test_primitive_batched(primitive: Primitive) -> None:
    for call, operands, full in calls(primitive):
        for dims in list(product((None, 0, -1), repeat=len(operands)))[1:]:
            rows = [
                x if dim is None else np.stack([x, x[..., ::-1] if np.ndim(x) else x], 0 if dim == 0 else np.ndim(x))
                for x, dim in zip(operands, dims, strict=True)
            ]
            found = vmap(call, in_axes=dims)(*rows)
            for k in range(2):
                of_row = [x if dim is None else np.take(x, k, axis=dim) for x, dim in zip(rows, dims, strict=True)]
                assert_same(found[k], call(*[np.broadcast_to(x, SHAPE) for x in of_row]))
        assert_same(call(*operands), call(*full))


@pytest.mark.parametrize("layer", ["fast", "plain"])
@pytest.mark.parametrize("primitive", DIFFERENTIABLE, ids=str)
def test_primitive_differentiated(primitive: Primitive, layer: str) -> None:
    def check() -> None:
        for call, operands, full in calls(primitive):
            for _ in range(3):  # the fast layer caches rules after the first call
                tangents = [np.ones_like(x) for x in operands]
                expected = jvp(call, full, [np.ones_like(x) for x in full])
                for found, wanted in zip(jvp(call, operands, tangents), expected, strict=True):
                    assert_same(found, wanted, 1e-12)
                assert_same(linearize(call, *operands)[1](*tangents), expected[1], 1e-12)
                out, pullback = vjp(call, *operands)
                cotangents = pullback(np.ones_like(out))
                wanted = vjp(call, *full)[1](np.ones_like(out))
                for cotangent, whole, operand in zip(cotangents, wanted, operands, strict=True):
                    assert np.shape(cotangent) == np.shape(operand)
                    assert_same(cotangent, total(whole, operand), 1e-12)
            for i in range(len(operands)) if not np.iscomplexobj(call(*full)) else ():
                found = jacrev(call, i)(*operands)
                assert_same(jacfwd(call, i)(*operands), found, 1e-12)
                assert_same(jit(jacrev(call, i), backend="numpy")(*operands), found, 1e-12)
                assert_same(vmap(jacrev(call, i))(*[np.stack([x, x]) for x in operands])[1], found, 1e-12)
            series = [[np.ones_like(x), np.zeros_like(x)] for x in operands]
            found = jet(call, operands, series)
            wanted = jet(call, full, [[np.ones_like(x), np.zeros_like(x)] for x in full])
            assert_same(found[0], wanted[0])
            for one, other in zip(found[1], wanted[1], strict=True):
                assert_same(np.broadcast_to(one, SHAPE), other, 1e-12)

    if layer == "plain":
        with plain():
            check()
    else:
        check()


@pytest.mark.parametrize("op", [ops.mul, ops.div, ops.pow, ops.atan2, ops.max, ops.hypot], ids=lambda op: op.__name__)
def test_elementwise_second_derivatives(op: Any) -> None:
    x, y = 0.7, np.array([0.5, 1.5])
    for f in (lambda x, y: ops.reduce_sum(op(x, y), (0,)), lambda x, y: ops.reduce_sum(op(y, x), (0,))):
        found = hessian(f, (0, 1))(x, y)
        (xx, xy), (yx, yy) = hessian(lambda x, y, f=f: f(x[0] * np.ones(2), y), (0, 1))(np.array([x]), y)
        assert_same(found[0][0], np.squeeze(xx), 1e-12)
        assert_same(found[0][1], np.squeeze(xy), 1e-12)
        assert_same(found[1][0], np.squeeze(yx), 1e-12)
        assert_same(found[1][1], yy, 1e-12)
        for one, other in zip(jit(hessian(f, (0, 1)))(x, y)[1], found[1], strict=True):
            assert_same(one, other, 1e-12)


def test_make_jaxpr_of_numbers_beside_arrays() -> None:
    """The program of JAX's documentation of jaxprs, equation by equation."""
    program = make_jaxpr(lambda a, b: lnp.sum(a + lnp.sin(b) * 3.0))(np.ones(8), np.ones(8))
    assert [eqn.primitive.name for eqn in program.eqns] == ["sin", "mul", "add", "reduce_sum"]


def test_operands_of_two_shapes_are_refused() -> None:
    with pytest.raises(ArgumentTypeError, match="one shape and dtype, or scalars beside them"):
        make_jaxpr(ops.add_p.bind)(np.ones(2), np.ones(3))
    with pytest.raises(ArgumentTypeError, match="one shape and dtype, or scalars beside them"):
        make_jaxpr(ops.add_p.bind)(np.ones(2), np.float32(1.0))
