"""Every rule of the structural primitives, of selection and of complex parts, over drawn calls."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest

from lawful import ops
from lawful.core import (
    Interval,
    Primitive,
    UndefinedPrimal,
    Zero,
    get_aval,
    instantiate_zeros,
    is_inexact,
)

STRUCTURAL = [
    ops.broadcast_in_dim_p,
    ops.reshape_p,
    ops.transpose_p,
    ops.squeeze_p,
    ops.slice_p,
    ops.rev_p,
    ops.pad_p,
    ops.concatenate_p,
    ops.select_n_p,
]
COMPLEX = [ops.real_p, ops.imag_p, ops.conj_p, ops.complex_p]
LINEAR = [*STRUCTURAL, *COMPLEX]
BATCHED = [*LINEAR, ops.clamp_p]
PRIMITIVES = [*BATCHED, ops.iota_p]

SINGLE, DOUBLE = {"rtol": 1e-4, "atol": 1e-4}, {"rtol": 1e-9, "atol": 1e-9}


def group(primitive: Primitive, args: Sequence[Any]) -> tuple[int, ...]:
    """Returns the arguments in which a primitive is jointly linear."""
    assert primitive.declaration is not None
    (linear,) = primitive.declaration.linear
    return tuple(i for i in linear if i < len(args))


def subsets(items: Sequence[int]) -> Iterator[tuple[int, ...]]:
    for count in range(1, len(items) + 1):
        yield from itertools.combinations(items, count)


@pytest.mark.parametrize("primitive", PRIMITIVES, ids=str)
def test_structural_evaluation_equals_reference(primitive: Primitive, calls: Any, assert_same: Any) -> None:
    assert primitive.declaration is not None
    assert primitive.declaration.reference is not None
    for args, params, _ in calls(primitive, draws=120):
        assert_same(primitive.bind(*args, **params), primitive.declaration.reference(*args, **params))


@pytest.mark.parametrize("primitive", PRIMITIVES, ids=str)
def test_structural_abstract_eval_equals_value(primitive: Primitive, calls: Any, strictly: Any) -> None:
    for args, params, _ in calls(primitive, draws=120):
        with strictly():
            assert isinstance(primitive.bind(*args, **params), np.ndarray | np.generic)


@pytest.mark.parametrize("primitive", STRUCTURAL, ids=str)
def test_structural_of_python_scalars_is_strong(primitive: Primitive, calls: Any, strictly: Any) -> None:
    for args, params, _ in calls(primitive, {"f": ("float64",)}, 120):
        weak = [x.item() if not x.shape and x.dtype != np.int32 else x for x in args]
        with strictly():
            assert not get_aval(primitive.bind(*weak, **params)).weak_type


def test_structural_draws_cover_shapes_and_dtype_kinds(calls: Any) -> None:
    """The declared draws include scalars, empty arrays and every dtype kind."""
    for primitive in STRUCTURAL:
        args = [args[-1] for args, _, _ in calls(primitive, draws=200)]
        assert {x.dtype.kind for x in args} >= set("fiubc")
        if primitive is not ops.pad_p:
            assert {0} < {x.size for x in args}
        if primitive is not ops.concatenate_p:
            assert any(not x.shape for x in args)


@pytest.mark.parametrize("primitive", LINEAR, ids=str)
def test_structural_jvp_is_the_op_of_the_tangents(
    primitive: Primitive, calls: Any, doubles: Any, strictly: Any, assert_same: Any
) -> None:
    for args, params, choose in calls(primitive, doubles):
        linear = group(primitive, args)
        directions = choose.arrays(primitive, [get_aval(x) for x in args])
        for nonzero in [(), *subsets(linear)]:
            tangents = [
                directions[i] if i in nonzero else Zero(get_aval(x).to_tangent_aval()) for i, x in enumerate(args)
            ]
            with strictly():
                ans, tangent = primitive.rule("jvp")(args, tangents, **params)
            assert_same(ans, primitive.bind(*args, **params))
            assert (type(tangent) is Zero) == (not nonzero)
            assert (tangent.aval if type(tangent) is Zero else get_aval(tangent)) == get_aval(ans).to_tangent_aval()
            of = [instantiate_zeros(t) if i in linear else args[i] for i, t in enumerate(tangents)]
            assert_same(instantiate_zeros(tangent), primitive.bind(*of, **params))


@pytest.mark.parametrize("primitive", [p for p in PRIMITIVES if p not in COMPLEX], ids=str)
def test_structural_jvp_of_integers_is_zero(primitive: Primitive, calls: Any) -> None:
    for args, params, _ in calls(primitive, {"i": ("int32",), "u": ("uint8",), "b": ("bool",)}, 20):
        if not any(is_inexact(x.dtype) for x in args):
            zeros = [Zero(get_aval(x).to_tangent_aval()) for x in args]
            ans, tangent = primitive.rule("jvp")(args, zeros, **params)
            assert type(tangent) is Zero
            assert tangent.aval == get_aval(ans).to_tangent_aval()


@pytest.mark.parametrize("primitive", LINEAR, ids=str)
def test_structural_transpose_inner_products(primitive: Primitive, calls: Any, doubles: Any, strictly: Any) -> None:
    def inner(x: Any, y: Any) -> Any:
        # JAX's convention for complex numbers: the real part, without conjugation.
        return np.sum(np.multiply(x, y)).real

    for args, params, choose in calls(primitive, doubles, 120):
        linear = group(primitive, args)
        (ct,) = [choose.array(get_aval(primitive.bind(*args, **params)), Interval())]
        for undefined in subsets(linear):
            given = [UndefinedPrimal(get_aval(x)) if i in undefined else x for i, x in enumerate(args)]
            with strictly():
                cotangents = primitive.rule("transpose")(ct, *given, **params)
            assert [c is None for c in cotangents] == [i not in undefined for i in range(len(args))]
            assert all(get_aval(cotangents[i]) == get_aval(args[i]) for i in undefined)
            # The other arguments that it is linear in are zero.
            at = [np.zeros_like(x) if i in linear and i not in undefined else x for i, x in enumerate(args)]
            np.testing.assert_allclose(
                inner(ct, primitive.bind(*at, **params)),
                sum(inner(cotangents[i], args[i]) for i in undefined),
                **(SINGLE if get_aval(ct).dtype.name in ("float32", "complex64") else DOUBLE),
            )
            zeros = primitive.rule("transpose")(Zero(get_aval(ct)), *given, **params)
            for i, (zero, x) in enumerate(zip(zeros, given, strict=True)):
                assert zero is None if i not in undefined else (type(zero) is Zero and zero.aval == x.aval)


@pytest.mark.parametrize("primitive", STRUCTURAL, ids=str)
def test_structural_cotangent_of_weak_argument_is_weak(primitive: Primitive, calls: Any, strictly: Any) -> None:
    for args, params, choose in calls(primitive, {"f": ("float64",)}, 120):
        linear = group(primitive, args)
        if all(args[i].shape for i in linear):
            continue
        avals = [get_aval(x).update(weak_type=not x.shape) for x in args]
        ct = choose.array(get_aval(primitive.bind(*args, **params)), Interval())
        given = [UndefinedPrimal(avals[i]) if i in linear else x for i, x in enumerate(args)]
        with strictly():
            cotangents = primitive.rule("transpose")(ct, *given, **params)
        assert [get_aval(cotangents[i]) for i in linear] == [avals[i] for i in linear]


@pytest.mark.parametrize("primitive", BATCHED, ids=str)
def test_structural_batch_equals_stacked_loop(
    primitive: Primitive, calls: Any, strictly: Any, assert_same: Any
) -> None:
    size = 3
    for args, params, choose in calls(primitive, draws=30):
        avals = [get_aval(x) for x in args]
        rows = [choose.arrays(primitive, avals) for _ in range(size)]
        combinations = list(itertools.product(*[[None, *range(x.ndim + 1)] for x in args]))[1:]
        # All combinations for up to three operands, else a sample.
        for dims in (
            combinations
            if len(args) < 4
            else map(tuple, choose.random.permutation(np.array(combinations, object))[:30])
        ):
            batched = [
                x if dim is None else np.stack([row[i] for row in rows], axis=dim)
                for i, (x, dim) in enumerate(zip(args, dims, strict=True))
            ]
            with strictly():
                out, out_dim = primitive.rule("batch")(batched, dims, **params)
            loop = [
                primitive.bind(*[x if dim is None else y for x, y, dim in zip(args, row, dims, strict=True)], **params)
                for row in rows
            ]
            assert_same(out, np.stack(loop, axis=out_dim))


@pytest.mark.parametrize("primitive", STRUCTURAL, ids=str)
def test_structural_batch_in_front_is_one_equation(primitive: Primitive, calls: Any, strictly: Any) -> None:
    for args, params, _ in calls(primitive, draws=30):
        batched = [np.stack([x, x]) if i in group(primitive, args) else x for i, x in enumerate(args)]
        if primitive is ops.pad_p:
            batched[1] = args[1]
        if primitive is ops.select_n_p and args[0].shape:
            batched[0] = np.stack([args[0], args[0]])
        dims = [0 if b.ndim > x.ndim else None for b, x in zip(batched, args, strict=True)]
        with strictly() as trace:
            primitive.rule("batch")(batched, dims, **params)
        assert trace.names == [primitive.name] or (primitive is ops.transpose_p and not trace.names)


def test_structural_missing_rules_give_the_reason() -> None:
    assert "no operands" in ops.iota_p.absent["transpose"]
    assert "no operands" in ops.iota_p.absent["batch"]
    assert "not linear" in ops.clamp_p.absent["transpose"]


@pytest.mark.parametrize("primitive", PRIMITIVES, ids=str)
def test_structural_lowering_equals_numpy(primitive: Primitive, calls: Any, compiled: Any, assert_same: Any) -> None:
    for args, params, _ in calls(primitive, draws=25):
        assert_same(compiled(primitive, args, params), primitive.bind(*args, **params))


def test_broadcast_in_dim_numpy_rule_is_read_only() -> None:
    """The NumPy backend's broadcast array is read-only."""
    params = {"shape": (3, 2), "broadcast_dimensions": (1,)}
    x = np.arange(2.0)
    out = ops.broadcast_in_dim_p.rule("numpy")([get_aval(x)], None, **params)(x)
    np.testing.assert_array_equal(out, [x] * 3)
    with pytest.raises(ValueError, match="read-only"):
        out[0, 0] = 5.0
